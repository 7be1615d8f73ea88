//! Tickets: whom they let in, and how often.

use eclusa::{Gate, Registry, Rules, ToolCall};
use tokio::sync::oneshot;

use super::*;
use crate::{
    client::{
        ClientProfile,
        form::{Form, tests::question},
    },
    server::call::Calls,
};

fn call() -> Call {
    let rules = Rules::new(Vec::new(), std::path::Path::new("/nowhere"));
    let setup = Gate::builder().registry(Registry::new()).policy(rules);
    let calls = Arc::new(Calls::default());
    calls.begin(
        setup.build().unwrap(),
        ToolCall::new("1", "none", json!({})),
        ClientProfile::default(),
    )
}

fn asked() -> ClientQuestion {
    let (answer, tell) = (oneshot::channel().0, tokio::sync::mpsc::channel(1).0);
    ClientQuestion::Approval { form: Form::new(&question()), answer, tell }
}

#[tokio::test]
async fn a_ticket_is_bound_to_principal_tool_and_arguments_and_opens_once() {
    let pending = Arc::new(PendingCalls::new().unwrap());
    let text = |text: &str| json!({"text": text});
    let mine = TicketBinding::new("alice", "tools/call", "note", &text("hello"));
    let ticket = pending.suspend(&mine, call(), asked()).unwrap();
    let others = [
        TicketBinding::new("bob", "tools/call", "note", &text("hello")),
        TicketBinding::new("alice", "tools/call", "note", &text("goodbye")),
        TicketBinding::new("alice", "tools/call", "note", &json!({})),
        TicketBinding::new("alice", "tools/call", "echo", &text("hello")),
        TicketBinding::new("alice", "prompts/get", "note", &text("hello")),
    ];
    for other in &others {
        assert!(pending.resume(other, &ticket).is_err());
    }
    // Another process has another key.
    assert!(PendingCalls::new().unwrap().resume(&mine, &ticket).is_err());
    assert!(pending.resume(&mine, &ticket).is_ok());
    assert!(pending.resume(&mine, &ticket).is_err());
}

#[tokio::test]
async fn a_call_that_waits_is_given_to_its_own_principal_once() {
    let pending = Arc::new(PendingCalls::new().unwrap());
    let id = pending.keep_waiting(&"alice".into(), call(), None).unwrap();
    assert!(pending.take_waiting("bob", &id).is_err());
    assert!(pending.take_waiting("alice", "guess").is_err());
    let taken = pending.take_waiting("alice", &id).unwrap();
    assert!(pending.take_waiting("alice", &id).is_err());
    // It keeps its id for as long as it waits.
    let again = pending.keep_waiting(&"alice".into(), taken, Some(id.clone())).unwrap();
    assert_eq!(again, id);
    assert!(pending.take_waiting("alice", &id).is_ok());
    pending.answered(&id);
    let said = pending.take_waiting("alice", &id).err().unwrap();
    assert!(said.contains("answered already"), "{said}");
}
