//! Git's own files are compared by what they mean: an editor's `git status` spoils no yes, and what a
//! person did meanwhile is not overwritten.

use std::{fs, path::Path, process::Stdio};

use serde_json::Value;

use crate::{
    pending::{git, park, repository, yes},
    world::{World, wait_until},
};

const COMMIT: &str = "git commit -qam two && git rev-parse HEAD";

fn shown(parked: &Value) -> String {
    parked["output"].as_str().unwrap().trim().to_owned()
}

/// Times that git has not seen yet: its next look writes the index anew.
pub(crate) fn touch(world: &World, name: &str) {
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

/// A commit is one on the branch that was current: somebody who has gone to another branch meanwhile gets none of it.
#[test]
fn a_yes_is_refused_where_another_branch_is_current_by_now() {
    eclusa_testing::needs!(Namespaces);
    let world = repository();
    let parked = park(&world, COMMIT);
    git(&world, &["switch", "-q", "-c", "other"]);
    let said = yes(&world, &parked["approval"]);
    assert!(said.code == 1 && said.out.contains(".git/HEAD"), "{said:?}");
    assert_eq!(git(&world, &["log", "--all", "--format=%s"]), "one");
    assert_eq!(git(&world, &["diff", "--cached", "--name-only"]), "");
    // Back there, it is what was shown.
    git(&world, &["switch", "-q", "main"]);
    let applied = world.eclusa(&["changes", "apply", &parked["number"].to_string()]);
    assert_eq!(applied.code, 0, "{applied:?}");
    assert_eq!(git(&world, &["rev-parse", "main"]), shown(&parked));
    // A tag does not rest on it, and neither does another branch.
    let world = repository();
    let parked = park(&world, "git tag -a v1 -m v1 && git rev-parse v1");
    git(&world, &["switch", "-q", "-c", "other"]);
    let said = yes(&world, &parked["approval"]);
    assert!(said.code == 0 && said.out.contains("applied as call"), "{said:?}");
    assert_eq!(git(&world, &["rev-parse", "v1"]), shown(&parked));
}

/// Git throws away what no ref names: a ref is never made to name what is gone.
#[test]
fn what_git_has_thrown_away_by_now_is_not_brought_back() {
    eclusa_testing::needs!(Namespaces);
    for gone in [false, true] {
        let world = repository();
        let parked = park(&world, COMMIT);
        yes(&world, &parked["approval"]);
        assert_eq!(world.eclusa(&["undo"]).code, 0);
        // It is packed first, and found there.
        git(&world, &["repack", "-q", "-a", "-d", "-k"]);
        if gone {
            git(&world, &["reflog", "expire", "--expire=now", "--all"]);
            git(&world, &["gc", "-q", "--prune=now"]);
        }
        let redone = world.eclusa(&["redo"]);
        assert_eq!(redone.code == 0, !gone, "{redone:?}");
        if gone {
            assert!(redone.err.contains(".git/objects/"), "{redone:?}");
        }
        git(&world, &["fsck", "--strict"]);
        assert_eq!(git(&world, &["rev-parse", "HEAD"]) == shown(&parked), !gone);
    }
}

/// What somebody wrote of an object who did not come to its end is replaced: git would find it broken.
#[test]
fn an_object_that_is_there_in_part_is_made_whole() {
    eclusa_testing::needs!(Namespaces);
    let world = repository();
    let parked = park(&world, COMMIT);
    let id = shown(&parked);
    let (first, name) = id.split_at(2);
    fs::create_dir_all(world.path(&format!("workspace/.git/objects/{first}"))).unwrap();
    world.write(&format!("workspace/.git/objects/{first}/{name}"), "");
    lands(&world, &parked);
}

/// Git deletes no branch that a working tree is on, and neither does a yes.
#[test]
fn a_branch_that_somebody_works_on_by_now_is_not_deleted() {
    eclusa_testing::needs!(Namespaces);
    let world = repository();
    git(&world, &["branch", "old"]);
    let parked = park(&world, "git branch -q -D old");
    let side = world.path("side");
    git(&world, &["worktree", "add", "-q", side.to_str().unwrap(), "old"]);
    let said = yes(&world, &parked["approval"]);
    assert!(said.code == 1 && said.out.contains(".git/worktrees/side/HEAD"), "{said:?}");
    git(&world, &["rev-parse", "old"]);
    // The main working tree is one, too.
    let world = repository();
    git(&world, &["branch", "old"]);
    let parked = park(&world, "git branch -q -D old");
    git(&world, &["switch", "-q", "old"]);
    let said = yes(&world, &parked["approval"]);
    assert!(said.code == 1 && said.out.contains(".git/HEAD"), "{said:?}");
    git(&world, &["rev-parse", "old"]);
    git(&world, &["switch", "-q", "main"]);
    let applied = world.eclusa(&["changes", "apply", &parked["number"].to_string()]);
    assert_eq!(applied.code, 0, "{applied:?}");
}

/// Whether a file of this name is anywhere below: a command's own side is.
fn is_below(directory: &Path, name: &str) -> bool {
    fs::read_dir(directory).into_iter().flatten().flatten().any(|it| {
        it.file_name() == name
            || it.file_type().is_ok_and(|kind| kind.is_dir()) && is_below(&it.path(), name)
    })
}

/// Where a person went to another branch while the command ran, nobody can tell which one it rests on.
#[test]
fn a_yes_is_refused_where_another_branch_became_current_while_the_command_ran() {
    eclusa_testing::needs!(Namespaces);
    let world = repository();
    world.write("workspace/flag", "wait\n");
    let command =
        "git commit -qam two && touch committed && until grep -q go flag; do sleep 0.1; done";
    let mut child = world.command(&["run", "--park", "bash", &format!("command={command}")]);
    let mut child = child.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    wait_until("it has made its commit", || is_below(&world.path(""), "committed"));
    git(&world, &["switch", "-q", "-c", "other"]);
    world.write("workspace/flag", "go\n");
    assert_eq!(child.wait().unwrap().code(), Some(4));
    let said = yes(&world, &1.into());
    assert!(said.code == 1 && said.out.contains(".git/HEAD"), "{said:?}");
    assert_eq!(git(&world, &["log", "--all", "--format=%s"]), "one");
    assert_eq!(git(&world, &["diff", "--cached", "--name-only"]), "");
}
