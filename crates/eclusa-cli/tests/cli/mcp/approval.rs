//! Asking a person through the client, in both eras (S1.36, C1).

use serde_json::{Value, json};

use super::client::{Client, asks, text};
use crate::world::{World, wait_until};

fn yes() -> Value {
    json!({"action": "accept", "content": {"answer": "yes"}})
}

pub(super) fn note(text: &str) -> Value {
    json!({"name": "note", "arguments": {"text": text}})
}

/// The answer that has the client ask.
pub(super) fn input_required(client: &mut Client, call: &Value) -> Value {
    let answer = client.ask("tools/call", call.clone());
    assert_eq!(answer["result"]["resultType"], "input_required", "{answer}");
    answer["result"].clone()
}

/// The same request again, with an answer to the question.
pub(super) fn retried(call: &Value, asked: &Value, said: Value) -> Value {
    let mut call = call.clone();
    call["requestState"] = asked["requestState"].clone();
    let name = asked["inputRequests"].as_object().unwrap().keys().next().unwrap();
    call["inputResponses"] = json!({ name: said });
    call
}

#[test]
fn mcp_older_clients_are_asked_with_a_request() {
    for version in ["2025-06-18", "2025-11-25"] {
        let world = World::new();
        let mut client = Client::legacy(&world, version, asks());
        let id = client.request("tools/call", note("hello"));
        let question = client.asked("elicitation/create");
        let params = &question["params"];
        // What the person reads is what a terminal would show.
        let message = params["message"].as_str().unwrap();
        assert!(message.contains("tool: note") && message.contains("│ + hello"), "{message}");
        assert!(message.contains("  yes      yes, apply exactly these changes"), "{message}");
        assert!(!message.contains("edit the arguments"), "{message}");
        // Codex takes a schema with these at its root, and no other.
        let schema = params["requestedSchema"].as_object().unwrap();
        let known = ["$schema", "type", "properties", "required"];
        assert!(schema.keys().all(|it| known.contains(&it.as_str())), "{schema:?}");
        let flat = |it: &Value| it["type"] == "string" && it.get("properties").is_none();
        assert!(schema["properties"].as_object().unwrap().values().all(flat));
        assert_eq!(world.read("workspace/notes.txt"), "");
        client.reply(&question, yes());
        assert_eq!(client.answer(id)["result"]["isError"], false);
        assert_eq!(world.read("workspace/notes.txt"), "hello\n");
        let records = world.records();
        let ended = records.iter().find(|it| it["event"] == "ended").unwrap();
        assert_eq!(ended["changes"]["approval"]["by"], "mcp-client");
    }
}

#[test]
fn mcp_newer_clients_ask_and_come_back() {
    let world = World::new();
    let mut client = Client::modern(&world, asks());
    let call = note("hello");
    let asked = input_required(&mut client, &call);
    let question = &asked["inputRequests"]["approval"];
    assert_eq!(question["method"], "elicitation/create");
    assert!(question["params"]["message"].as_str().unwrap().contains("│ + hello"));
    assert_eq!(world.read("workspace/notes.txt"), "");
    let answer = client.ask("tools/call", retried(&call, &asked, yes()));
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    assert_eq!(world.read("workspace/notes.txt"), "hello\n");
}

#[test]
fn mcp_a_ticket_is_for_one_call_once() {
    let world = World::new();
    let mut client = Client::modern(&world, asks());
    let call = note("hello");
    let refused = |client: &mut Client, call: Value| {
        let answer = client.ask("tools/call", call);
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    };
    let asked = input_required(&mut client, &call);
    // Other arguments, another tool, another ticket: nothing runs.
    let mut other = retried(&call, &asked, yes());
    other["arguments"]["text"] = "something else".into();
    refused(&mut client, other);
    let mut other = retried(&call, &asked, yes());
    other["name"] = "echo".into();
    refused(&mut client, other);
    let mut other = retried(&call, &asked, yes());
    let ticket = asked["requestState"].as_str().unwrap();
    let (before, after) = ticket.split_at(ticket.len() / 2);
    let other_letter = if after.starts_with('A') { "B" } else { "A" };
    let tampered = format!("{before}{other_letter}{}", after.get(1..).unwrap());
    other["requestState"] = tampered.into();
    refused(&mut client, other);
    assert_eq!(world.read("workspace/notes.txt"), "");
    // None of that used the ticket up; the right call does.
    let right = retried(&call, &asked, yes());
    assert_eq!(client.ask("tools/call", right.clone())["result"]["isError"], false);
    refused(&mut client, right);
    assert_eq!(world.read("workspace/notes.txt"), "hello\n");
    // Another process knows nothing of it.
    let asked = input_required(&mut client, &call);
    let mut another = Client::modern(&world, asks());
    refused(&mut another, retried(&call, &asked, yes()));
    assert_eq!(world.read("workspace/notes.txt"), "hello\n");
}

