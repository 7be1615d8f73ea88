//! Random scripts, run plainly on one copy of a tree and through the gate on another: committed it
//! is what the plain run made, discarded and undone it is what it was before.

use eclusa::{Answer, settings::RequiredEnforcement};
use proptest::{prelude::*, test_runner::TestRunner};

use crate::{
    scripts::{START, script},
    tree,
    world::{World, plainly},
};

/// A few, because each starts five shells; `ECLUSA_TEST_CASES` says how many more.
const FEW: u32 = 20;

fn hold() {
    let more = std::env::var("ECLUSA_TEST_CASES").ok().and_then(|it| it.parse().ok());
    let cases = more.unwrap_or(FEW);
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    TestRunner::new(config).run(&script(), |script| check(&script)).unwrap();
}

fn check(script: &str) -> Result<(), TestCaseError> {
    check_from(START, script)
}

fn check_from(start: &str, script: &str) -> Result<(), TestCaseError> {
    let world = |answer| World::lenient(answer, |it| it.least = RequiredEnforcement::Partial);
    let (plain, yes) = (world(Answer::Once), world(Answer::Once));
    let no = world(Answer::No("no".to_owned()));
    for world in [&plain, &yes, &no] {
        plainly(&world.root(), start);
    }
    let before = tree::read(&yes.root());
    plainly(&plain.root(), script);
    let after = tree::read(&plain.root());

    let reply = no.bash(script);
    prop_assert_eq!(tree::read(&no.root()), before.clone(), "discarded: {}", script);
    let expected = if before == after { "ok" } else { "changes_discarded" };
    prop_assert_eq!(reply.code(), expected, "{}: {}", script, reply.content());

    let reply = yes.bash(script);
    prop_assert_eq!(reply.code(), "ok", "{}: {}", script, reply.content());
    prop_assert_eq!(tree::read(&yes.root()), after.clone(), "committed: {}", script);
    if before != after {
        yes.undo(&reply);
        prop_assert_eq!(tree::read(&yes.root()), before, "undone: {}", script);
    }
    for world in [&plain, &yes, &no] {
        // Whoever is no superuser could not remove it.
        plainly(&world.root(), "chmod -R u+w .");
    }
    Ok(())
}

/// Directories that their owner may not write to, which a command opens and shuts again, makes so,
/// or removes: nothing but the superuser's right to write anywhere hides what goes wrong there.
#[test]
fn scripts_in_shut_directories_do_what_they_do_plainly_and_leave_nothing_else() {
    let shut = "; mkdir -p shut/inner/deep; echo a > shut/a; echo b > shut/inner/b; \
        echo c > shut/inner/deep/c; chmod 444 shut/a; chmod 555 shut/inner/deep shut/inner shut .";
    for script in [
        "chmod u+w shut; echo new > shut/new; rm -f shut/a; chmod u-w shut",
        "chmod u+w .; echo new > new; rm one; echo x >> two; chmod u-w .",
        "chmod -R u+w shut; chmod u+w .; rm -rf shut; chmod u-w .",
        "chmod u+w shut shut/inner; mv shut/inner/b shut/b; chmod 500 shut/inner; chmod 555 shut",
        "chmod u+w shut; mkdir -p shut/x/y; echo z > shut/x/y/z; chmod 555 shut/x/y shut/x shut",
        "chmod u+w shut; rm -f shut/a; echo other > shut/a; chmod 400 shut/a; chmod u-w shut",
        "chmod 600 shut/a; echo more >> shut/a; chmod 444 shut/a",
        "cd shut/inner/deep; chmod u+w .; ln -s c link; mv c d; chmod u-w .",
    ] {
        check_from(&format!("{START}{shut}"), script).unwrap();
    }
}

#[test]
fn a_few_scripts_do_what_they_do_plainly_and_leave_nothing_else() {
    eclusa_testing::needs!(Namespaces);
    hold();
}

/// The same at level `snapshot`: put back it is what it was, committed what the plain run made.
#[test]
fn a_few_scripts_do_the_same_on_the_real_files() {
    let started = std::thread::spawn(|| {
        eclusa_sandbox::test_support::namespaces().unwrap();
        hold();
    });
    started.join().unwrap();
}

