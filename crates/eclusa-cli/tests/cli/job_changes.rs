//! What a job writes to the workspace, applied by a person while it goes on: copied, never moved.

use std::fs;

use serde_json::{Value, json};

use crate::{
    hook::{before, claude, rewritten, shell},
    jobs::jobs,
    world::{Ran, World, until},
};

fn world() -> World {
    let world = World::with("mode = \"auto-approve\"\n");
    world.write("workspace/a.txt", "one\n");
    world
}

fn run(world: &World, input: Value) -> Ran {
    crate::jobs::shown(shell(world, &rewritten(&claude(world, &before(world, "Bash", input)))))
}

fn call(world: &World, command: &str) -> Ran {
    let ran = run(world, json!({"command": command}));
    assert_eq!(ran.code, 0, "{ran:?}");
    ran
}

fn start(world: &World, command: &str) {
    let ran = run(world, json!({"command": command, "run_in_background": true}));
    assert!(ran.out.contains("as job"), "{ran:?}");
}

fn says(world: &World, what: &str) {
    until(what, || world.eclusa(&["jobs", "output", "1"]).out.contains(what).then_some(()));
}

/// Writes two files for ever that are the same whenever it stands still between two rounds, and holds both open.
const HOLD: &str = r#"
import os, time
one, two = open('one.txt', 'w'), open('two.txt', 'w')
count = 0
while True:
    for file in (one, two):
        file.write(f'line {count}\n'); file.flush()
    count += 1
    if count == 10: print('ready', flush=True)
    time.sleep(0.005)
"#;

#[test]
fn what_a_running_job_wrote_is_copied_and_it_never_writes_the_workspace() {
    eclusa_testing::needs!(Namespaces);
    let world = world();
    world.write("workspace/hold.py", HOLD);
    start(&world, "python3 hold.py");
    says(&world, "ready");
    let shown = world.eclusa(&["jobs", "diff", "1"]);
    assert!(shown.code == 0 && shown.out.contains("+line 0"), "{shown:?}");
    assert!(!world.path("workspace/one.txt").exists(), "a look applies nothing");
    let applied = world.eclusa(&["jobs", "apply", "1"]);
    assert_eq!(applied.code, 0, "{applied:?}");
    let (one, two) = (world.read("workspace/one.txt"), world.read("workspace/two.txt"));
    assert!(one.starts_with("line 0\n") && one.ends_with('\n'), "{one}");
    assert!(one.lines().count().abs_diff(two.lines().count()) <= 1, "{one} {two}");
    // It writes on, through the descriptors that it had before.
    until("it writes on", || {
        (call(&world, "cat one.txt").out.len() > one.len() + 200).then_some(())
    });
    assert_eq!(
        (world.read("workspace/one.txt"), world.read("workspace/two.txt")),
        (one.clone(), two)
    );
    let again = world.eclusa(&["jobs", "apply", "1"]);
    assert_eq!(again.code, 0, "{again:?}");
    let more = world.read("workspace/one.txt");
    assert!(more.starts_with(&one) && more.len() > one.len(), "{more}");
    assert_eq!(jobs(&world)[0]["runs"], true);
    // An undo takes back what the person applied, and the job keeps its own.
    let undone = world.eclusa(&["undo"]);
    assert_eq!(undone.code, 0, "{undone:?}");
    assert_eq!(world.read("workspace/one.txt"), one);
    let ended = world.eclusa(&["jobs", "end", "1"]);
    assert!(ended.out.contains("`eclusa jobs apply 1`"), "{ended:?}");
    assert_eq!(world.eclusa(&["jobs", "apply", "1"]).code, 0);
    assert!(world.read("workspace/one.txt").len() >= more.len());
    let again = world.eclusa(&["jobs", "apply", "1"]);
    assert!(again.code != 0 && again.err.contains("is applied already, as call"), "{again:?}");
    assert_eq!(world.eclusa(&["jobs", "end", "--all"]).code, 0);
}

/// Tells what it reads whenever that is something else.
const READS: &str = r#"
import time
open('conf.txt', 'w').write('mine\n')
last = None
while True:
    now = open('conf.txt').read()
    if now != last: print('reads', now.strip(), flush=True)
    last = now
    time.sleep(0.01)
"#;