#[test]
fn mcp_only_an_accepted_yes_is_a_yes() {
    let nos = [
        json!({"action": "decline"}),
        json!({"action": "cancel"}),
        json!({"action": "accept", "content": {"answer": "no", "reason": "not on a Sunday"}}),
    ];
    let nothing = [
        json!({"action": "accept"}),
        json!({"action": "accept", "content": {"answer": true}}),
        json!({"action": "accept", "content": {"answer": "YES"}}),
        json!({"action": "maybe", "content": {"answer": "yes"}}),
        json!("yes"),
        Value::Null,
    ];
    let world = World::new();
    let mut client = Client::modern(&world, asks());
    for said in &nos {
        let asked = input_required(&mut client, &note("hello"));
        let answer = client.ask("tools/call", retried(&note("hello"), &asked, said.clone()));
        assert_eq!(answer["result"]["isError"], true, "{said}: {answer}");
        if let Some(reason) = said["content"]["reason"].as_str() {
            assert!(text(&answer["result"]).contains(reason), "{answer}");
        }
    }
    // What is no answer leaves the question open, with a new ticket.
    for said in &nothing {
        let asked = input_required(&mut client, &note("hello"));
        let again = input_required(&mut client, &retried(&note("hello"), &asked, said.clone()));
        assert_ne!(again["requestState"], asked["requestState"]);
        let no = retried(&note("hello"), &again, json!({"action": "decline"}));
        assert_eq!(client.ask("tools/call", no)["result"]["isError"], true);
    }
    drop(client);
    // The older era has no second round: what is no answer is a no.
    let mut client = Client::legacy(&world, "2025-11-25", asks());
    for said in nos.iter().chain(&nothing) {
        let id = client.request("tools/call", note("hello"));
        let question = client.asked("elicitation/create");
        client.reply(&question, said.clone());
        assert_eq!(client.answer(id)["result"]["isError"], true, "{said}");
    }
    assert_eq!(world.read("workspace/notes.txt"), "");
}

#[test]
fn mcp_an_answer_for_the_conversation_holds_in_it_and_in_no_other() {
    let world = World::new();
    let session = json!({"action": "accept", "content": {"answer": "session"}});
    let mut client = Client::modern(&world, asks());
    let asked = input_required(&mut client, &note("one"));
    client.ask("tools/call", retried(&note("one"), &asked, session));
    assert_eq!(client.call("note", json!({"text": "two"}))["isError"], false);
    let mut other = Client::modern(&world, asks());
    input_required(&mut other, &note("three"));
    assert_eq!(world.read("workspace/notes.txt"), "one\ntwo\n");
}

#[test]
fn mcp_a_client_that_cannot_ask_is_told_what_to_do() {
    let world = World::new();
    for capabilities in [json!({}), json!({"elicitation": {"url": {}}})] {
        let result = Client::modern(&world, capabilities).call("note", json!({"text": "x"}));
        assert_eq!(result["isError"], true);
        assert!(text(&result).contains("allow rule"), "{result}");
    }
    assert_eq!(world.read("workspace/notes.txt"), "");
}

