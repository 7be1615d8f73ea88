//! Pending runs: a yes from another process applies what was shown, once, and nothing runs again.

use std::{fs, io::Write as _, os::unix::fs::PermissionsExt as _, process::Stdio};

use serde_json::Value;

use crate::world::{Ran, World, wait_until};

pub(crate) const QUEUE: &str = "on_no_approver = \"queue\"\n";

pub(crate) fn git(world: &World, args: &[&str]) -> String {
    #[expect(clippy::disallowed_methods, reason = "the test asks git")]
    let mut command = std::process::Command::new("git");
    let words = ["-c", "user.name=t", "-c", "user.email=t@example.org"];
    command.args(words).args(args).current_dir(world.path("workspace"));
    let ran = command.env("HOME", world.path("home")).output().unwrap();
    assert!(ran.status.success(), "git {args:?}: {ran:?}");
    String::from_utf8(ran.stdout).unwrap().trim().to_owned()
}

/// A repository with one commit and a change in its work tree.
pub(crate) fn repository() -> World {
    let world = World::with(QUEUE);
    git(&world, &["init", "-q", "-b", "main"]);
    git(&world, &["config", "user.name", "t"]);
    git(&world, &["config", "user.email", "t@example.org"]);
    world.write("workspace/a.txt", "one\n");
    git(&world, &["add", "."]);
    git(&world, &["commit", "-qm", "one"]);
    world.write("workspace/a.txt", "two\n");
    world
}

/// A command that ends because its changes wait; gives its reply.
pub(crate) fn park(world: &World, command: &str) -> Value {
    let ran = world.eclusa(&["--json", "run", "--park", "bash", &format!("command={command}")]);
    assert_eq!(ran.code, 4, "{ran:?}");
    ran.json()
}

pub(crate) fn yes(world: &World, approval: &Value) -> Ran {
    world.eclusa(&["approvals", "yes", &approval.to_string()])
}

