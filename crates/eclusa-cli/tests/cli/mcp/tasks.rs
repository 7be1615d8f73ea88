//! A call that waits for a person as a task, for clients that know them (S2.9, C1).

use serde_json::{Value, json};

use super::{
    approval::note,
    client::{Client, asks, text},
    http::Up,
};
use crate::world::{World, wait_until};

const QUEUE: &str = "on_no_approver = \"queue\"\n";

/// What a client says that knows tasks, and what else it can.
fn knows_tasks(mut can: Value) -> Value {
    can["extensions"] = json!({"io.modelcontextprotocol/tasks": {}});
    can
}

/// The call is answered with a task; its id.
fn begun(client: &mut Client) -> String {
    let answer = client.ask("tools/call", note("hello"));
    assert_eq!(answer["result"]["resultType"], "task", "{answer}");
    assert_eq!(answer["result"]["status"], "working", "{answer}");
    answer["result"]["taskId"].as_str().unwrap().to_owned()
}

fn task(client: &mut Client, id: &str) -> Value {
    client.ask("tasks/get", json!({"taskId": id}))["result"].clone()
}

/// The task, once it has come to this.
fn becomes(client: &mut Client, id: &str, status: &str) -> Value {
    let mut last = Value::Null;
    wait_until(&format!("the task is {status}"), || {
        last = task(client, id);
        last["status"] == status
    });
    last
}

fn update(client: &mut Client, id: &str, key: &str, said: Value) -> Value {
    client.ask("tasks/update", json!({"taskId": id, "inputResponses": {key: said}}))
}

fn key(task: &Value) -> String {
    task["inputRequests"].as_object().unwrap().keys().next().unwrap().clone()
}

fn yes() -> Value {
    json!({"action": "accept", "content": {"answer": "yes"}})
}

#[test]
fn a_call_that_waits_for_a_person_is_a_task_and_an_update_is_the_answer() {
    let world = World::new();
    let mut client = Client::modern(&world, knows_tasks(asks()));
    let id = begun(&mut client);
    let asked = becomes(&mut client, &id, "input_required");
    let question = &asked["inputRequests"][key(&asked)];
    assert_eq!(question["method"], "elicitation/create");
    assert!(question["params"]["message"].as_str().unwrap().contains("│ + hello"), "{question}");
    assert_eq!(world.read("workspace/notes.txt"), "");
    let told = update(&mut client, &id, &key(&asked), yes());
    assert!(told["error"].is_null(), "{told}");
    let ended = becomes(&mut client, &id, "completed");
    assert_eq!(ended["result"]["isError"], false, "{ended}");
    assert!(ended["ttlMs"].is_u64(), "{ended}");
    assert_eq!(world.read("workspace/notes.txt"), "hello\n");
    // Asked for again, it is the same; another answer changes nothing.
    let told = update(&mut client, &id, &key(&asked), json!({"action": "decline"}));
    assert!(told["error"].is_null(), "{told}");
    assert_eq!(task(&mut client, &id)["result"], ended["result"]);
}

#[test]
fn a_client_that_does_not_know_tasks_is_given_none() {
    let world = World::new();
    let mut client = Client::modern(&world, asks());
    let answer = client.ask("tools/call", note("hello"));
    assert_eq!(answer["result"]["resultType"], "input_required", "{answer}");
    let refused = client.ask("tasks/get", json!({"taskId": "x"}));
    assert_eq!(refused["error"]["code"], -32021, "{refused}");
    let mut old = Client::legacy(&world, "2025-11-25", knows_tasks(asks()));
    let id = old.request("tools/call", note("hello"));
    let question = old.asked("elicitation/create");
    old.reply(&question, yes());
    assert_eq!(old.answer(id)["result"]["isError"], false);
}

#[test]
fn what_is_no_answer_is_asked_again_under_another_key() {
    let world = World::new();
    let mut client = Client::modern(&world, knows_tasks(asks()));
    let id = begun(&mut client);
    let first = becomes(&mut client, &id, "input_required");
    // Another key is no answer to this question, and leaves it as it is.
    update(&mut client, &id, "approval", yes());
    assert_eq!(task(&mut client, &id)["inputRequests"], first["inputRequests"]);
    for said in [json!("yes"), json!({"action": "accept", "content": {"answer": "YES"}})] {
        let asked = becomes(&mut client, &id, "input_required");
        update(&mut client, &id, &key(&asked), said);
        let again = becomes(&mut client, &id, "input_required");
        assert_ne!(key(&again), key(&asked));
        // The old key opens nothing any more.
        update(&mut client, &id, &key(&asked), yes());
        assert_eq!(task(&mut client, &id)["status"], "input_required");
    }
    assert_eq!(world.read("workspace/notes.txt"), "");
    let asked = task(&mut client, &id);
    update(&mut client, &id, &key(&asked), json!({"action": "decline"}));
    let ended = becomes(&mut client, &id, "completed");
    assert_eq!(ended["result"]["isError"], true, "{ended}");
    assert_eq!(world.read("workspace/notes.txt"), "");
}