/// D13: the id stays the same for as long as the call waits.
#[test]
fn mcp_d13_a_client_that_comes_back_keeps_its_id_until_a_person_has_answered() {
    // The client cannot ask, so the question is in the approval queue.
    let world = World::with("on_no_approver = \"queue\"\n");
    let args = ["mcp", "--patience", "300ms"];
    let mut client = Client::modern_with(&world, &args, json!({}));
    let told = client.call("note", json!({"text": "hello"}));
    assert_eq!(
        (&told["isError"], &told["_meta"]["eclusa/code"]),
        (&json!(true), &json!("waiting"))
    );
    let id = told["_meta"]["eclusa/id"].as_str().unwrap().to_owned();
    assert!(text(&told).contains(&id), "{told}");
    // Still nobody has answered: the call keeps its id.
    let told = client.call("wait", json!({"id": id}));
    assert_eq!(told["_meta"]["eclusa/id"], id.as_str(), "{told}");
    let mut waiting = world.eclusa(&["--json", "approvals"]);
    wait_until("the question is in the approval queue", || {
        waiting = world.eclusa(&["--json", "approvals"]);
        !waiting.out.is_empty()
    });
    world.eclusa(&["approvals", "yes", &waiting.json()["id"].to_string()]);
    wait_until("it runs", || world.read("workspace/notes.txt") == "hello\n");
    // It may have more to do than to write.
    let mut used = id;
    let mut result = client.call("wait", json!({"id": used}));
    while result["_meta"]["eclusa/code"] == "waiting" {
        used = result["_meta"]["eclusa/id"].as_str().unwrap().to_owned();
        result = client.call("wait", json!({"id": used}));
    }
    assert_eq!(result["isError"], false, "{result}");
    // An id is good for one answer.
    let answer = client.ask("tools/call", json!({"name": "wait", "arguments": {"id": used}}));
    assert_eq!(answer["error"]["code"], -32602);
    assert_eq!(world.read("workspace/notes.txt"), "hello\n");
}

/// An id outlives the server: `wait` of the next one finds the question, still open or answered
/// meanwhile, and the call runs once.
#[test]
fn mcp_wait_finds_its_call_after_a_restart() {
    let world = World::with("on_no_approver = \"queue\"\n");
    let start = || Client::modern_with(&world, &["mcp", "--patience", "300ms"], json!({}));
    let killed = |mut client: Client| {
        client.child.kill().unwrap();
        client.child.wait().unwrap();
    };
    let queued = || world.eclusa(&["--json", "approvals"]);
    let mut client = start();
    let told = client.call("note", json!({"text": "hello"}));
    let id = told["_meta"]["eclusa/id"].as_str().unwrap().to_owned();
    wait_until("the question is in the approval queue", || !queued().out.is_empty());
    // Whoever is told to wait while the question is queued can come back to any server.
    let told = client.call("wait", json!({"id": id}));
    assert_eq!(told["_meta"]["eclusa/id"], id.as_str(), "{told}");
    killed(client);
    let mut client = start();
    let told = client.call("wait", json!({"id": id}));
    assert_eq!(told["_meta"]["eclusa/id"], id.as_str(), "{told}");
    let waiting = queued();
    assert_eq!(waiting.out.lines().count(), 1, "one question, whoever waits for it: {waiting:?}");
    killed(client);
    assert_eq!(world.read("workspace/notes.txt"), "");
    let number = waiting.json()["id"].to_string();
    assert_eq!(world.eclusa(&["approvals", "yes", &number]).code, 0);
    // It had run: the yes has applied what it changed, and nothing is run again.
    assert_eq!(world.read("workspace/notes.txt"), "hello\n");
    let mut client = start();
    let again = json!({"name": "wait", "arguments": {"id": id}});
    let told = client.ask("tools/call", again)["error"].clone();
    assert_eq!(told["code"], -32602, "{told}");
    assert!(
        told["message"].as_str().unwrap().contains("its approved changes are applied"),
        "{told}"
    );
    assert_eq!(world.read("workspace/notes.txt"), "hello\n");
}

#[test]
fn mcp_a_question_that_nobody_comes_back_to_holds_no_other_up() {
    let world = World::new();
    let mut client = Client::modern(&world, asks());
    let abandoned = input_required(&mut client, &note("one"));
    // Answered in any order, each its own question.
    let file = |name: &str| json!({"name": "write", "arguments": {"path": name, "content": format!("{name}\n")}});
    let (two, three) = (file("two"), file("three"));
    let (asked_two, asked_three) =
        (input_required(&mut client, &two), input_required(&mut client, &three));
    for (call, asked) in [(three, asked_three), (two, asked_two)] {
        let answer = client.ask("tools/call", retried(&call, &asked, yes()));
        assert_eq!(answer["result"]["isError"], false, "{answer}");
    }
    assert_eq!(
        (&*world.read("workspace/two"), &*world.read("workspace/three")),
        ("two\n", "three\n")
    );
    assert!(abandoned["requestState"].is_string());
}