/// Shows C1, A2: the hash that lands is the one that was shown.
#[test]
fn a_parked_commit_lands_once_with_the_hash_that_was_shown() {
    eclusa_testing::needs!(Namespaces);
    let world = repository();
    let parked = park(&world, "git commit -qam two && git rev-parse HEAD");
    let told = parked["error"].as_str().unwrap();
    assert!(told.starts_with("ran; its changes wait for approval 1; approving it"), "{told}");
    let shown = parked["output"].as_str().unwrap().trim().to_owned();
    assert_ne!(git(&world, &["rev-parse", "HEAD"]), shown);
    let said = yes(&world, &parked["approval"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.out.contains("applied as call"), "{said:?}");
    assert_eq!(git(&world, &["rev-parse", "HEAD"]), shown);
    git(&world, &["fsck", "--strict"]);
    assert_eq!(git(&world, &["status", "--porcelain"]), "");
    // Whoever says it again, or resumes it, is told what became of it; it lands once.
    let again = yes(&world, &parked["approval"]);
    assert!(again.out.contains("applied already, as call"), "{again:?}");
    let resumed = world.eclusa(&["resume", "1"]);
    assert!(resumed.code != 0 && resumed.err.contains("applied already"), "{resumed:?}");
    assert_eq!(git(&world, &["rev-list", "--count", "HEAD"]), "2");
    assert_eq!(world.eclusa(&["undo"]).code, 0);
    assert_eq!(git(&world, &["rev-list", "--count", "HEAD"]), "1");
}

#[test]
fn merges_stashes_tags_and_times_land_as_they_were_shown() {
    eclusa_testing::needs!(Namespaces);
    let world = repository();
    git(&world, &["commit", "-qam", "two"]);
    git(&world, &["checkout", "-qb", "side", "HEAD~1"]);
    world.write("workspace/b.txt", "b\n");
    git(&world, &["add", "."]);
    git(&world, &["commit", "-qm", "side"]);
    git(&world, &["checkout", "-q", "main"]);
    let land = |command: &str, look: &[&str]| {
        let parked = park(&world, command);
        let shown = parked["output"].as_str().unwrap().trim().to_owned();
        let said = yes(&world, &parked["approval"]);
        assert_eq!(said.code, 0, "{command}: {said:?}");
        assert_eq!(git(&world, look), shown, "{command}");
        git(&world, &["fsck", "--strict"]);
    };
    land("git merge -q --no-edit side && git rev-parse HEAD", &["rev-parse", "HEAD"]);
    land("git tag -a v1 -m v1 && git rev-parse v1", &["rev-parse", "v1"]);
    world.write("workspace/a.txt", "three\n");
    land("git stash -q && git rev-parse refs/stash", &["rev-parse", "refs/stash"]);
    let parked = park(&world, "date +%N > t; cat t");
    assert_eq!(yes(&world, &parked["approval"]).code, 0);
    assert_eq!(world.read("workspace/t"), parked["output"].as_str().unwrap());
}

/// Nothing runs again: neither by the yes, nor by a resume, nor by the same call made again.
#[test]
fn the_same_call_made_again_takes_what_it_did_before() {
    eclusa_testing::needs!(Namespaces);
    let world = World::with(QUEUE);
    let command = "date +%N > t; cat t";
    let parked = park(&world, command);
    // Nobody has answered, and nothing was applied since: it waits for the same answer.
    let again = park(&world, command);
    assert_eq!(again["approval"], parked["approval"], "{again}");
    assert_eq!(world.eclusa(&["resume", "1"]).code, 4);
    // The asker is there when the yes comes: it takes.
    let mut child = world.command(&["--json", "run", "bash", &format!("command={command}")]);
    let child = child.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    wait_until("somebody waits for it", || {
        world.eclusa(&["--json", "approvals", "show", "1"]).json()["asker_away"] == false
    });
    let said = yes(&world, &parked["approval"]);
    assert_eq!((said.code, said.out.as_str()), (0, "approval 1: yes\n"), "{said:?}");
    let output = child.wait_with_output().unwrap();
    let reply: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(reply["output"], parked["output"], "{reply}");
    assert_eq!(world.read("workspace/t"), parked["output"].as_str().unwrap());
}

#[test]
fn a_call_made_again_after_other_changes_runs_anew_and_replaces_its_question() {
    eclusa_testing::needs!(Namespaces);
    let world = World::with(QUEUE);
    let command = "cat a.txt > t; cat t";
    world.write("workspace/a.txt", "one\n");
    park(&world, command);
    let other =
        world.eclusa(&["--mode", "auto-approve", "run", "write", "path=a.txt", "content=two"]);
    assert_eq!(other.code, 0, "{other:?}");
    let again = park(&world, command);
    assert_eq!((&again["approval"], &again["output"]), (&2.into(), &"two".into()), "{again}");
    let first = world.eclusa(&["--json", "approvals", "show", "1"]).json();
    assert_eq!(first["status"], "withdrawn", "{first}");
    assert_eq!(yes(&world, &again["approval"]).code, 0);
    assert_eq!(world.read("workspace/t"), "two");
}

/// Refusals are told to whoever said yes, with the paths, and nothing is overwritten.
#[test]
fn a_workspace_that_moved_on_and_a_rule_that_denies_refuse_and_say_so() {
    eclusa_testing::needs!(Namespaces);
    let world = World::with(QUEUE);
    world.write("workspace/a.txt", "one\n");
    let parked = park(&world, "echo agent >> a.txt");
    world.write("workspace/a.txt", "mine\n");
    let said = yes(&world, &parked["approval"]);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.out.contains("nothing was applied") && said.out.contains("a.txt"), "{said:?}");
    assert_eq!(world.read("workspace/a.txt"), "mine\n");
    // It is kept: once the file is as it was, a person can have it after all.
    world.write("workspace/a.txt", "one\n");
    let call = parked["number"].to_string();
    let applied = world.eclusa(&["changes", "apply", &call]);
    assert_eq!(applied.code, 0, "{applied:?}");
    assert_eq!(world.read("workspace/a.txt"), "one\nagent\n");
    let parked = park(&world, "echo more >> a.txt");
    let rule = "[[rules]]\ndecision = \"deny\"\npath = \"a.txt\"\nreason = \"closed\"\n";
    world.write("workspace/eclusa.toml", rule);
    let said = yes(&world, &parked["approval"]);
    assert!(said.code == 1 && said.out.contains("closed"), "{said:?}");
    assert_eq!(world.read("workspace/a.txt"), "one\nagent\n");
}

