//! Tickets: whom they let in, and how often.

use eclusa::{Gate, House, MemoryLog, Registry, Rules, ToolCall};
use tokio::sync::oneshot;

use super::*;
use crate::{
    call::Calls,
    question::{Form, tests::question},
};

fn call() -> Call {
    let rules = Rules::new(Vec::new(), std::path::Path::new("/nowhere"));
    let house = House::new(Arc::new(Registry::new()), rules, Arc::new(MemoryLog::default()));
    let calls = Arc::new(Calls::default());
    calls.begin(Gate::new(house), ToolCall::new("1", "none", json!({})), true)
}

fn asked() -> Asked {
    Asked { form: Form::of(&question()), answer: oneshot::channel().0 }
}

fn request_of(tool: &'static str, text: &str) -> CallToolRequestParams {
    let args = json!({"text": text}).as_object().cloned().unwrap();
    CallToolRequestParams::new(tool).with_arguments(args)
}

fn request(text: &str) -> CallToolRequestParams {
    request_of("note", text)
}

#[tokio::test]
async fn a_ticket_is_bound_to_principal_tool_and_arguments_and_opens_once() {
    let parking = Arc::new(Parking::new().unwrap());
    let mine = Bound::to("alice", &request("hello"));
    let ticket = parking.park(&mine, call(), asked()).unwrap();
    let others = [
        Bound::to("bob", &request("hello")),
        Bound::to("alice", &request("goodbye")),
        Bound::to("alice", &CallToolRequestParams::new("note")),
        Bound::to("alice", &request_of("echo", "hello")),
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
