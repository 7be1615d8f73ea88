//! What agents stumbled over, each seen with a real one.

use serde_json::{Value, json};

use super::client::{Client, asks, text};
use crate::world::{World, wait_until};

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
    eclusa_testing::needs!(Namespaces);
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
    assert!(text.len() <= 16 << 10, "{} bytes", text.len());
    assert!(!text.contains("\"format\":\"uint") && !text.contains("\"null\""), "{text}");
    // A tool that the person made keeps its name.
    let own = "[tools.note]\ndescription = \"mine\"\ncommand = [\"true\"]\nclass = \"read-only\"\nreads = []\n";
    let world = World::with(own);
    let listed = Client::modern(&world, json!({})).ask("tools/list", json!({})).to_string();
    assert!(listed.contains("\"mine\""), "{listed}");
}

/// D5: every call of the conversation is answered in time, whatever else waits.
#[test]
fn mcp_d5_a_change_that_waits_does_not_hang_the_next_one() {
    let world = World::with("on_no_approver = \"queue\"\n");
    let mut client = Client::modern_with(&world, &["mcp", "--patience", "300ms"], json!({}));
    for name in ["one", "two"] {
        let told = client.call("write", json!({"path": name, "content": "x\n"}));
        assert_eq!(told["_meta"]["eclusa/code"], "waiting", "{name}: {told}");
    }
    assert_eq!(world.read("workspace/one"), "");
    // Nor does an answer to the later one wait for the earlier one.
    let mut later = Value::Null;
    wait_until("the later one is queued", || {
        let waiting = world.eclusa(&["--json", "approvals"]);
        let line = waiting.out.lines().find(|it| it.contains("\"path\":\"two\""));
        later = line.map_or(Value::Null, |it| serde_json::from_str(it).unwrap());
        !later.is_null()
    });
    assert_eq!(world.eclusa(&["approvals", "yes", &later["id"].to_string()]).code, 0);
    wait_until("the later one runs", || world.read("workspace/two") == "x\n");
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

fn git(world: &World, words: &[&str]) -> String {
    #[expect(clippy::disallowed_methods, reason = "the test runs git")]
    let mut command = std::process::Command::new("git");
    command.args(["-c", "user.name=A", "-c", "user.email=a@example.org", "-C"]);
    command.arg(world.path("workspace")).args(words).env("GIT_CONFIG_GLOBAL", "/dev/null");
    let ran = command.output().unwrap();
    assert!(ran.status.success(), "{words:?}: {ran:?}");
    String::from_utf8(ran.stdout).unwrap()
}

/// Edits, a commit and a branch in one command are undone together, with the rules that are shipped.
/// Shows D4.
#[test]
fn what_git_wrote_through_an_agent_is_undone() {
    eclusa_testing::needs!(Namespaces);
    let world = World::with("mode = \"yolo\"\n");
    world.write("workspace/a.txt", "one\n");
    git(&world, &["init", "-q"]);
    git(&world, &["add", "-A"]);
    git(&world, &["commit", "-q", "-m", "one"]);
    let state =
        || (git(&world, &["log", "--format=%s"]), git(&world, &["branch", "--show-current"]));
    let before = state();
    let command = "echo two > a.txt && git checkout -q -b side && git -c user.name=A \
                   -c user.email=a@example.org commit -q -a -m two";
    let done = Client::modern(&world, json!({})).call("bash", json!({"command": command}));
    assert_eq!(done["isError"], false, "{done}");
    assert_eq!(state(), ("two\none\n".to_owned(), "side\n".to_owned()));
    world.write("config/eclusa/eclusa.toml", "");
    let undone = world.eclusa(&["undo"]);
    assert_eq!(undone.code, 0, "{undone:?}");
    assert_eq!((state(), world.read("workspace/a.txt")), (before, "one\n".to_owned()));
    assert_eq!(git(&world, &["status", "--porcelain"]), "");
}

/// Certificates of a virtual environment are no secrets; a key is, and the refusal names it.
/// Shows D20.
#[test]
fn a_virtual_environment_is_made_and_a_refusal_names_the_file() {
    eclusa_testing::needs!(Namespaces);
    let world = World::with("mode = \"auto-approve\"\n");
    let mut client = Client::modern(&world, json!({}));
    let place = ".venv/lib/python3/site-packages/certifi";
    let command = format!("mkdir -p {place} && echo certificates > {place}/cacert.pem");
    let made = client.call("bash", json!({"command": command}));
    assert_eq!(made["isError"], false, "{made}");
    assert_eq!(world.read(&format!("workspace/{place}/cacert.pem")), "certificates\n");
    let refused = client.call("bash", json!({"command": "mkdir -p keys && echo x > keys/own.pem"}));
    assert_eq!(refused["isError"], true, "{refused}");
    assert!(text(&refused).contains("keys/own.pem"), "{refused}");
}

/// Gemini CLI takes a text that is JSON for the structure of a result, and refuses a result whose
/// structure is no object. Others show a model the structure instead of the text.
#[test]
fn mcp_a_number_is_no_error_in_gemini_and_stays_a_text_elsewhere() {
    let world = World::new();
    for (name, structured) in
        [("gemini-cli-mcp-client", json!({"result": 42})), ("claude-code", Value::Null)]
    {
        let mut client = Client::start(&world, &["mcp"]);
        let info = json!({"name": name, "version": "1"});
        client.ask(
            "initialize",
            json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info}),
        );
        let result = client.call("echo", json!({"text": "42"}));
        assert_eq!((text(&result), &result["structuredContent"]), ("42", &structured), "{name}");
        let result = client.call("echo", json!({"text": "{\"a\": 1}"}));
        assert_eq!(result["structuredContent"], Value::Null, "{name}");
    }
}
