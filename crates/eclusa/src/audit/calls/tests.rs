//! Tests of calls put together from their records.

use serde_json::{Value, json};

use super::*;
use crate::audit::Head;

/// Records with these bodies, in a chain.
pub(in crate::audit) fn records(bodies: &[Value]) -> Vec<Record> {
    let mut head = Head::default();
    bodies.iter().map(|it| Record::chain(it.to_string(), &mut head)).collect()
}

fn call(bodies: &[Value]) -> CallRecord {
    let mut calls = CallRecord::gather(records(bodies));
    assert_eq!(calls.len(), 1, "{calls:?}");
    calls.remove(0)
}

#[test]
fn a_call_is_its_first_record_and_over_it_its_end() {
    let call = call(&[
        json!({"event": "answered", "at": 1, "ms": 5}),
        json!({"event": "started", "number": 7, "at": 10, "tool": "bash", "reviews": [1],
               "args": {"command": "ls\n-l"}, "decision": "ask"}),
        json!({"event": "ended", "start": 2, "at": 20, "ms": 9, "code": "ok", "reviews": [2]}),
    ]);
    assert_eq!((call.number(), call.first_record(), call.records().len()), (7, 2, 2));
    assert_eq!((call.at(), call.took(), call.outcome()), (10, Some(9), "ok"));
    assert_eq!((call.subject().as_str(), call.decision()), ("ls⏎-l", Some(Decision::Ask)));
    assert!(call.was_started());
    let told = call.as_json();
    assert_eq!((&told["number"], &told["ended_at"]), (&json!(7), &json!(20)));
    assert_eq!((&told["reviews"], &told["event"]), (&json!([1, 2]), &json!("ended")));
}

#[test]
fn what_has_no_end_is_unfinished_and_an_end_without_its_start_is_no_call() {
    let open = call(&[json!({"event": "started", "tool": "x"})]);
    assert_eq!((open.outcome(), open.outcome_kind()), ("unfinished", OutcomeKind::Open));
    let left = call(&[json!({"event": "abandoned"})]);
    assert_eq!((left.outcome(), left.was_started()), ("abandoned", false));
    let end = json!({"event": "ended", "start": 9, "code": "ok"});
    assert!(CallRecord::gather(records(&[end, json!("no call")])).is_empty());
}

/// One definition, for the log, its numbers and the page.
#[test]
fn asked_is_what_no_earlier_answer_and_no_allowance_covered() {
    let with = |answer: &str| call(&[json!({"event": "ended", "approval": {"answer": answer}})]);
    for answer in ["once", "no", "no_approver", "approval_expired"] {
        assert!(with(answer).was_asked(), "{answer}");
    }
    for answer in ["remembered", "allowance"] {
        assert!(!with(answer).was_asked(), "{answer}");
    }
    let about_changes = json!({"event": "ended", "changes": {"approval": {"answer": "once"}}});
    assert!(call(&[about_changes]).was_asked());
    assert!(!call(&[json!({"event": "ended"})]).was_asked());
}

#[test]
fn only_arguments_that_are_whole_can_be_judged_again() {
    let args = json!({"path": "a"});
    let digest = digest(&args).to_string();
    let whole = json!({"event": "ended", "args": args, "args_sha256": digest});
    assert_eq!(call(std::slice::from_ref(&whole)).whole_args(), Ok(&args));
    for (key, value) in [("args_redacted", json!(1)), ("args_sha256", json!("other"))] {
        let mut lacking = whole.clone();
        lacking[key] = value;
        assert!(call(&[lacking]).whole_args().is_err(), "{key}");
    }
}
