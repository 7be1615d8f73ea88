//! What a job writes and rules let pass unasked: applied at the end of a call, as a copy made while it stands still.

use std::fs;

use crate::{
    jobs::{call, jobs, start},
    world::{World, until},
};

/// Writes two files in a directory for builds that are the same whenever it stands still between two rounds, holds
/// both open, and tells how far it is. What it writes beside them is an edit.
const HOLD: &str = r#"
import os, time
os.makedirs('dist', exist_ok=True)
open('notes.txt', 'w').write('by the job\n')
one, two = open('dist/one.txt', 'w'), open('dist/two.txt', 'w')
count = 0
while True:
    for file in (one, two):
        file.write(f'line {count}\n'); file.flush()
    count += 1
    if count % 10 == 0: print('round', count, flush=True)
    time.sleep(0.005)
"#;

fn world(config: &str) -> World {
    let world = World::with(&format!("mode = \"auto-approve\"\n{config}"));
    world.write("workspace/a.txt", "one\n");
    world
}

fn rounds(world: &World) -> usize {
    world.eclusa(&["jobs", "output", "1"]).out.lines().filter(|it| it.starts_with("round")).count()
}

/// Until the job has gone on for a while by itself.
fn goes_on(world: &World) {
    let before = rounds(world);
    until("it goes on", || (rounds(world) > before + 3).then_some(()));
}

fn applied(world: &World, path: &str) -> String {
    until(&format!("{path} is applied"), || {
        let ran = call(world, "true");
        assert_eq!(ran.code, 0, "{ran:?}");
        fs::read_to_string(world.path("workspace").join(path)).ok()
    })
}

#[test]
fn what_can_be_made_again_is_applied_at_the_end_of_a_call_as_a_copy() {
    eclusa_testing::needs!(Namespaces);
    let world = world("");
    world.write("workspace/hold.py", HOLD);
    let ran = start(&world, "python3 hold.py");
    assert!(ran.out.contains("as job 1"), "{ran:?}");
    goes_on(&world);
    let one = applied(&world, "dist/one.txt");
    let two = world.read("workspace/dist/two.txt");
    assert!(one.starts_with("line 0\n") && one.ends_with('\n'), "{one}");
    assert!(one.lines().count().abs_diff(two.lines().count()) <= 1, "{one} {two}");
    // An edit is not let pass, whatever the mode says of a call's own.
    assert!(!world.path("workspace/notes.txt").exists());
    // The job writes on, and what lies in the workspace is not its file.
    let one = world.read("workspace/dist/one.txt");
    goes_on(&world);
    assert_eq!(world.read("workspace/dist/one.txt"), one);
    // Nor is it the change that a bare undo means.
    assert_eq!(call(&world, "echo edit > edit.txt").code, 0);
    until("it grows with a call", || {
        call(&world, "cat a.txt");
        (world.read("workspace/dist/one.txt").len() > one.len()).then_some(())
    });
    let undone = world.eclusa(&["undo"]);
    assert_eq!(undone.code, 0, "{undone:?}");
    assert!(!world.path("workspace/edit.txt").exists() && world.path("workspace/dist").exists());
    // What the call writes itself comes before what the job has there.
    let ran = call(&world, "echo mine > dist/one.txt");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(jobs(&world)[0]["runs"], true);
    let diff = world.eclusa(&["jobs", "diff", "1"]).out;
    assert!(diff.contains("+by the job"), "{diff}");
    let log = world.eclusa(&["log"]).out;
    assert!(log.contains("hold.py"), "{log}");
    // Nobody was asked about any of it, and nobody has said yes.
    let records = world.eclusa(&["log", "export"]).out;
    assert!(records.contains("\"answer\":\"unasked\""), "{records}");
    let stats: serde_json::Value =
        serde_json::from_str(&world.eclusa(&["--json", "log", "stats"]).out).unwrap();
    assert_eq!(stats["asked"], 0, "{stats}");
    assert_eq!(world.eclusa(&["jobs", "end", "--all"]).code, 0);
}

#[test]
fn a_rule_about_the_path_lets_it_pass_and_one_that_asks_keeps_it() {
    eclusa_testing::needs!(Namespaces);
    let world = world(
        "[[rules]]\ndecision = \"allow\"\npath = \"*.log\"\n\
         [[rules]]\ndecision = \"ask\"\npath = \"asked.log\"\n",
    );
    let script = "import time\nfor it in ('server.log', 'asked.log', 'other.txt'): open(it, 'w').write('x')\n\
                  print('round', flush=True)\ntime.sleep(1000)\n";
    world.write("workspace/logs.py", script);
    start(&world, "python3 logs.py");
    until("it has written", || (rounds(&world) > 0).then_some(()));
    assert_eq!(applied(&world, "server.log"), "x");
    assert!(!world.path("workspace/asked.log").exists());
    assert!(!world.path("workspace/other.txt").exists());
    // What was applied is the job's own no longer; the rest is kept.
    let ended = world.eclusa(&["jobs", "end", "--all"]);
    assert!(ended.out.contains("2 paths of the workspace are not applied"), "{ended:?}");
    let diff = world.eclusa(&["jobs", "diff", "1"]).out;
    assert!(diff.contains("asked.log") && !diff.contains("server.log"), "{diff}");
}

#[test]
fn what_cannot_be_copied_soon_waits_and_holds_nobody_up() {
    eclusa_testing::needs!(Namespaces);
    let world = world("");
    let script = "import time\nfrom os import makedirs, truncate\nmakedirs('dist')\n\
                  open('dist/big', 'w'); truncate('dist/big', 4 << 30)\ncount = 0\n\
                  while True: print('round', flush=True); time.sleep(0.05)\n";
    world.write("workspace/big.py", script);
    start(&world, "python3 big.py");
    goes_on(&world);
    assert_eq!(call(&world, "true").code, 0);
    assert!(!world.path("workspace/dist").exists());
    goes_on(&world);
    assert_eq!(world.eclusa(&["jobs", "end", "--all"]).code, 0);
}
