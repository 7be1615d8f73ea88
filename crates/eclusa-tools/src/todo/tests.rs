//! The list, written and read through the gate.

use std::sync::Arc;

use eclusa::{Gate, Registry, Rules};
use serde_json::json;

use super::Todo;
use crate::world::{gate, pass};

fn listing() -> Gate {
    let registry = Arc::new(Registry::new());
    registry.add(Todo::new()).unwrap();
    gate(registry, Rules::default())
}

#[tokio::test]
async fn what_was_written_is_there_until_the_next_list() {
    let gate = listing();
    assert_eq!(pass(&gate, "todo", json!({})).await.text(), "(the list is empty)\n");
    let todos = json!([
        {"content": "look", "status": "completed"},
        {"content": "write", "status": "in_progress"},
        {"content": "test"},
    ]);
    let text = "[x] look\n[>] write\n[ ] test\n(1 of 3 completed)\n";
    assert_eq!(pass(&gate, "todo", json!({"todos": todos})).await.text(), text);
    let reply = pass(&gate, "todo", json!({"todos": null})).await;
    assert_eq!(reply.text(), text);
    assert_eq!(reply.data().unwrap()["todos"][2], json!({"content": "test", "status": "pending"}));
    assert_eq!(pass(&gate, "todo", json!({"todos": []})).await.text(), "(the list is empty)\n");
}

#[tokio::test]
async fn two_in_progress_are_a_remark_and_not_an_error() {
    let item = json!({"content": "x", "status": "in_progress"});
    let reply = pass(&listing(), "todo", json!({"todos": [item, item]})).await;
    assert!(!reply.is_error());
    assert!(reply.text().ends_with("(2 are in progress; one at a time is easier to follow)\n"));
}

#[tokio::test]
async fn a_list_that_does_not_fit_is_refused_and_the_old_one_stays() {
    let gate = listing();
    pass(&gate, "todo", json!({"todos": [{"content": "keep me"}]})).await;
    for (todos, part) in [
        (json!([{"content": ""}]), "`/todos"),
        (json!([{"status": "pending"}]), "`/todos"),
        (json!([{"content": "a", "status": "done"}]), "`/todos"),
        (json!([{"content": "a", "priority": 1}]), "`/todos"),
        (json!("a"), "`/todos`"),
    ] {
        let reply = pass(&gate, "todo", json!({"todos": todos})).await;
        assert_eq!(reply.code(), "invalid_args", "{todos}: {}", reply.content());
        assert!(reply.content().contains(part), "{todos}: {}", reply.content());
    }
    assert!(pass(&gate, "todo", json!({})).await.text().starts_with("[ ] keep me\n"));
}
