//! Events of one agent at the hook of another: VS Code runs hooks in the settings of Claude Code and of
//! Copilot CLI, and Cursor those of Claude Code. They are judged, and answered in their own form.

use serde_json::{Value, json};

use crate::{
    hook::send,
    world::{Ran, World},
};

/// An event of VS Code, in the spelling of its manual or the one that was seen.
fn vscode(world: &World, name: &str, tool: &str, input: &Value, snake: bool) -> Value {
    let mut event = json!({
        "timestamp": "2026-11-18T09:45:06.115Z", "cwd": world.path("workspace"),
        "tool_name": tool, "tool_input": input, "tool_use_id": "tool-1",
    });
    let names =
        if snake { ["hook_event_name", "session_id"] } else { ["hookEventName", "sessionId"] };
    event[names[0]] = name.into();
    event[names[1]] = "v-1".into();
    event
}

fn decision(ran: &Ran) -> String {
    ran.json()["hookSpecificOutput"]["permissionDecision"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn events_of_vs_code_are_judged_whoever_brings_them() {
    let world = World::with("[[rules]]\ndecision = \"deny\"\ncommand = \"touch denied\"\n");
    world.write("workspace/a.txt", "one\n");
    let path = |name: &str| world.path("workspace").join(name);
    for agent in ["claude-code", "copilot", "vscode"] {
        for snake in [false, true] {
            let before = |tool: &str, input: Value| {
                send(&world, agent, &vscode(&world, "PreToolUse", tool, &input, snake))
            };
            let read = before("read_file", json!({"filePath": path("a.txt")}));
            assert_eq!((read.code, decision(&read).as_str()), (0, "allow"), "{agent} {read:?}");
            for (tool, input) in [
                ("run_in_terminal", json!({"command": "touch denied"})),
                ("read_file", json!({"filePath": path(".env")})),
                ("run_in_terminal", json!({"command": ["ls"]})),
            ] {
                let denied = before(tool, input.clone());
                assert_eq!(decision(&denied), "deny", "{agent} {input} {denied:?}");
                let code = if agent == "vscode" { 0 } else { 2 };
                assert_eq!((denied.code, denied.err.is_empty()), (code, code == 0), "{denied:?}");
            }
            // Its own prompt asks what must be asked.
            let asked = before("some_tool_of_an_extension", json!({"x": 1}));
            assert_eq!(decision(&asked), "ask", "{agent} {asked:?}");
        }
    }
    let records = world.records();
    assert!(records.iter().all(|it| it["client"] == "vscode"), "{records:?}");
}

#[test]
fn what_came_back_is_told_once_and_redacted() {
    let world = World::new();
    world.write("workspace/a.txt", "one\n");
    let input = json!({"filePath": world.path("workspace/a.txt")});
    for agent in ["claude-code", "copilot"] {
        let before = vscode(&world, "PreToolUse", "read_file", &input, false);
        assert_eq!(decision(&send(&world, agent, &before)), "allow");
    }
    let mut after = vscode(&world, "PostToolUse", "read_file", &input, false);
    after["tool_response"] = "key ghp_0123456789abcdefghijABCDEFGHIJ012345".into();
    let first = send(&world, "claude-code", &after);
    assert!(first.json()["reason"].as_str().unwrap().contains("[redacted:"), "{first:?}");
    let second = send(&world, "copilot", &after);
    assert_eq!((second.code, second.out.as_str()), (0, ""), "{second:?}");
    let unasked = |it: &&Value| it["args"]["outcome"] == "unasked";
    assert_eq!(world.records().iter().filter(unasked).count(), 0);
}

#[test]
fn events_of_cursor_at_the_hook_of_claude_code_are_answered_in_their_form() {
    let world = World::new();
    world.write("workspace/a.txt", "one\n");
    let event = |tool: &str, input: Value| {
        let event = json!({
            "hook_event_name": "preToolUse", "conversation_id": "c", "generation_id": "g",
            "cursor_version": "3.1.0", "workspace_roots": [world.path("workspace")],
            "tool_name": tool, "tool_input": input, "tool_use_id": "t",
        });
        send(&world, "claude-code", &event)
    };
    let read = event("Read", json!({"file_path": world.path("workspace/a.txt")}));
    assert_eq!((read.code, &read.json()["permission"]), (0, &"allow".into()), "{read:?}");
    for (tool, path) in [("Read", "workspace/.env"), ("Elsewhere", "workspace/a.txt")] {
        let denied = event(tool, json!({"file_path": world.path(path)}));
        assert_eq!((denied.code, &denied.json()["permission"]), (2, &"deny".into()), "{denied:?}");
        assert!(!denied.err.trim().is_empty(), "{denied:?}");
    }
}

/// Copilot CLI and Gemini CLI run a call whose hook ran out of time. The second hook lets on what the
/// first has allowed, as it is now, and nothing else.
#[test]
fn a_second_hook_refuses_what_the_first_has_not_judged() {
    eclusa_testing::needs!(Namespaces);
    let world = World::with("[[rules]]\ndecision = \"allow\"\ncommand = \"touch\"\n");
    world.write("workspace/a.txt", "one\n");
    let cwd = world.path("workspace");
    let copilot = |tool: &str, args: &Value| json!({"sessionId": "s", "timestamp": 1, "cwd": cwd, "toolName": tool, "toolArgs": args});
    let gemini = |tool: &str, args: &Value| {
        json!({"session_id": "s", "cwd": cwd, "hook_event_name": "BeforeTool", "tool_name": tool,
            "tool_input": args})
    };
    let second = |agent: &str, event: &Value| {
        let ran = world.piped(&["hook", agent, "--second"], &event.to_string());
        assert_eq!(ran.code, 0, "{agent} {ran:?}");
        ran.out.contains("deny")
    };
    let command = json!({"command": "touch new", "description": "x"});
    let read = [("copilot", "view", "path"), ("gemini", "read_file", "file_path")];
    for (agent, tool, field) in read {
        let event = |tool: &str, args: &Value| match agent {
            "copilot" => copilot(tool, args),
            _ => gemini(tool, args),
        };
        let shell = if agent == "copilot" { "bash" } else { "run_shell_command" };
        // Nobody has judged these.
        assert!(second(agent, &event(shell, &command)), "{agent}");
        let file = json!({field: cwd.join("a.txt")});
        assert!(second(agent, &event(tool, &file)), "{agent}");
        let first = send(&world, agent, &event(shell, &command));
        let rewritten = match agent {
            "copilot" => first.json()["modifiedArgs"].clone(),
            _ => first.json()["hookSpecificOutput"]["tool_input"].clone(),
        };
        assert!(rewritten["command"].as_str().unwrap().contains("--ticket"), "{first:?}");
        assert!(!second(agent, &event(shell, &rewritten)), "{agent}");
        assert!(second(agent, &event(shell, &command)), "{agent}: the one before it was rewritten");
        assert_eq!(send(&world, agent, &event(tool, &file)).code, 0);
        assert!(!second(agent, &event(tool, &file)), "{agent}");
        assert!(second(agent, &event(tool, &json!({field: cwd.join(".env")}))), "{agent}");
    }
    let own = copilot("eclusa-read", &json!({"path": "a.txt"}));
    assert!(!second("copilot", &own), "it passes the gate of our server");
}