/// What people run: the tree, the output and the end are the same plainly, over a layer, and on the real
/// files.
const COMMANDS: &[&str] = &[
    "ls; cat one; exit 3",
    "git init -q . && git add -A && git -c user.name=A -c user.email=a@b commit -qm first && git log --format=%s",
    "sed -i s/o/0/ one two; cat one two; grep -c 0 one",
    "mkdir -p a/b/c; cp -r a copy; find . -name c | sort; rmdir a/b/c",
    "tar cf all.tar one two; rm one two; tar xf all.tar; rm all.tar; ls -1",
    "for i in $(seq 50); do echo $i > n$i; done; ls n* | wc -l; rm n1*; ls n* | wc -l",
    "cat > script.sh <<END\necho from a script\nEND\nchmod 755 script.sh; ./script.sh",
    "mv one three; ln -s three one; cat one; false",
    "printf 'a\\nb\\n' | sort -r | tee sorted; test -s sorted && echo there",
    "cp -p one same; touch -r one same; cmp one same && echo equal; rm -rf d",
    "mkfifo p; (cat one > p &); cat p; rm p; ls -A | wc -l",
    "ln one other; echo more >> other; cat one; rm one; stat -c '%h %a' other",
    "echo gone > two; git init -q . && git add . && git stash list; git status --porcelain | sort; exit 7",
    "python3 -c 'import mmap; f = open(\"one\", \"r+b\"); m = mmap.mmap(f.fileno(), 0); m[0] = 65'; cat one",
    "chmod 000 two; mkdir -m 700 shut; touch shut/in; chmod 500 shut; stat -c %a two shut; chmod 600 two",
    "truncate -s 70000 one; dd if=/dev/zero of=two bs=1k seek=64 count=1 2> /dev/null; wc -c one two",
    "nosuchprogram 2> /dev/null; echo $?; test -e nothing",
    "t=$(mktemp); echo temporary > \"$t\"; cp \"$t\" kept; cat kept; rm \"$t\"; kill -9 $$",
    "printf 'a:\\n\\techo made > $@\\n' > Makefile; make -s a 2>&1; cat a",
    "rm -rf d; ln -s . d; echo through > d/d/d/new; ls -1; readlink d",
];

#[test]
fn what_people_run_is_the_same_plainly_over_a_layer_and_on_the_real_files() {
    eclusa_testing::needs!(Namespaces);
    let run = || {
        let one = |command: &&str| {
            let world = World::lenient(Answer::Once, |it| it.least = RequiredEnforcement::Partial);
            plainly(&world.root(), START);
            let reply = world.bash(&format!("umask 022; {command}"));
            let said = rootless(&world, &reply.content());
            (reply.code().to_owned(), said, without_git(tree::read(&world.root())))
        };
        COMMANDS.iter().map(one).collect::<Vec<_>>()
    };
    let plain = COMMANDS.iter().map(|command| {
        let world = World::lenient(Answer::Once, |_| {});
        plainly(&world.root(), START);
        let (how, output) = watched(&world.root(), &format!("umask 022; {command}"));
        (how, rootless(&world, &output), without_git(tree::read(&world.root())))
    });
    let (plain, layered) = (plain.collect::<Vec<_>>(), run());
    let in_place = std::thread::spawn(move || {
        eclusa_sandbox::test_support::namespaces().unwrap();
        run()
    });
    let in_place = in_place.join().unwrap();
    for (((command, plain), layered), in_place) in
        COMMANDS.iter().zip(plain).zip(layered).zip(in_place)
    {
        assert_eq!(layered, in_place, "{command}");
        let (how, output, tree) = plain;
        assert_eq!(in_place.2, tree, "{command}");
        assert!(in_place.1.contains(output.trim_end()), "{command}: {output} {}", in_place.1);
        let ended = how.is_empty() || in_place.1.contains(&how);
        assert!(ended && (how.is_empty() || in_place.0 == "tool_failed"), "{how}: {in_place:?}");
    }
}

/// How a script ends plainly, in the words of the tool, and what it says.
fn watched(root: &std::path::Path, script: &str) -> (String, String) {
    use std::os::unix::process::ExitStatusExt as _;
    let mut bash = std::process::Command::new("/bin/bash");
    bash.args(["--norc", "--noprofile", "-p", "-c", script]).current_dir(root);
    let ran = bash.stdin(std::process::Stdio::null()).output().unwrap();
    let how = match (ran.status.code(), ran.status.signal()) {
        (Some(0), _) => String::new(),
        (Some(code), _) => format!("exit code {code}"),
        (None, signal) => format!("ended by signal {}", signal.unwrap_or_default()),
    };
    (how, String::from_utf8_lossy(&ran.stdout).into_owned())
}

fn rootless(world: &World, text: &str) -> String {
    text.replace(&world.root().canonicalize().unwrap().display().to_string(), "ROOT")
}

/// What git keeps holds times.
fn without_git(mut tree: tree::Tree) -> tree::Tree {
    tree.retain(|path, _| !path.starts_with(".git"));
    tree
}
