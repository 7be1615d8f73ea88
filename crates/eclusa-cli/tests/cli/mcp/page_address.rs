//! Clients that open addresses are sent to the page of a question that waits; that answers nothing.

use serde_json::{Value, json};

use super::{
    approval::{input_required, note, retried},
    client::Client,
};
use crate::world::World;

const PAGE: &str = "on_no_approver = \"queue\"\n[approvals]\nurl = \"https://approvals.example\"\n";

fn opens() -> Value {
    json!({"elicitation": {"url": {}}})
}

/// The address that a client is to open.
fn address(params: &Value) -> &str {
    assert_eq!(params["mode"], "url", "{params}");
    let message = params["message"].as_str().unwrap();
    assert!(message.contains("`note` waits for approval"), "{message}");
    params["url"].as_str().unwrap()
}

#[test]
fn mcp_older_clients_open_the_page_of_the_question_and_answer_nothing_by_it() {
    let world = World::with(PAGE);
    let mut client = Client::legacy(&world, "2025-11-25", opens());
    for (number, action) in [("1", "accept"), ("2", "decline")] {
        let id = client.request("tools/call", note(number));
        let question = client.asked("elicitation/create");
        let url = address(&question["params"]);
        assert!(url.starts_with("https://approvals.example/inbox/workspace-"), "{url}");
        assert!(url.ends_with(&format!("/{number}")), "{url}");
        client.reply(&question, json!({ "action": action }));
        let waiting = world.eclusa(&["--json", "approvals"]);
        assert_eq!(waiting.json()["status"], "pending", "{action}: {waiting:?}");
        assert_eq!(world.eclusa(&["approvals", "yes", number]).code, 0);
        assert_eq!(client.answer(id)["result"]["isError"], false);
    }
    assert_eq!(world.read("workspace/notes.txt"), "1\n2\n");
}

#[test]
fn mcp_newer_clients_open_the_page_and_come_back() {
    let world = World::with(PAGE);
    let mut client = Client::modern(&world, opens());
    let asked = input_required(&mut client, &note("hello"));
    let url = address(&asked["inputRequests"]["page"]["params"]);
    assert!(url.ends_with("/1"), "{url}");
    assert_eq!(world.read("workspace/notes.txt"), "");
    assert_eq!(world.eclusa(&["approvals", "yes", "1"]).code, 0);
    let accepted = retried(&note("hello"), &asked, json!({"action": "accept"}));
    let answer = client.ask("tools/call", accepted);
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    assert_eq!(world.read("workspace/notes.txt"), "hello\n");
}