/// What was changed in the state directory is not applied, and that is on record.
#[test]
fn a_pending_run_that_was_changed_is_refused_and_on_record() {
    eclusa_testing::needs!(Namespaces);
    for (file, text) in [("0", "forged\n"), ("run.json", "{}")] {
        let world = World::with(QUEUE);
        let parked = park(&world, "echo agent > a.txt");
        let place = world.store().with_file_name("undo").join("pending");
        let place = place.join(parked["number"].to_string());
        fs::File::create(place.join(file)).unwrap().write_all(text.as_bytes()).unwrap();
        let said = yes(&world, &parked["approval"]);
        assert!(said.code == 1 && said.out.contains("nothing was applied"), "{file}: {said:?}");
        assert!(!world.path("workspace/a.txt").exists());
        let last = world.records().pop().unwrap();
        assert_eq!((&last["event"], &last["code"]), (&"ended".into(), &"commit_failed".into()));
    }
}

/// Two answers at once: one applies it, the other is told.
#[test]
fn of_two_answers_at_once_one_applies_it() {
    eclusa_testing::needs!(Namespaces);
    for _ in 0..4 {
        let world = World::with(QUEUE);
        park(&world, "echo x >> a.txt");
        let start = |args: &[&str]| {
            let mut command = world.command(args);
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
            command.spawn().unwrap()
        };
        let (a, b) = (start(&["approvals", "yes", "1"]), start(&["approvals", "yes", "1"]));
        let ended = [a, b].map(|it| it.wait_with_output().unwrap());
        let applied = |it: &std::process::Output| {
            String::from_utf8_lossy(&it.stdout).contains("yes, applied as call")
        };
        assert_eq!(ended.iter().filter(|it| applied(it)).count(), 1, "{ended:?}");
        assert_eq!(world.read("workspace/a.txt"), "x\n");
    }
}

/// Where a pipe, a device or a link stands in the place of what is kept, nobody waits for it.
#[test]
fn what_is_no_file_in_a_pending_run_holds_nobody_up() {
    eclusa_testing::needs!(Namespaces);
    for name in ["0", "run.json", "head.json", "outcome.json", "taking", ""] {
        let world = World::with(QUEUE);
        park(&world, "echo x > a.txt");
        let kept = world.store().with_file_name("undo").join("pending/1");
        let place = kept.join(name);
        let _ = rustix::fs::rename(&place, world.path("aside"));
        let place = if name.is_empty() { kept } else { place };
        rustix::fs::mkfifoat(rustix::fs::CWD, &place, rustix::fs::Mode::RWXU).unwrap();
        assert_eq!(world.eclusa(&["approvals"]).code, 0);
        let said = yes(&world, &1.into());
        let harmless = ["outcome.json", "taking"].contains(&name);
        assert_eq!(said.code == 0, harmless, "{name}: {said:?}");
        assert_eq!(world.read("workspace/a.txt") == "x\n", harmless, "{name}");
    }
}

/// A file may have other names, outside the workspace too: what is done to it there is nobody's yes.
#[test]
fn a_file_with_other_names_stays_as_it_was_under_them() {
    eclusa_testing::needs!(Namespaces);
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    for command in ["chmod 755 a.txt", "echo two >> a.txt"] {
        let world = World::with(QUEUE);
        fs::create_dir_all(world.path("outside")).unwrap();
        let other = world.write("outside/b.txt", "one\n");
        fs::hard_link(&other, world.path("workspace/a.txt")).unwrap();
        let before = mode(&other);
        let parked = park(&world, command);
        let said = yes(&world, &parked["approval"]);
        assert!(said.code == 0 && said.out.contains("applied as call"), "{said:?}");
        assert_eq!((mode(&other), world.read("outside/b.txt").as_str()), (before, "one\n"));
        let own = world.path("workspace/a.txt");
        assert!(mode(&own) == 0o755 || world.read("workspace/a.txt") == "one\ntwo\n");
        assert_eq!(world.eclusa(&["undo"]).code, 0);
        assert_eq!((mode(&own), world.read("workspace/a.txt").as_str()), (before, "one\n"));
    }
}

