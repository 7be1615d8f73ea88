//! What agents stumbled over, each seen with a real one.

use serde_json::{Value, json};

use super::client::{Client, asks, text};
use crate::world::World;

#[test]
fn mcp_the_clients_name_and_version_are_on_record() {
    let world = World::new();
    Client::modern(&world, json!({})).call("read", json!({"path": "nothing"}));
    Client::legacy(&world, "2025-06-18", json!({})).call("read", json!({"path": "nothing"}));
    let records = world.records();
    let named: Vec<&Value> = records.iter().filter(|it| it["client"] == "test 1").collect();
    assert_eq!(named.len(), 2, "{records:?}");
    let shown = world.eclusa(&["log", "show", "1"]);
    assert!(shown.out.contains("test 1"), "{}", shown.out);
}

#[test]
fn mcp_no_text_is_empty_and_a_silent_command_says_what_it_changed() {
    let world = World::with("mode = \"yolo\"\n");
    world.write("workspace/old.txt", "x\n");
    let mut client = Client::modern(&world, json!({}));
    let silent = client.call("bash", json!({"command": "true"}));
    assert!(!text(&silent).trim().is_empty(), "{silent}");
    let changed = client.call("bash", json!({"command": "touch made.txt; echo y >> old.txt"}));
    assert_eq!(changed["isError"], false, "{changed}");
    let said = text(&changed);
    assert!(said.contains("made.txt") && said.contains("old.txt"), "{changed}");
}

#[test]
fn mcp_toys_are_not_listed_and_schemas_are_plain() {
    let world = World::new();
    let mut client = Client::modern(&world, json!({}));
    let listed = client.ask("tools/list", json!({}))["result"]["tools"].clone();
    let names: Vec<&str> =
        listed.as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"read") && names.contains(&"bash"), "{names:?}");
    for toy in ["echo", "note", "time"] {
        assert!(!names.contains(&toy), "{names:?}");
    }
    let text = listed.to_string();
    assert!(!text.contains("\"format\":\"uint") && !text.contains("\"null\""), "{text}");
    // A tool that the person made keeps its name.
    let own = "[tools.note]\ndescription = \"mine\"\ncommand = [\"true\"]\nclass = \"read-only\"\nreads = []\n";
    let world = World::with(own);
    let listed = Client::modern(&world, json!({})).ask("tools/list", json!({})).to_string();
    assert!(listed.contains("\"mine\""), "{listed}");
}

#[test]
fn mcp_a_change_that_waits_does_not_hang_the_next_one() {
    let world = World::with("on_no_approver = \"queue\"\n");
    let mut client = Client::modern_with(&world, &["mcp", "--patience", "300ms"], json!({}));
    for name in ["one", "two"] {
        let told = client.call("write", json!({"path": name, "content": "x\n"}));
        assert_eq!(told["_meta"]["eclusa/code"], "waiting", "{name}: {told}");
    }
    assert_eq!(world.read("workspace/one"), "");
}

#[test]
fn mcp_stop_ends_the_turn() {
    let stop = json!({"action": "accept", "content": {"answer": "stop"}});
    let write =
        |name: &str| json!({"name": "write", "arguments": {"path": name, "content": "x\n"}});
    let world = World::new();
    world.write("workspace/a.txt", "text\n");
    let mut client = Client::legacy(&world, "2025-11-25", asks());
    let (one, two) =
        (client.request("tools/call", write("one")), client.request("tools/call", write("two")));
    // One question is open at a time.
    let question = client.asked("elicitation/create");
    assert!(client.rest().iter().all(|it| it["method"] != "elicitation/create"));
    client.reply(&question, stop);
    for id in [one, two] {
        assert_eq!(client.answer(id)["result"]["isError"], true);
    }
    // A model that goes on is told to stop, whatever it calls.
    let read = client.call("read", json!({"path": "a.txt"}));
    assert_eq!(read["isError"], true, "{read}");
    assert!(text(&read).contains("ended this turn"), "{read}");
    // Another conversation goes on.
    let mut other = Client::legacy(&world, "2025-11-25", asks());
    assert_eq!(other.call("read", json!({"path": "a.txt"}))["isError"], false);
    assert_eq!((world.read("workspace/one"), world.read("workspace/two")), Default::default());
}

#[test]
fn mcp_wait_refuses_arguments_that_it_does_not_know() {
    let world = World::new();
    let mut client = Client::modern(&world, json!({}));
    for (args, names) in [(json!({"id": "x", "again": true}), "again"), (json!({}), "id")] {
        let answer = client.ask("tools/call", json!({"name": "wait", "arguments": args}));
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains(names), "{answer}");
    }
    let read = client.call("read", json!({"path": "a.txt", "colour": "blue"}));
    assert!(read["isError"] == true && text(&read).contains("colour"), "{read}");
}
