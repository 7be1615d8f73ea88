//! What is listed, and what comes back.

use serde_json::{Value, json};

use super::client::{Client, SLOW, text};
use crate::{
    exec::{layers, mark, running},
    world::{World, wait_until},
};

fn listed(client: &mut Client) -> Vec<Value> {
    client.ask("tools/list", json!({}))["result"]["tools"].as_array().unwrap().clone()
}

#[test]
fn mcp_tools_are_listed_in_order_with_annotations_that_are_true() {
    let world = World::new();
    let tools = listed(&mut Client::modern(&world, json!({})));
    let names: Vec<&str> = tools.iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert!(names.is_sorted() && names.contains(&"read") && names.contains(&"write"), "{names:?}");
    let hints = |name: &str| {
        let tool = tools.iter().find(|it| it["name"] == name).unwrap();
        assert_eq!(tool["inputSchema"]["type"], "object");
        let hints = &tool["annotations"];
        let looks = hints["readOnlyHint"].as_bool().unwrap_or(false);
        let destroys = hints["destructiveHint"].as_bool().unwrap_or(!looks);
        [looks, destroys, hints["openWorldHint"].as_bool().unwrap()]
    };
    // Codex asks on its own about what is destructive or open; what only looks is neither.
    assert_eq!(hints("read"), [true, false, false]);
    assert_eq!(hints("todo"), [false, false, false]);
    assert!(!hints("write")[0]);
    // Every model pays for the list with every turn.
    let size = serde_json::to_string(&tools).unwrap().len();
    assert!(size <= 16_000, "{size}");
    assert!(!names.contains(&"approve") && !names.contains(&"echo"), "{names:?}");
    // Both eras see the same list.
    assert_eq!(listed(&mut Client::legacy(&world, "2025-06-18", json!({}))), tools);
}

#[test]
fn mcp_structure_goes_out_only_where_it_tells_everything() {
    let world = World::new();
    world.write("workspace/a.txt", "first line\n");
    let mut client = Client::modern(&world, json!({}));
    // Claude Code and Codex would show the model the structure instead of the file.
    let read = client.call("read", json!({"path": "a.txt"}));
    assert!(text(&read).contains("first line"), "{read}");
    assert_eq!(read.get("structuredContent"), None);
    assert_eq!(read["_meta"]["eclusa/data"]["path"], "a.txt");
    let todos = json!([{"content": "test", "status": "pending"}]);
    let todo = client.call("todo", json!({"todos": todos}));
    assert_eq!(todo["structuredContent"], json!({"todos": todos}));
    let tool = listed(&mut client).into_iter().find(|it| it["name"] == "todo").unwrap();
    assert_eq!(tool["outputSchema"]["required"], json!(["todos"]));
}

#[test]
fn mcp_secrets_are_taken_out_of_text_and_structure() {
    let world = World::new();
    let secret = "ghp_0123456789abcdefABCDEF0123456789abcd";
    let mut client = Client::modern(&world, json!({}));
    let todo = client.call("todo", json!({"todos": [{"content": secret, "status": "pending"}]}));
    assert!(todo["structuredContent"]["todos"][0]["content"].is_string(), "{todo}");
    assert!(!todo.to_string().contains(secret), "{todo}");
}

#[test]
fn mcp_what_was_cut_can_be_read_whole() {
    let world = World::with("[limits]\noutput = \"2KB\"\n");
    let whole: String = (0..1000).map(|it| format!("line {it}\n")).collect();
    let mut client = Client::modern(&world, json!({}));
    let result = client.call("echo", json!({"text": whole}));
    let link = result["content"].as_array().unwrap().last().unwrap();
    assert_eq!(link["type"], "resource_link", "{result}");
    assert!(text(&result).len() < 3000);
    let uri = link["uri"].as_str().unwrap();
    let read = |client: &mut Client, uri: &str| {
        let answer = client.ask("resources/read", json!({"uri": uri}));
        answer["result"]["contents"][0]["text"].as_str().unwrap_or_default().to_owned()
    };
    assert_eq!(read(&mut client, uri), whole);
    assert_eq!(read(&mut client, &format!("{uri}?range=0..6")), "line 0");
    let templates = client.ask("resources/templates/list", json!({}));
    let templates = templates["result"]["resourceTemplates"].as_array().unwrap();
    let fits = |it: &Value| {
        let template = it["uriTemplate"].as_str().unwrap();
        template.strip_suffix("{reference}").is_some_and(|it| uri.starts_with(it))
    };
    assert!(templates.iter().any(fits), "{templates:?}");
}

