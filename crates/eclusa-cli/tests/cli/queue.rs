//! Questions that wait in the approval queue, answered from another process (C1: `queue`).

use std::process::{Child, Stdio};

use serde_json::Value;

use crate::world::{World, wait_until};

const QUEUE: &str = "on_no_approver = \"queue\"\n";

/// A call that waits for an answer, and the number of its question.
fn waiting(world: &World) -> (Child, String) {
    let mut command = world.command(&["--json", "run", "note", r#"{"text": "hello"}"#]);
    let child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut id = String::new();
    wait_until("the question is in the approval queue", || {
        let ran = world.eclusa(&["--json", "approvals"]);
        let Some(line) = ran.out.lines().next() else { return false };
        let question: Value = serde_json::from_str(line).unwrap();
        id = question["id"].to_string();
        true
    });
    (child, id)
}

fn ended(child: Child) -> (Option<i32>, Value) {
    let output = child.wait_with_output().unwrap();
    (output.status.code(), serde_json::from_slice(&output.stdout).unwrap())
}

#[test]
fn c1_a_parked_call_runs_once_somebody_says_yes() {
    let world = World::with(QUEUE);
    let (child, id) = waiting(&world);
    let listed = world.eclusa(&["approvals", "list"]);
    assert!(listed.out.contains("tool: note") && listed.out.contains("hello"), "{}", listed.out);
    assert_eq!(world.read("workspace/notes.txt"), "");
    let ran = world.eclusa(&["approvals", "yes", &id]);
    assert_eq!((ran.code, ran.out), (0, format!("approval {id}: yes\n")));
    let (code, reply) = ended(child);
    assert_eq!((code, &reply["success"]), (Some(0), &true.into()));
    assert_eq!(world.read("workspace/notes.txt"), "hello\n");
    // A15: who answered is on record; A14: another answer comes too late.
    let records = world.records();
    let ended = records.iter().find(|it| it["event"] == "ended").unwrap();
    assert_eq!(ended["changes"]["approval"]["by"], "approval-queue");
    assert_eq!(world.eclusa(&["approvals", "no", &id]).code, 1);
    assert_eq!(world.eclusa(&["approvals"]).out, "no pending approvals\n");
}

#[test]
fn c1_a_parked_call_is_refused_with_the_reason_when_somebody_says_no() {
    let world = World::with(QUEUE);
    let (child, id) = waiting(&world);
    world.eclusa(&["approvals", "no", &id, "not today"]);
    let (code, reply) = ended(child);
    assert_eq!((code, &reply["code"]), (Some(3), &"changes_discarded".into()));
    assert!(reply["error"].as_str().unwrap().contains("not today"));
    assert_eq!(world.read("workspace/notes.txt"), "");
}

#[test]
fn a_question_that_nobody_answers_expires_and_is_a_no() {
    let world = World::with("on_no_approver = \"queue\"\n[limits]\napproval = \"1s\"\n");
    let ran = world.eclusa(&["--json", "run", "note", r#"{"text": "hello"}"#]);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert_eq!(world.read("workspace/notes.txt"), "");
}

#[test]
fn unknown_questions_are_an_error_with_a_hint() {
    let world = World::with(QUEUE);
    world.eclusa(&["run", "time"]);
    let ran = world.eclusa(&["approvals", "yes", "77"]);
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("hint: `eclusa approvals` lists"), "{}", ran.err);
}