#[test]
fn mcp_a_ticket_is_no_good_when_its_time_is_over() {
    let world = World::with("[limits]\napproval = \"3s\"\n");
    let mut client = Client::modern(&world, asks());
    let asked = input_required(&mut client, &note("hello"));
    wait_until("the time is over", || {
        let expired = |it: &Value| it["changes"]["approval"]["answer"] == "approval_expired";
        world.records().iter().any(expired)
    });
    let answer = client.ask("tools/call", retried(&note("hello"), &asked, yes()));
    // The call has ended, whichever clock was first.
    let refused = answer["error"]["code"] == -32602 || answer["result"]["isError"] == true;
    assert!(refused, "{answer}");
    assert_eq!(world.read("workspace/notes.txt"), "");
}

/// D12: what a client dismisses at once was not read by anybody. It goes to the approval queue, and
/// where there is none the model is not told that a person said no.
#[test]
fn mcp_d12_a_question_that_is_dismissed_at_once_goes_to_the_queue() {
    // On a busy machine "at once" may take a few tries.
    let dismissed = |client: &mut Client| {
        let id = client.request("tools/call", note("hello"));
        let question = client.asked("elicitation/create");
        client.reply(&question, json!({"action": "decline"}));
        client.answer(id)["result"].clone()
    };
    let world = World::new();
    let mut client = Client::legacy(&world, "2025-11-25", asks());
    wait_until("a question is dismissed at once", || {
        let result = dismissed(&mut client);
        assert_eq!(result["isError"], true, "{result}");
        text(&result).contains("dismissed the question unseen")
    });
    drop(client);
    let world = World::with("on_no_approver = \"queue\"\n");
    let mut client = Client::legacy(&world, "2025-11-25", asks());
    let ended = |world: &World| world.records().iter().filter(|it| it["event"] == "ended").count();
    let mut waiting = world.eclusa(&["--json", "approvals"]);
    for _ in 0..20 {
        let before = ended(&world);
        let id = client.request("tools/call", note("hello"));
        let question = client.asked("elicitation/create");
        client.reply(&question, json!({"action": "decline"}));
        wait_until("it is queued or refused", || {
            waiting = world.eclusa(&["--json", "approvals"]);
            !waiting.out.is_empty() || ended(&world) > before
        });
        if waiting.out.is_empty() {
            // It was not at once.
            client.answer(id);
            continue;
        }
        world.eclusa(&["approvals", "yes", &waiting.json()["id"].to_string()]);
        assert_eq!(client.answer(id)["result"]["isError"], false);
        break;
    }
    assert_eq!(world.read("workspace/notes.txt"), "hello\n");
}

/// The question of a call that its client comes back for as often as it is told to, and the request
/// that is open then.
fn question_of(client: &mut Client, mut id: u64, key: &mut String) -> (Value, u64) {
    loop {
        let answers = |it: &Value| it["id"] == id && it.get("method").is_none();
        let asks = |it: &Value| it["method"] == "elicitation/create";
        let message = client.heard("a question or an answer", |it| asks(it) || answers(it));
        if asks(&message) {
            return (message, id);
        }
        *key = message["result"]["_meta"]["eclusa/id"].as_str().unwrap().to_owned();
        id = client.request("tools/call", json!({"name": "wait", "arguments": {"id": &*key}}));
    }
}

/// D14: a client that closes the form because its call was answered has not said no. It is asked
/// again when it comes back for the call.
#[test]
fn mcp_d14_a_form_that_is_closed_with_the_call_is_no_answer() {
    let world = World::new();
    let mut client = Client::start(&world, &["mcp", "--patience", "300ms"]);
    client.initialize("2025-11-25", asks());
    let (id, mut key) = (client.request("tools/call", note("hello")), String::new());
    let (question, id) = question_of(&mut client, id, &mut key);
    let told = client.answer(id)["result"].clone();
    assert_eq!(told["_meta"]["eclusa/code"], "waiting", "{told}");
    key = told["_meta"]["eclusa/id"].as_str().unwrap().to_owned();
    client.reply(&question, json!({"action": "cancel"}));
    let wait = json!({"name": "wait", "arguments": {"id": key}});
    let id = client.request("tools/call", wait.clone());
    let (question, mut id) = question_of(&mut client, id, &mut key);
    client.reply(&question, yes());
    wait_until("it runs", || world.read("workspace/notes.txt") == "hello\n");
    let mut result = client.answer(id)["result"].clone();
    while result["_meta"]["eclusa/code"] == "waiting" {
        id = client.request("tools/call", wait.clone());
        result = client.answer(id)["result"].clone();
    }
    assert_eq!(result["isError"], false, "{result}");
}
