//! Our tools over MCP: to a client beside us, and to a guarded agent in its sandbox.

use serde_json::{Value, json};

use super::acts::{Act, Seen};
use crate::{
    mcp::client::Client,
    world::{World, run},
};

/// An answer to `tools/call`.
fn answered(answer: &Value) -> Seen {
    if let Some(why) = answer["error"]["message"].as_str() {
        return Seen::refused(why);
    }
    let result = &answer["result"];
    let text = result["content"][0]["text"].as_str().unwrap_or_default();
    let code = result["_meta"]["eclusa/code"].as_str().unwrap_or_default();
    Seen::from_code(code, text, text)
}

pub(crate) fn mcp(world: &World, acts: &[Act]) -> Vec<Seen> {
    let mut client = Client::legacy(world, "2025-06-18", json!({}));
    let mut one = |act: &Act| {
        let (name, args) = act.call();
        answered(&client.ask("tools/call", json!({"name": name, "arguments": args})))
    };
    let seen = acts.iter().map(&mut one).collect();
    client.close();
    seen
}

/// An agent without tools of its own: it makes the calls that it finds in the workspace.
const AGENT: &str = r#"#!/usr/bin/env python3
import json, os, urllib.request

server = json.load(open(os.environ["CLAUDE_CONFIG_DIR"] + "/eclusa-mcp.json"))
url = server["mcpServers"]["eclusa"]["url"]
session = None

def rpc(method, params):
    global session
    headers = {"content-type": "application/json", "accept": "application/json, text/event-stream",
               "authorization": "Bearer " + os.environ["ECLUSA_GUARD_TOKEN"]}
    if session:
        headers.update({"mcp-session-id": session, "mcp-protocol-version": "2025-06-18"})
    message = {"jsonrpc": "2.0", "method": method, "params": params}
    if not method.startswith("notifications/"):
        message["id"] = 1
    request = urllib.request.Request(url, json.dumps(message).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        session = session or answer.headers.get("mcp-session-id")
        for line in answer:
            line = line.decode().strip().removeprefix("data:").strip()
            if line.startswith("{") and ("result" in line or "error" in line):
                value = json.loads(line)
                if "id" in value and "method" not in value:
                    return value

rpc("initialize", {"protocolVersion": "2025-06-18", "capabilities": {},
                   "clientInfo": {"name": "claude-code", "version": "1"}})
rpc("notifications/initialized", {})
for call in json.load(open("acts.json")):
    print("answer " + json.dumps(rpc("tools/call", call)), flush=True)
"#;

pub(crate) fn guard(world: &World, acts: &[Act]) -> Vec<Seen> {
    std::fs::create_dir_all(world.path("home/bin")).unwrap();
    world.program("home/bin/claude", AGENT);
    let call = |act: &Act| {
        let (name, args) = act.call();
        json!({"name": name, "arguments": args})
    };
    let calls: Vec<Value> = acts.iter().map(call).collect();
    world.write("workspace/acts.json", &Value::from(calls).to_string());
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = world.command(&["guard", "--live", "--", "claude", "-p", "go"]);
    command
        .env("PATH", format!("{}:{path}", world.path("home/bin").display()))
        // Nobody asks the model.
        .env("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
        .env("ANTHROPIC_API_KEY", "a key");
    let ran = run(command, "");
    let answers = ran.out.lines().filter_map(|it| it.strip_prefix("answer "));
    let seen: Vec<Seen> = answers.map(|it| answered(&serde_json::from_str(it).unwrap())).collect();
    if seen.is_empty() {
        return vec![Seen::refused(&format!("exit {}: {}{}", ran.code, ran.out, ran.err))];
    }
    seen
}
