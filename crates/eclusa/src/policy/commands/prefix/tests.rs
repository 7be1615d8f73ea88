//! Beginnings of commands, as rules write them.

use super::*;

fn concerns(rule: &str, text: &str) -> Fit {
    let read = eclusa_shell::analyse(text);
    let [command] = read.commands.as_slice() else { panic!("{text}: {:?}", read.commands) };
    Prefix::new(rule).unwrap().concerns(command, &command.profile)
}

fn covers(rule: &str, text: &str) -> Fit {
    let read = eclusa_shell::analyse(text);
    let [command] = read.commands.as_slice() else { panic!("{text}: {:?}", read.commands) };
    Prefix::new(rule).unwrap().covers(command)
}

#[test]
fn options_may_stand_before_a_subcommand() {
    for (rule, text) in [
        ("kubectl delete", "kubectl -n prod delete pod x"),
        ("kubectl delete", "kubectl --namespace=prod delete pod x"),
        ("docker push", "docker --context x push image"),
        ("terraform apply", "terraform -chdir=x apply"),
        ("npm publish", "npm -w web publish"),
        ("cargo publish", "cargo +nightly publish"),
        ("git push", "git -C x push origin"),
    ] {
        assert_eq!(concerns(rule, text), Fit::Yes, "{rule}: {text}");
    }
    for (rule, text) in [
        ("npm publish", "npm run publish"),
        ("kubectl delete", "kubectl get delete"),
        ("git push", "git log push"),
        ("docker push", "docker image ls push"),
    ] {
        assert_eq!(concerns(rule, text), Fit::No, "{rule}: {text}");
    }
}

#[test]
fn flags_count_in_any_order_and_bundle() {
    for text in ["rm -rf x", "rm -fr x", "rm -r -f x", "rm x -f -r", "rm -rvf x"] {
        assert_eq!(concerns("rm -rf", text), Fit::Yes, "{text}");
    }
    for text in ["rm -r x", "rm x", "rm --rf x"] {
        assert_eq!(concerns("rm -rf", text), Fit::No, "{text}");
    }
    assert_eq!(concerns("git push --force", "git push origin main --force"), Fit::Yes);
    assert_eq!(concerns("git push --force", "git push origin main"), Fit::No);
    assert_eq!(covers("rm -rf", "rm -fr x"), Fit::No, "what is allowed is allowed as written");
}

#[test]
fn a_star_stands_for_a_part_of_a_word() {
    assert_eq!(concerns("git push origin release/*", "git push origin release/a/b"), Fit::Yes);
    assert_eq!(covers("git switch feature/*", "git switch feature/x"), Fit::Yes);
    assert_eq!(covers("git switch feature/*", "git switch feature/x/y"), Fit::No);
    assert_eq!(covers("git switch feature/*", "git switch main"), Fit::No);
    assert_eq!(covers("cat *.md", "cat a.md"), Fit::Yes);
    assert_eq!(covers("cat *.md", "cat ../../x/a.md"), Fit::No);
}
