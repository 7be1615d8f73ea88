//! A link is no way round a rule: the name that was reached is judged by the rules, as is the
//! name that was asked for (F1, F3, C5).

use std::os::unix::fs::symlink;

use eclusa::{Mode, ToolCall};
use serde_json::{Value, json};

use crate::world::{MAY_DELETE, Work, World};

const SECRET: &str = "the word is sesame\n";

/// A workspace with a private directory, and three links into it.
fn world() -> World {
    let world = World::new();
    world.write("private/secret.txt", SECRET);
    world.write("notes.txt", "plain\n");
    symlink("private/secret.txt", world.path("open.txt")).unwrap();
    symlink("private", world.path("open")).unwrap();
    symlink("open", world.path("further")).unwrap();
    world
}

fn rule(decision: &str, access: &str) -> String {
    format!(
        "{MAY_DELETE}[[rules]]\nid = 'p'\ndecision = '{decision}'\n{access}\
         path = 'private/**'\n"
    )
}

/// Calls that would show what is in the file, by every name of it but its own.
fn looks() -> Vec<(&'static str, Value)> {
    let mut calls = Vec::new();
    for path in ["open.txt", "open/secret.txt", "further/secret.txt", "./open/../open.txt"] {
        calls.push(("read", json!({"path": path})));
        calls.push(("read", json!({"path": path, "offset": 99})));
        calls.push(("edit", json!({"path": path, "old_string": "word", "new_string": "x"})));
        let miss = json!({"path": path, "old_string": "the word was", "new_string": "x"});
        calls.push(("edit", miss));
        let edits = json!([{"old_string": "the word was", "new_string": "x"}]);
        calls.push(("multi_edit", json!({"path": path, "edits": edits})));
        let patch = format!(
            "*** Begin Patch\n*** Update File: {path}\n@@\n-the word was\n+x\n*** End Patch\n"
        );
        calls.push(("apply_patch", json!({"patch": patch})));
    }
    calls.push(("list", json!({"path": "open"})));
    calls.push(("list", json!({"path": "further", "recursive": true})));
    calls
}

/// Calls that would change the file or the directory, by another name.
fn changes() -> Vec<(&'static str, Value)> {
    vec![
        ("write", json!({"path": "open.txt", "content": "x"})),
        ("write", json!({"path": "open/secret.txt", "content": "x", "append": true})),
        ("write", json!({"path": "further/new.txt", "content": "x"})),
        ("edit", json!({"path": "open.txt", "old_string": "word", "new_string": "x"})),
        ("delete", json!({"path": "open/secret.txt"})),
        ("make_dir", json!({"path": "further/made"})),
        ("move", json!({"from": "open/secret.txt", "to": "mine.txt"})),
        ("move", json!({"from": "notes.txt", "to": "open/notes.txt"})),
    ]
}

fn passes_nobody(world: &World, work: &Work, calls: Vec<(&str, Value)>, mode: Mode) {
    let before = world.tree();
    for (tool, args) in calls {
        let run = eclusa::Run { mode, ..eclusa::Run::default() };
        let call = ToolCall::new("c", tool, args.clone());
        let reply = work.gate.for_run(run).pass_blocking(call).unwrap();
        let said = reply.content();
        assert!(reply.is_error(), "{tool} {args}: {said}");
        for secret in ["sesame", "1 line", "secret.txt  "] {
            assert!(!said.contains(secret), "{tool} {args}: {said}");
        }
        assert_eq!(world.tree(), before, "{tool} {args}");
    }
}

/// Shows F3.
#[test]
fn every_tool_that_shows_a_file_is_judged_by_the_name_it_reaches() {
    for access in ["", "access = 'read'\n"] {
        let world = world();
        let work = world.work(&rule("deny", access));
        passes_nobody(&world, &work, looks(), Mode::Yolo);
        // What the rule does not speak of is read through a link as ever.
        symlink("notes.txt", world.path("link.txt")).unwrap();
        assert!(work.done("read", json!({"path": "link.txt"})).contains("plain"));
    }
}

/// Shows F3.
#[test]
fn what_a_person_must_be_asked_about_is_not_shown_under_another_name() {
    let world = world();
    let work = world.work(&rule("ask", ""));
    passes_nobody(&world, &work, looks(), Mode::ConfirmSensitive);
    let said = work.gate.for_run(eclusa::Run::default());
    let said = said.pass_blocking(ToolCall::new("c", "read", json!({"path": "open.txt"}))).unwrap();
    assert!(said.content().contains("`private/secret.txt`, which rules keep back"), "{said:?}");
    // Nobody is asked in this mode, and so nothing is kept back either.
    assert!(work.done("read", json!({"path": "open.txt"})).contains("sesame"));
}

/// Shows F3.
#[test]
fn every_tool_that_changes_a_file_is_judged_by_the_name_it_reaches() {
    for access in ["", "access = 'write'\n"] {
        let world = world();
        let work = world.work(&rule("deny", access));
        passes_nobody(&world, &work, changes(), Mode::Yolo);
    }
}
