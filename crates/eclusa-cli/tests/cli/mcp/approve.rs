//! `approve`: the permission prompt tool of Claude Code, by its exact contract.

use serde_json::{Value, json};

use super::client::{Client, asks, text};
use crate::world::World;

fn prompt(tool: &str, input: Value) -> Value {
    json!({"tool_name": tool, "input": input, "tool_use_id": "toolu_1"})
}

/// Exactly one block of text that holds JSON, and no structure beside it: anything else is
/// refused there as an invalid result.
fn said(result: &Value) -> Value {
    assert_eq!(result["content"].as_array().unwrap().len(), 1, "{result}");
    assert_eq!(result["content"][0]["type"], "text");
    assert_eq!(result.get("structuredContent"), None);
    assert_eq!(result["isError"], false);
    serde_json::from_str(text(result)).unwrap()
}

#[test]
fn mcp_approve_says_allow_with_the_input_word_for_word() {
    let world = World::with("mode = \"yolo\"\n");
    // The input is what runs: nothing is taken out of it.
    let input = json!({"command": "curl -H 'token: ghp_0123456789abcdefABCDEF0123456789abcd' x"});
    let mut client = Client::legacy(&world, "2025-11-25", json!({}));
    let result = client.call("approve", prompt("Bash", input.clone()));
    assert_eq!(said(&result), json!({"behavior": "allow", "updatedInput": input}));
}

#[test]
fn mcp_approve_judges_by_what_the_other_call_touches() {
    let world = World::with(
        "mode = \"auto-approve\"\n[[rules]]\ndecision = \"deny\"\ncommand = { contains = \"--no-verify\" }\nreason = \"hooks are there to run\"\n",
    );
    let mut client = Client::modern(&world, json!({}));
    let table = [
        ("Bash", json!({"command": "git commit --no-verify"}), "deny"),
        ("Bash", json!({"command": "git status"}), "allow"),
        ("Read", json!({"file_path": "src/main.rs"}), "allow"),
        ("Read", json!({"file_path": "/etc/shadow"}), "deny"),
        ("Write", json!({"file_path": "../elsewhere", "content": "x"}), "deny"),
        ("Edit", json!({"file_path": ".git/hooks/pre-commit"}), "deny"),
    ];
    for (tool, input, behaviour) in table {
        let said = said(&client.call("approve", prompt(tool, input.clone())));
        assert_eq!(said["behavior"], behaviour, "{tool} {input}: {said}");
        assert_eq!(said["message"].is_string(), behaviour == "deny", "{said}");
    }
}

#[test]
fn mcp_approve_asks_a_person_where_the_rules_say_so() {
    let world = World::new();
    let call = json!({"name": "approve", "arguments": prompt("Bash", json!({"command": "make"}))});
    let mut client = Client::legacy(&world, "2025-06-18", asks());
    for (answer, behaviour) in [("yes", "allow"), ("no", "deny")] {
        let id = client.request("tools/call", call.clone());
        let question = client.asked("elicitation/create");
        assert!(question["params"]["message"].as_str().unwrap().contains("make"));
        client.reply(&question, json!({"action": "accept", "content": {"answer": answer}}));
        assert_eq!(said(&client.answer(id)["result"])["behavior"], behaviour);
    }
    // Without anybody to ask, and with arguments that nobody can read: no.
    let mut client = Client::legacy(&world, "2025-06-18", json!({}));
    let result = client.call("approve", prompt("Bash", json!({"command": "make"})));
    assert_eq!(said(&result)["behavior"], "deny");
    let result = client.call("approve", json!({"tool": "Bash"}));
    assert_eq!(said(&result)["behavior"], "deny");
}

/// D2: a call of our own tools is let on to the gate, which judges it when it comes.
#[test]
fn mcp_approve_lets_calls_of_our_own_tools_on() {
    let world = World::new();
    let mut client = Client::legacy(&world, "2025-11-25", json!({}));
    let input = json!({"path": "README.md", "content": "x"});
    let result = client.call("approve", prompt("mcp__eclusa__write", input.clone()));
    assert_eq!(said(&result), json!({"behavior": "allow", "updatedInput": input}));
    // Another server's tools are not ours, whatever they are called.
    for tool in
        ["mcp__other__write", "mcp__eclusa__", "mcp__eclusa", "write", "mcp__eclusa__evil__write"]
    {
        let said = said(&client.call("approve", prompt(tool, input.clone())));
        assert_eq!(said["behavior"], "deny", "{tool}");
    }
}

/// D2: rules about commands allow another program's shell call where each of its commands is
/// allowed by one, and nothing is written beside them.
#[test]
fn mcp_approve_lets_rules_allow_shell_text() {
    let world = World::with("[[rules]]\ndecision = \"allow\"\ncommand = \"mkdir\"\n");
    let mut client = Client::legacy(&world, "2025-11-25", json!({}));
    for (command, behaviour) in [
        ("mkdir a", "allow"),
        ("mkdir a && mkdir b", "allow"),
        ("mkdir a && rm -r b", "deny"),
        ("mkdir a > b", "deny"),
        ("LD_PRELOAD=./x mkdir a", "deny"),
        ("mkdir $(cat a)", "deny"),
        ("eval mkdir a", "deny"),
        ("rm b", "deny"),
        ("rm -rf /", "deny"),
    ] {
        let said = said(&client.call("approve", prompt("Bash", json!({"command": command}))));
        assert_eq!(said["behavior"], behaviour, "{command}: {said}");
    }
}
