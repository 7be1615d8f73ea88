//! Tickets: whom they let in, and how often.

use eclusa::{Gate, GateSetup, MemoryLog, Registry, Rules, ToolCall};
use tokio::sync::oneshot;

use super::*;
use crate::{
    approver::Wishes,
    call::Calls,
    question::{Form, tests::question},
};

fn call() -> Call {
    let rules = Rules::new(Vec::new(), std::path::Path::new("/nowhere"));
    let setup = GateSetup::new(Arc::new(Registry::new()), rules, Arc::new(MemoryLog::default()));
    let calls = Arc::new(Calls::default());
    calls.begin(Gate::new(setup), ToolCall::new("1", "none", json!({})), Wishes::default())
}

fn asked() -> Asked {
    Asked::Approval { form: Form::of(&question()), answer: oneshot::channel().0 }
}

#[tokio::test]
async fn a_ticket_is_bound_to_principal_tool_and_arguments_and_opens_once() {
    let parking = Arc::new(Parking::new().unwrap());
    let text = |text: &str| json!({"text": text});
    let mine = Bound::to("alice", "tools/call", "note", &text("hello"));
    let ticket = parking.park(&mine, call(), asked()).unwrap();
    let others = [
        Bound::to("bob", "tools/call", "note", &text("hello")),
        Bound::to("alice", "tools/call", "note", &text("goodbye")),
        Bound::to("alice", "tools/call", "note", &json!({})),
        Bound::to("alice", "tools/call", "echo", &text("hello")),
        Bound::to("alice", "prompts/get", "note", &text("hello")),
    ];
    for other in &others {
        assert!(parking.take(other, &ticket).is_err());
    }
    // Another process has another key.
    assert!(Parking::new().unwrap().take(&mine, &ticket).is_err());
    assert!(parking.take(&mine, &ticket).is_ok());
    assert!(parking.take(&mine, &ticket).is_err());
}

#[tokio::test]
async fn a_call_that_waits_is_given_to_its_own_principal_once() {
    let parking = Arc::new(Parking::new().unwrap());
    let id = parking.keep(&"alice".into(), call()).unwrap();
    assert!(parking.kept("bob", &id).is_none());
    assert!(parking.kept("alice", "guess").is_none());
    assert!(parking.kept("alice", &id).is_some());
    assert!(parking.kept("alice", &id).is_none());
}
