//! What the server says over MCP: its handshake, its tools, and answers to calls.

use serde_json::{Value, json};

use super::{pretty, same_one};
use crate::{mcp::client::Client, world::World};

#[test]
fn the_server_answers_over_mcp_as_it_did() {
    let world = World::new();
    world.write("workspace/a.txt", "one\n");
    let mut command = world.command(&["mcp"]);
    command.env_remove("ECLUSA_EXAMPLE_TOOLS");
    let mut client = Client::of(command);
    let mut told = vec![client.initialize("2025-06-18", json!({}))];
    let listed = client.ask("tools/list", json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    let fields = |it: &Value| it.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    told.extend(tools.iter().map(|it| json!({"name": it["name"], "fields": fields(it)})));
    for (name, args) in [
        ("read", json!({"path": "a.txt"})),
        ("read", json!({"path": ".env"})),
        ("read", json!({"pth": "a.txt"})),
        ("raed", json!({})),
        ("write", json!({"path": "b.txt", "content": "hi"})),
        ("bash", json!({"command": "echo hi"})),
    ] {
        told.push(client.ask("tools/call", json!({"name": name, "arguments": args})));
    }
    told.push(client.ask("resources/list", json!({})));
    told.push(client.ask("nothing/known", json!({})));
    let lines: Vec<String> = told.iter().map(Value::to_string).collect();
    same_one("mcp", pretty(&world, &lines.join("\n")));
}
