//! Git's own files are compared by what they mean: an editor's `git status` spoils no yes, and what a
//! person did meanwhile is not overwritten.

use std::fs;

use serde_json::Value;

use crate::{
    pending::{git, park, repository, yes},
    world::World,
};

const COMMIT: &str = "git commit -qam two && git rev-parse HEAD";

fn shown(parked: &Value) -> String {
    parked["output"].as_str().unwrap().trim().to_owned()
}

/// Times that git has not seen yet: its next look writes the index anew.
fn touch(world: &World, name: &str) {
    let text = world.read(&format!("workspace/{name}"));
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(3_600);
    let path = world.write(&format!("workspace/{name}"), &text);
    fs::File::options().write(true).open(path).unwrap().set_modified(old).unwrap();
}

fn lands(world: &World, parked: &Value) {
    let said = yes(world, &parked["approval"]);
    assert!(said.code == 0 && said.out.contains("applied as call"), "{said:?}");
    assert_eq!(git(world, &["rev-parse", "HEAD"]), shown(parked));
    git(world, &["fsck", "--strict"]);
    assert_eq!(git(world, &["status", "--porcelain"]), "");
    assert!(!world.path("workspace/.git/index.lock").exists());
}

#[test]
fn git_status_by_an_editor_spoils_no_yes_and_no_undo() {
    eclusa_testing::needs!(Namespaces);
    let world = repository();
    world.write("workspace/b.txt", "b\n");
    git(&world, &["add", "b.txt"]);
    git(&world, &["commit", "-qm", "b"]);
    let parked = park(&world, COMMIT);
    let before = fs::read(world.path("workspace/.git/index")).unwrap();
    touch(&world, "b.txt");
    git(&world, &["status"]);
    assert_ne!(fs::read(world.path("workspace/.git/index")).unwrap(), before, "it was refreshed");
    lands(&world, &parked);
    touch(&world, "b.txt");
    git(&world, &["status"]);
    let dry = world.eclusa(&["--dry-run", "undo"]);
    assert_eq!(dry.code, 0, "{dry:?}");
    let undone = world.eclusa(&["undo"]);
    assert_eq!(undone.code, 0, "{undone:?}");
    assert_eq!(git(&world, &["log", "--format=%s", "-1"]), "b");
    assert_eq!(git(&world, &["status", "--porcelain"]), "M a.txt");
    let redone = world.eclusa(&["redo"]);
    assert_eq!(redone.code, 0, "{redone:?}");
    assert_eq!(git(&world, &["rev-parse", "HEAD"]), shown(&parked));
}

#[test]
fn gc_and_packed_refs_before_meanwhile_and_in_the_run_do_no_harm() {
    eclusa_testing::needs!(Namespaces);
    for (before, meanwhile) in [(true, false), (false, true), (true, true)] {
        let world = repository();
        if before {
            git(&world, &["gc", "-q"]);
        }
        let parked = park(&world, COMMIT);
        if meanwhile {
            git(&world, &["gc", "-q"]);
        }
        lands(&world, &parked);
    }
    let world = repository();
    let parked = park(&world, "git commit -qam two && git pack-refs --all && git rev-parse HEAD");
    lands(&world, &parked);
    // A branch that is packed goes when the run deletes it.
    git(&world, &["branch", "old"]);
    git(&world, &["pack-refs", "--all"]);
    let parked = park(&world, "git branch -q -D old");
    assert_eq!(yes(&world, &parked["approval"]).code, 0);
    assert_eq!(git(&world, &["branch", "--format=%(refname:short)"]), "main");
}

#[test]
fn refs_that_others_moved_do_not_matter_and_those_of_the_run_refuse() {
    eclusa_testing::needs!(Namespaces);
    let world = repository();
    let parked = park(&world, "git commit -qam two && git tag -a v1 -m v1 && git rev-parse HEAD");
    let head = git(&world, &["rev-parse", "HEAD"]);
    git(&world, &["update-ref", "refs/remotes/origin/main", &head]);
    lands(&world, &parked);
    assert_eq!(git(&world, &["rev-parse", "v1^{commit}"]), shown(&parked));
    assert_eq!(git(&world, &["rev-parse", "origin/main"]), head);

    // The person's own `git add`, and their own commit, meanwhile.
    for own in [&["add", "mine.txt"][..], &["commit", "-q", "--allow-empty", "-m", "mine"][..]] {
        let world = repository();
        let parked = park(&world, COMMIT);
        world.write("workspace/mine.txt", "mine\n");
        git(&world, own);
        let head = git(&world, &["rev-parse", "HEAD"]);
        let said = yes(&world, &parked["approval"]);
        assert!(said.code == 1 && said.out.contains(".git/"), "{own:?}: {said:?}");
        assert_eq!(git(&world, &["rev-parse", "HEAD"]), head, "{own:?}");
        git(&world, &["fsck", "--strict"]);
    }
}

#[test]
fn another_git_at_work_is_waited_for_and_then_told() {
    eclusa_testing::needs!(Namespaces);
    let world = repository();
    let parked = park(&world, COMMIT);
    world.write("workspace/.git/index.lock", "");
    let said = yes(&world, &parked["approval"]);
    assert!(said.code == 1 && said.out.contains("another git is at work"), "{said:?}");
    assert!(world.path("workspace/.git/index.lock").exists(), "it is another's");
    let gone = world.path("gone");
    rustix::fs::rename(world.path("workspace/.git/index.lock"), gone).unwrap();
    let call = parked["number"].to_string();
    let applied = world.eclusa(&["changes", "apply", &call]);
    assert_eq!(applied.code, 0, "{applied:?}");
    assert_eq!(git(&world, &["rev-parse", "HEAD"]), shown(&parked));
}
