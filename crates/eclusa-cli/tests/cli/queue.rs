//! Questions that wait in the approval queue, answered from another process (C1: `queue`).

use std::{
    io::{BufRead as _, BufReader},
    process::{Child, Stdio},
};

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

/// Shows C1.
#[test]
fn a_parked_call_runs_once_somebody_says_yes() {
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
    assert_eq!(ended["changes"]["approval"]["by"], "tester");
    assert_eq!(ended["changes"]["approval"]["question"], 1);
    assert_eq!(world.eclusa(&["approvals", "no", &id]).code, 1);
    assert_eq!(world.eclusa(&["approvals"]).out, "no pending approvals\n");
}

/// Shows C1.
#[test]
fn a_parked_call_is_refused_with_the_reason_when_somebody_says_no() {
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

/// Whoever comes too late is told by which command the call is made again.
#[test]
fn an_answer_after_its_time_is_told_how_the_call_is_made_again() {
    let world = World::with("on_no_approver = \"queue\"\n[approvals]\nkeep = \"1s\"\n");
    let parked = world.eclusa(&["run", "--park", "note", r#"{"text": "it's late"}"#]);
    assert_eq!(parked.code, 4, "{parked:?}");
    let expired = || world.eclusa(&["approvals", "show", "1"]).out.contains("expired");
    wait_until("its time is over", expired);
    let again = "eclusa run --park note ARGS";
    for words in [&["approvals", "yes", "1"][..], &["resume", "1"]] {
        let late = world.eclusa(words);
        assert!(late.code == 1 && late.err.contains(again), "{late:?}");
    }
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

const NOTE: [&str; 4] = ["run", "--park", "note", r#"{"text": "hello"}"#];

/// A call that has not run when somebody is asked about it.
const ASKED_FIRST: &str = "[[rules]]\ndecision = \"ask\"\ntool = \"note\"\n";

#[test]
fn a_parked_call_ends_with_code_4_and_is_resumed_once() {
    let world = World::with(ASKED_FIRST);
    let ran = world.eclusa(&NOTE);
    assert_eq!(ran.code, 4, "{ran:?}");
    assert!(ran.err.contains("waiting:") && ran.err.contains("approval 1"), "{}", ran.err);
    assert_eq!(world.read("workspace/notes.txt"), "");
    // Nobody has answered: it still waits, under the same number.
    let ran = world.eclusa(&["--json", "resume", "1"]);
    assert_eq!((ran.code, &ran.json()["approval"]), (4, &1.into()));
    let shown = world.eclusa(&["approvals", "show", "1"]);
    assert!(shown.out.contains("the requester has left"), "{}", shown.out);
    assert_eq!(world.eclusa(&["approvals", "yes", "1"]).code, 0);
    let ran = world.eclusa(&["resume", "--all"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(world.read("workspace/notes.txt"), "hello\n");
    let ran = world.eclusa(&["resume", "1"]);
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("approval 1 was already used"), "{}", ran.err);
    assert_eq!(world.eclusa(&["resume", "--all"]).out, "nothing waits to be resumed\n");
    assert_eq!(world.read("workspace/notes.txt"), "hello\n");
}

#[test]
fn a_question_outlives_its_asker_and_is_found_by_whoever_asks_again() {
    let world = World::with(&format!("{QUEUE}{ASKED_FIRST}"));
    let (mut child, id) = waiting(&world);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(world.eclusa(&["approvals", "yes", &id]).code, 0);
    let ran = world.eclusa(&["--json", "run", "note", r#"{"text": "hello"}"#]);
    assert_eq!((ran.code, &ran.json()["success"]), (0, &true.into()));
    assert_eq!(world.read("workspace/notes.txt"), "hello\n");
}

#[test]
fn a_yes_can_be_taken_back_and_an_edit_runs_instead() {
    let world = World::with(ASKED_FIRST);
    world.eclusa(&NOTE);
    assert_eq!(world.eclusa(&["approvals", "revoke", "1"]).code, 1, "nobody said yes yet");
    world.eclusa(&["approvals", "yes", "1"]);
    assert_eq!(world.eclusa(&["approvals", "revoke", "1"]).out, "approval 1: revoked\n");
    assert_eq!(world.eclusa(&["resume", "1"]).code, 1);
    assert_eq!(world.eclusa(&NOTE).code, 4, "it is asked again");
    assert_eq!(world.eclusa(&["approvals", "abort", "2"]).code, 0);
    assert_eq!(world.eclusa(&["approvals", "show", "2"]).code, 0);
    assert_eq!(world.read("workspace/notes.txt"), "");
}

#[test]
fn approvals_of_all_workspaces_are_in_one_list() {
    let world = World::new();
    std::fs::create_dir(world.path("other")).unwrap();
    let other = world.path("other").display().to_string();
    let ran =
        world.eclusa(&["--workspace", &other, "run", "--park", "note", r#"{"text": "there"}"#]);
    assert_eq!(ran.code, 4, "{ran:?}");
    world.eclusa(&NOTE);
    let listed = world.eclusa(&["approvals"]);
    assert!(listed.out.contains("\n1 ") && listed.out.contains("\nother:1 "), "{}", listed.out);
    let ran = world.eclusa(&["approvals", "no", "other:1", "not there"]);
    assert_eq!(ran.out, "approval other:1: no\n", "{ran:?}");
    assert_eq!(world.eclusa(&["approvals", "yes", "nowhere:1"]).code, 1);
    assert_eq!(world.eclusa(&["approvals", "yes", "one"]).code, 2);
    let left = world.eclusa(&["--json", "approvals"]);
    assert_eq!((left.out.lines().count(), &left.json()["ref"]), (1, &"1".into()));
}

#[test]
fn identical_approvals_are_answered_together() {
    let world = World::with(QUEUE);
    let (first, _) = waiting(&world);
    let mut command = world.command(&["--json", "run", "note", r#"{"text": "hello"}"#]);
    let second =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("both wait", || world.eclusa(&["--json", "approvals"]).out.lines().count() == 2);
    let ran = world.eclusa(&["approvals", "no", "2", "neither", "--like"]);
    assert_eq!(ran.out, "approval 1: no\napproval 2: no\n");
    assert_eq!((ended(first).0, ended(second).0), (Some(3), Some(3)));
}

#[test]
fn whoever_watches_is_told_of_questions_also_in_a_workspace_that_is_new() {
    let world = World::new();
    let mut command = world.command(&["--json", "approvals", "watch"]);
    let mut watching = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    assert_eq!(world.eclusa(&NOTE).code, 4);
    let mut line = String::new();
    BufReader::new(watching.stdout.take().unwrap()).read_line(&mut line).unwrap();
    watching.kill().unwrap();
    watching.wait().unwrap();
    let told: Value = serde_json::from_str(&line).unwrap();
    assert_eq!((&told["tool"], &told["status"]), (&"note".into(), &"pending".into()));
}

#[test]
fn an_edit_runs_in_place_of_the_call_once_however_often_it_is_named() {
    let world = World::with(
        "[[rules]]\ndecision = \"allow\"\ntool = \"note\"\n\
         [[rules]]\ndecision = \"ask\"\ntool = \"note\"\narg = { \"/text\" = \"hello\" }\n",
    );
    assert_eq!(world.eclusa(&NOTE).code, 4);
    let ran = world.eclusa(&["approvals", "edit", "1", "text=bye"]);
    assert_eq!(ran.out, "approval 1: edited\n", "{ran:?}");
    let ran = world.eclusa(&["resume", "1", "1"]);
    assert_eq!((ran.code, world.read("workspace/notes.txt")), (0, "bye\n".to_owned()), "{ran:?}");
}

#[test]
fn an_answer_that_a_question_does_not_offer_is_refused_and_the_question_stays() {
    let world = World::new();
    assert_eq!(world.eclusa(&NOTE).code, 4);
    let ran = world.eclusa(&["approvals", "edit", "1", "text=bye"]);
    assert!(ran.code == 1 && ran.err.contains("not edited"), "it has run: {ran:?}");
    let listed = world.eclusa(&["approvals", "list", "-n", "0"]);
    assert!(listed.out.contains("approval 1,"), "{}", listed.out);
    let world = World::with("[[rules]]\ndecision = \"ask\"\ntool = \"note\"\nof = [\"tester\"]\n");
    assert_eq!(world.eclusa(&NOTE).code, 4);
    let ran = world.eclusa(&["approvals", "yes", "1", "--session"]);
    assert!(ran.code == 1 && ran.err.contains("this call alone"), "{ran:?}");
    assert_eq!(world.eclusa(&["--json", "approvals", "show", "1"]).json()["status"], "pending");
}