#[expect(clippy::disallowed_methods, reason = "the test plays the person")]
#[test]
fn what_was_applied_of_a_job_is_its_own_no_longer() {
    eclusa_testing::needs!(Namespaces);
    let world = world();
    world.write("workspace/reads.py", READS);
    start(&world, "python3 reads.py");
    says(&world, "reads mine");
    // As long as nobody has applied it, it stays the job's.
    let ran = world.eclusa(&["exec", "--", "echo other > conf.txt"]);
    let told = format!("{}{}", ran.out, ran.err);
    assert!(told.contains("still has its own `conf.txt`"), "{told}");
    let applied = world.eclusa(&["jobs", "apply", "1"]);
    assert_eq!(applied.code, 0, "{applied:?}");
    let told = format!("{}{}", applied.out, applied.err);
    assert!(!told.contains("still has its own"), "{told}");
    assert_eq!(world.read("workspace/conf.txt"), "mine\n");
    let nothing = world.eclusa(&["jobs", "apply", "1"]);
    assert!(nothing.out.contains("has written nothing that waits"), "{nothing:?}");
    // Later edits reach it again.
    let ran = world.eclusa(&["exec", "--", "echo later > conf.txt"]);
    let told = format!("{}{}", ran.out, ran.err);
    assert!(!told.contains("still has its own"), "{told}");
    says(&world, "reads later");
    // What a person edits since is not reverted by what the job had.
    fs::remove_file(world.path("workspace/conf.txt")).unwrap();
    world.write("workspace/conf.txt", "person\n");
    let ended = world.eclusa(&["jobs", "end", "--all"]);
    assert!(ended.code == 0 && !ended.out.contains("not applied"), "{ended:?}");
    assert_eq!(world.read("workspace/conf.txt"), "person\n");
}

#[test]
fn what_a_job_wrote_is_kept_beside_what_its_call_wrote() {
    eclusa_testing::needs!(Namespaces);
    let world = world();
    // The call writes one file, and what it leaves running another.
    let ran = call(
        &world,
        "echo call > by-call.txt; (sleep 0.3; echo job > by-job.txt; sleep 1000) & echo left",
    );
    assert!(ran.out.contains("as job 1"), "{ran:?}");
    assert_eq!(world.read("workspace/by-call.txt"), "call\n");
    let diff = until("it has written", || {
        let diff = world.eclusa(&["jobs", "diff", "1"]);
        diff.out.contains("by-job.txt").then_some(diff.out)
    });
    assert!(!diff.contains("by-call.txt"), "{diff}");
    let number = jobs(&world)[0]["call"].to_string();
    let shown = world.eclusa(&["changes", "show", &number]).out;
    assert!(shown.contains("by-call.txt") && !shown.contains("by-job.txt"), "{shown}");
    // A rule that denies holds for what a job wrote, too.
    world.write(
        "config/eclusa/eclusa.toml",
        "[[rules]]\ndecision = \"deny\"\npath = \"by-job.txt\"\n",
    );
    let refused = world.eclusa(&["jobs", "apply", "1"]);
    assert!(refused.code != 0 && !world.path("workspace/by-job.txt").exists(), "{refused:?}");
    world.write("config/eclusa/eclusa.toml", "mode = \"auto-approve\"\n");
    assert_eq!(world.eclusa(&["jobs", "end", "1"]).code, 0);
    assert_eq!(world.eclusa(&["--json", "jobs", "apply", "1"]).code, 0);
    assert_eq!(world.read("workspace/by-job.txt"), "job\n");
    let none = world.eclusa(&["jobs", "apply", "7"]);
    assert!(none.code != 0 && none.err.contains("there is no job 7"), "{none:?}");
    assert_eq!(world.eclusa(&["jobs", "end", "--all"]).code, 0);
}

/// Later commands of the session read what a job prints, reviewed as any output.
#[test]
fn later_commands_read_what_a_job_prints_and_no_link_leads_it_elsewhere() {
    eclusa_testing::needs!(Namespaces);
    let world = world();
    let token = format!("ghp_{}", "a1B2c3D4e5".repeat(4).get(..36).unwrap());
    let ran = run(
        &world,
        json!({"command": format!("echo begun; echo {token}; sleep 1000"), "run_in_background": true}),
    );
    assert!(ran.out.contains("`tail /tmp/eclusa-job-1.log`"), "{ran:?}");
    let seen = until("it is read", || {
        let ran = call(&world, "cat /tmp/eclusa-job-1.log");
        (ran.out.lines().count() > 1).then_some(ran.out)
    });
    assert!(seen.starts_with("begun\n") && !seen.contains(&token), "{seen}");
    // A link that waits at the name of the next job.
    let outside = world.write("outside.txt", "outside\n");
    call(&world, &format!("ln -s '{}' /tmp/eclusa-job-2.log", outside.display()));
    let ran = run(&world, json!({"command": "echo begun; sleep 1000", "run_in_background": true}));
    assert!(ran.out.contains("as job 2") && !ran.out.contains("eclusa-job-2.log"), "{ran:?}");
    until("it is kept", || {
        world.eclusa(&["jobs", "output", "2"]).out.contains("begun").then_some(())
    });
    assert_eq!(world.read("outside.txt"), "outside\n");
    assert_eq!(world.eclusa(&["jobs", "end", "--all"]).code, 0);
}