#[test]
fn mcp_a_call_that_is_taken_back_ends_and_is_on_record() {
    let world = World::with(SLOW);
    for legacy in [true, false] {
        let mut client = match legacy {
            true => Client::legacy(&world, "2025-11-25", json!({})),
            false => Client::modern(&world, json!({})),
        };
        let id = client.request("tools/call", json!({"name": "slow", "arguments": {}}));
        wait_until("the tool runs", || !world.read("workspace/pid").is_empty());
        let pid = world.read("workspace/pid");
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
            "params": {"requestId": id, "reason": "enough"}}));
        wait_until("the command is gone", || !crate::world::alive(&pid));
        wait_until("it is on record", || {
            world.records().iter().any(|it| it["code"] == "cancelled")
        });
        // The server is as good as before.
        assert_eq!(text(&client.call("echo", json!({"text": "still here"}))), "still here");
        world.write("workspace/pid", "");
    }
}

#[test]
fn mcp_a_session_that_ends_leaves_no_job_and_no_layer() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    for legacy in [true, false] {
        let mut client = match legacy {
            true => Client::legacy(&world, "2025-11-25", json!({})),
            false => Client::modern(&world, json!({})),
        };
        let long = mark("8643.5");
        let job = format!("echo half > a; sleep {long}");
        let started = client.call("bash", json!({"command": job, "background": true}));
        assert!(text(&started).starts_with("started: 1 process still runs as job 1"), "{started}");
        wait_until("the job runs", || running(&long) == 1);
        assert_eq!(text(&client.call("bash", json!({"command": "echo here"}))), "here\n");
        let (status, _) = client.close();
        assert_eq!((status.code(), running(&long), layers(&world)), (Some(0), 0, 0));
    }
}

#[test]
fn mcp_the_clients_own_id_for_a_call_is_the_one_on_record() {
    let world = World::new();
    let mut client = Client::modern(&world, json!({}));
    for (key, id) in [("claudecode/toolUseId", "toolu_01A"), ("callId", "call_7")] {
        let call = json!({"name": "echo", "arguments": {"text": "x"}, "_meta": {key: id}});
        assert_eq!(client.ask("tools/call", call)["result"]["isError"], false);
        assert!(world.records().iter().any(|it| it["call"] == id), "{:?}", world.records());
    }
}

/// A model has no use for a list of it.
#[test]
fn mcp_what_came_or_went_with_its_directory_is_counted() {
    eclusa_testing::needs!(Namespaces);
    let world = World::with("mode = \"yolo\"\n");
    let mut client = Client::modern(&world, json!({}));
    let mut said = |command: &str| {
        let said = client.call("bash", json!({"command": command}));
        text(&said).trim_end().to_owned()
    };
    let made = said("mkdir -p out/deep && touch out/1 out/2 out/deep/3 outer");
    assert_eq!(made, "[(no output) made out with 4 paths in it, made outer]");
    assert_eq!(said("echo x > outer"), "[(no output) changed outer]");
    assert_eq!(said("rm -r out/deep"), "[(no output) deleted out/deep with 1 path in it]");
    let many = said("mkdir new; for i in $(seq 100 111); do echo $i > $i; done; rm -r out");
    let names: Vec<String> = (100..110).map(|it| format!("made {it}")).collect();
    assert_eq!(many, format!("[(no output) {}, 6 more]", names.join(", ")));
}

#[test]
fn mcp_what_a_call_changed_can_be_read_as_a_diff() {
    let world = World::with("mode = \"yolo\"\n");
    let mut client = Client::modern(&world, json!({}));
    let secret = "ghp_0123456789abcdefABCDEF0123456789abcd";
    let made =
        client.call("write", json!({"path": "a.txt", "content": format!("one\n{secret}\n")}));
    let link = made["content"].as_array().unwrap().last().unwrap();
    assert_eq!(link["type"], "resource_link", "{made}");
    assert_eq!(link["mimeType"], "text/x-diff");
    let read = client.ask("resources/read", json!({"uri": link["uri"]}));
    let diff = read["result"]["contents"][0]["text"].as_str().unwrap();
    assert!(diff.contains("+++ b/a.txt") && diff.contains("+one"), "{diff}");
    assert!(!diff.contains(secret), "{diff}");
    let none = client.ask("resources/read", json!({"uri": "eclusa://changes/999"}));
    assert!(none["error"]["message"].as_str().unwrap().contains("cannot be read"), "{none}");
    let looked = client.call("read", json!({"path": "a.txt"}));
    assert_eq!(looked["content"].as_array().unwrap().len(), 1, "{looked}");
}