/// Several are kept at the same moment: none is taken for what is left of one who died.
#[test]
fn runs_that_are_kept_at_the_same_moment_leave_each_other_alone() {
    eclusa_testing::needs!(Namespaces);
    let world = World::with(QUEUE);
    world.write("workspace/a.txt", "one\n");
    let start = |number: usize| {
        let command = format!("command=for n in $(seq 150); do echo $n >{number}-$n; done");
        let mut command = world.command(&["run", "--park", "bash", &command]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    let started: Vec<_> = (0..12).map(start).collect();
    let ended = started.into_iter().map(|it| it.wait_with_output().unwrap());
    let lost: Vec<_> = ended.filter(|it| it.status.code() != Some(4)).collect();
    assert!(lost.is_empty(), "{lost:?}");
}

/// A killed asker's question is answered all the same, and what it did is applied.
#[test]
fn what_a_killed_asker_did_is_applied_by_whoever_says_yes() {
    eclusa_testing::needs!(Namespaces);
    let world = repository();
    let command = "command=git commit -qam two";
    let mut child = world.command(&["run", "bash", command]);
    let mut child = child.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    wait_until("its question waits", || !world.eclusa(&["--json", "approvals"]).out.is_empty());
    child.kill().unwrap();
    child.wait().unwrap();
    let said = yes(&world, &1.into());
    assert!(said.code == 0 && said.out.contains("applied as call"), "{said:?}");
    assert_eq!(git(&world, &["rev-list", "--count", "HEAD"]), "2");
}

/// Where what it did cannot be kept, nobody is asked: a yes could not be kept to.
#[test]
fn what_cannot_be_kept_is_refused_before_anybody_is_asked() {
    eclusa_testing::needs!(Namespaces);
    let world = World::with(QUEUE);
    world.eclusa(&["run", "time"]);
    let undo = world.store().with_file_name("undo");
    fs::create_dir_all(&undo).unwrap();
    fs::File::create(undo.join("pending")).unwrap();
    let refused = world.eclusa(&["run", "--park", "bash", "command=echo x > a.txt"]);
    assert!(refused.code == 3 && refused.err.contains("cannot be kept"), "{refused:?}");
    assert_eq!(world.eclusa(&["approvals"]).out, "no pending approvals\n");
    assert!(!world.path("workspace/a.txt").exists());
}

/// A second run meets files of one that waits: whoever made it knows that it cannot land behind it.
#[test]
fn a_run_that_meets_a_pending_one_says_that_it_waits_behind_it() {
    eclusa_testing::needs!(Namespaces);
    let world = repository();
    park(&world, "git commit -qam two");
    let second = park(&world, "git commit -qam other");
    let told = second.to_string();
    assert!(told.contains("waits behind approval 1"), "{told}");
    assert!(!park(&world, "touch apart.txt").to_string().contains("behind"));
    yes(&world, &1.into());
    let refused = yes(&world, &second["approval"]);
    assert_eq!(refused.code, 1, "{refused:?}");
}

/// A yes that could not be applied is told to the model at its next call, once.
#[test]
fn a_refused_yes_is_told_at_the_next_call() {
    eclusa_testing::needs!(Namespaces);
    let world = repository();
    let parked = park(&world, "echo x >> a.txt");
    world.write("workspace/a.txt", "mine\n");
    assert_eq!(yes(&world, &parked["approval"]).code, 1);
    let next = || world.eclusa(&["--json", "run", "read", "path=a.txt"]).out;
    let told = next();
    assert!(told.contains("were approved but could not be applied"), "{told}");
    assert!(!next().contains("were approved but could not be applied"));
}

/// What is undone of git's own is told in git's words.
#[test]
fn an_undone_commit_is_told_as_a_branch_that_was_taken_back() {
    eclusa_testing::needs!(Namespaces);
    let world = repository();
    let before = git(&world, &["rev-parse", "--short", "HEAD"]);
    let parked = park(&world, "git commit -qam two");
    yes(&world, &parked["approval"]);
    let undone = world.eclusa(&["undo"]);
    assert_eq!(undone.code, 0, "{undone:?}");
    let told = "branch main taken back from";
    assert!(undone.out.contains(told) && undone.out.contains(&before), "{undone:?}");
}
