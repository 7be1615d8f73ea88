//! An agent that its person has paused: its hooks refuse every call, until the time is over.

use std::process::Stdio;

use serde_json::json;

use crate::{
    hook::{before, claude, decision},
    prompt::Person,
    world::World,
};

fn pause(world: &World, args: &[&str]) -> (i32, String) {
    let words: Vec<&str> = [&["pause"], args].concat();
    let mut person = Person::starts(world.command(&words));
    person.sees("? [y/n]");
    person.types("y");
    person.ends()
}

#[test]
fn every_call_is_refused_with_the_reason_until_the_person_ends_it() {
    let world = World::new();
    let look = before(&world, "Read", json!({"file_path": world.path("workspace/a.txt")}));
    let ours = before(&world, "mcp__eclusa__read", json!({"path": "a.txt"}));
    world.write("workspace/a.txt", "one\n");
    assert_eq!(decision(&claude(&world, &look)).0, "allow");
    let (code, seen) = pause(&world, &["claude-code", "--for", "10m"]);
    assert!(code == 0 && seen.contains("claude-code is paused until"), "{seen}");
    for event in [&look, &ours, &before(&world, "Bash", json!({"command": "ls"}))] {
        let (word, why) = decision(&claude(&world, event));
        assert_eq!(word, "deny", "{why}");
        assert!(why.contains("tester has paused claude-code until"), "{why}");
    }
    assert!(world.eclusa(&["status"]).out.contains("claude-code: tester has paused"));
    // The other agents go on.
    assert!(!world.eclusa(&["status"]).out.contains("codex: tester"));
    let call = world.records().into_iter().find(|it| it["tool"] == "pause").unwrap();
    assert_eq!(
        (&call["args"]["agent"], &call["origin"]),
        (&"claude-code".into(), &"person".into())
    );
    let (code, seen) = pause(&world, &["claude-code", "--end"]);
    assert!(code == 0 && seen.contains("claude-code goes on"), "{seen}");
    assert_eq!(decision(&claude(&world, &look)).0, "allow");
    assert!(!world.eclusa(&["status"]).out.contains("paused"));
}

#[test]
fn a_watched_agent_is_held_while_it_is_paused() {
    let world = World::new();
    let mut person = Person::runs(&world, &["install", "claude-code", "--observe"]);
    person.sees("stop nothing?");
    person.types("y");
    assert_eq!(person.ends().0, 0);
    let bash = before(&world, "Bash", json!({"command": "touch x"}));
    assert_eq!(claude(&world, &bash).out, "", "the hook has no opinion");
    assert_eq!(pause(&world, &["claude-code", "--for", "10m"]).0, 0);
    let (word, why) = decision(&claude(&world, &bash));
    assert!(word == "deny" && why.contains("has paused claude-code"), "{why}");
    let status = world.eclusa(&["status", "claude-code"]).out;
    assert!(status.contains("the rules are enforced: it is paused"), "{status}");
    assert_eq!(pause(&world, &["claude-code", "--end"]).0, 0);
    assert_eq!(claude(&world, &bash).out, "");
}

#[test]
fn nobody_pauses_or_goes_on_without_a_terminal_and_a_yes() {
    let world = World::new();
    let ran = world.eclusa(&["pause", "claude-code", "--for", "10m"]);
    assert!(ran.code != 0 && ran.err.contains("only a person at a terminal"), "{ran:?}");
    let mut person = Person::starts(world.command(&["pause", "claude-code", "--for", "10m"]));
    person.sees("? [y/n]");
    person.types("n");
    assert_ne!(person.ends().0, 0);
    assert!(!world.eclusa(&["status"]).out.contains("paused"));
    for (args, told) in [
        (&["pause", "claude-code"][..], "--for"),
        (&["pause", "claude-code", "--for", "0s"], "1 s to 7 days"),
        (&["pause", "clod-code", "--for", "1m"], "claude-code"),
    ] {
        let ran = world.eclusa(args);
        assert!(ran.code == 2 && ran.err.contains(told), "{ran:?}");
    }
}

#[test]
fn a_pause_that_is_over_or_cannot_be_read() {
    let world = World::new();
    world.write("workspace/a.txt", "one\n");
    let look = before(&world, "Read", json!({"file_path": world.path("workspace/a.txt")}));
    pause(&world, &["claude-code", "--for", "10m"]);
    let found = find(&world.path("."), "claude-code.json").unwrap();
    world.write(found.to_str().unwrap(), r#"{"until": 1, "by": "tester"}"#);
    assert_eq!(decision(&claude(&world, &look)).0, "allow");
    world.write(found.to_str().unwrap(), "{");
    let (word, why) = decision(&claude(&world, &look));
    assert!(word == "deny" && why.contains("cannot be read"), "{why}");
}

fn find(below: &std::path::Path, name: &str) -> Option<std::path::PathBuf> {
    let entries = std::fs::read_dir(below).ok()?.flatten();
    entries.map(|it| it.path()).find_map(|it| match it.is_dir() {
        true => find(&it, name),
        false => (it.file_name()? == name && it.parent()?.ends_with("paused")).then_some(it),
    })
}

/// A job of before the machine was started is told of by `eclusa` alone.
#[test]
fn eclusa_alone_says_which_jobs_ended_with_the_machine() {
    let world = World::new();
    world.eclusa(&["--mode", "yolo", "run", "note", "text=x"]);
    let undo =
        find_directory(&world.path("."), "undo").unwrap_or_else(|| world.store_of_workspace());
    let place = undo.join("jobs/1");
    std::fs::create_dir_all(&place).unwrap();
    let record = json!({
        "job": 1, "session": "cli", "command": "npm run dev", "call": 1, "since": 1_000_000,
        "owner": 4_000_000, "pid": 4_000_000, "start": 1, "layer": null, "ended": null, "changes": null,
    });
    world.write(place.join("job.json").to_str().unwrap(), &record.to_string());
    let mut command = world.command(&[]);
    command.stdin(Stdio::null());
    let ran = crate::world::run(command, "");
    assert!(ran.out.contains("job 1 ended: the machine was started again: npm run dev"), "{ran:?}");
    assert!(world.eclusa(&["jobs"]).out.contains("the machine was started again"));
}

fn find_directory(below: &std::path::Path, name: &str) -> Option<std::path::PathBuf> {
    let entries = std::fs::read_dir(below).ok()?.flatten();
    entries.map(|it| it.path()).filter(|it| it.is_dir()).find_map(|it| {
        match it.file_name()? == name {
            true => Some(it),
            false => find_directory(&it, name),
        }
    })
}