#[test]
fn a_task_whose_question_waits_elsewhere_is_answered_there_or_taken_back() {
    let world = World::with(QUEUE);
    let mut client = Client::modern(&world, knows_tasks(json!({})));
    let id = begun(&mut client);
    let waits = task(&mut client, &id);
    assert_eq!(waits["status"], "working", "{waits}");
    assert!(waits["statusMessage"].as_str().unwrap().contains("person"), "{waits}");
    assert_eq!(world.eclusa(&["approvals", "yes", "1"]).code, 0);
    let ended = becomes(&mut client, &id, "completed");
    assert_eq!(ended["result"]["isError"], false, "{ended}");
    assert_eq!(world.read("workspace/notes.txt"), "hello\n");
    // Another one is taken back: nothing of it is applied.
    let id = begun(&mut client);
    client.ask("tasks/cancel", json!({"taskId": id}));
    becomes(&mut client, &id, "cancelled");
    assert_eq!(world.read("workspace/notes.txt"), "hello\n");
}

#[test]
fn a_task_is_of_the_client_that_made_the_call_and_of_no_other() {
    let world = World::new();
    let mut client = Client::modern(&world, knows_tasks(asks()));
    let id = begun(&mut client);
    let asked = becomes(&mut client, &id, "input_required");
    let mut other = Client::modern(&world, knows_tasks(asks()));
    for (method, params) in [
        ("tasks/get", json!({"taskId": id})),
        ("tasks/update", json!({"taskId": id, "inputResponses": {key(&asked): yes()}})),
        ("tasks/cancel", json!({"taskId": id})),
    ] {
        let refused = other.ask(method, params);
        assert_eq!(refused["error"]["code"], -32602, "{method}: {refused}");
    }
    assert_eq!(task(&mut client, &id)["status"], "input_required");
    assert_eq!(world.read("workspace/notes.txt"), "");
    // A call that waits for nobody is no task.
    let read =
        client.ask("tools/call", json!({"name": "read", "arguments": {"path": "README.md"}}));
    assert!(read["result"]["content"].is_array() && !text(&read["result"]).is_empty(), "{read}");
}

#[test]
fn a_task_that_has_ended_stays_what_it_is() {
    let world = World::new();
    let mut client = Client::modern(&world, knows_tasks(asks()));
    for said in [yes(), json!({"action": "decline"})] {
        let id = begun(&mut client);
        let asked = becomes(&mut client, &id, "input_required");
        update(&mut client, &id, &key(&asked), said);
        let ended = becomes(&mut client, &id, "completed");
        client.ask("tasks/cancel", json!({"taskId": id}));
        assert_eq!(task(&mut client, &id), ended);
    }
}

#[test]
fn so_many_calls_of_one_client_wait_as_tasks_and_no_more() {
    let world = World::new();
    let mut client = Client::modern(&world, knows_tasks(asks()));
    let mut begun: Vec<String> = (0..256).map(|_| begun(&mut client)).collect();
    let refused = client.ask("tools/call", note("one more"));
    let why = refused["error"]["message"].as_str().unwrap_or_default();
    assert!(why.contains("256 calls wait already"), "{refused}");
    client.ask("tasks/cancel", json!({"taskId": begun.pop().unwrap()}));
    wait_until("there is room again", || {
        client.ask("tools/call", note("after all"))["result"]["taskId"].is_string()
    });
}

#[test]
fn over_http_a_task_is_of_the_client_that_made_the_call_and_of_no_other() {
    let world = World::new();
    let args = ["up", "--listen", "127.0.0.1:0", "--trust-client-answers"];
    let up = Up::start_with(&world, None, &args);
    let begun = up.ask_as("mine", "tools/call", note("hello"));
    let id = begun["result"]["taskId"].as_str().unwrap_or_else(|| panic!("{begun}")).to_owned();
    let get = || up.ask_as("mine", "tasks/get", json!({"taskId": id}))["result"].clone();
    wait_until("it asks", || get()["status"] == "input_required");
    let answers = json!({"taskId": id, "inputResponses": {key(&get()): yes()}});
    for (method, params) in [
        ("tasks/get", json!({"taskId": id})),
        ("tasks/update", answers.clone()),
        ("tasks/cancel", json!({"taskId": id})),
    ] {
        let refused = up.ask_as("other", method, params);
        assert_eq!(refused["error"]["code"], -32602, "{method}: {refused}");
    }
    assert_eq!(get()["status"], "input_required");
    assert_eq!(world.read("workspace/notes.txt"), "");
    up.ask_as("mine", "tasks/update", answers);
    wait_until("it has run", || get()["status"] == "completed");
    assert_eq!(world.read("workspace/notes.txt"), "hello\n");
}

/// Where nobody trusts what clients say, none of them answers its own question.
#[test]
fn over_http_a_client_does_not_answer_its_own_task() {
    let world = World::with(QUEUE);
    let up = Up::start(&world, None);
    let begun = up.ask_as("mine", "tools/call", note("hello"));
    let id = begun["result"]["taskId"].as_str().unwrap_or_else(|| panic!("{begun}")).to_owned();
    let get = || up.ask_as("mine", "tasks/get", json!({"taskId": id}))["result"].clone();
    let answers = json!({"taskId": id, "inputResponses": {"1-approval": yes()}});
    up.ask_as("mine", "tasks/update", answers);
    assert_eq!((&get()["status"], &get()["inputRequests"]), (&json!("working"), &Value::Null));
    assert_eq!(world.read("workspace/notes.txt"), "");
    assert_eq!(world.eclusa(&["approvals", "yes", "1"]).code, 0);
    wait_until("it has run", || get()["status"] == "completed");
    assert_eq!(world.read("workspace/notes.txt"), "hello\n");
}
