//! Running ahead in agents that ask on their terminal: by a message beside the rewritten command (Gemini CLI),
//! and by a rule of their own (Codex).

use serde_json::{Value, json};

use crate::{
    ahead::{on_a_terminal, shell_named},
    hook::shell,
    world::World,
};

const EDIT: &str = "sed -i s/one/two/ a.txt";

fn world() -> World {
    let world = World::new();
    world.write("workspace/a.txt", "one\n");
    world
}

fn event(world: &World, name: &str, tool: &str, command: &str) -> Value {
    json!({
        "hook_event_name": name, "session_id": "s-1", "turn_id": "t-1", "cwd": world.path("workspace"),
        "tool_name": tool, "tool_input": {"command": command}, "permission_mode": "default",
    })
}

fn gemini(world: &World, words: &[&str], command: &str, turn: &str) -> Value {
    let program = shell_named(world, "0.61.0");
    let event = event(world, "BeforeTool", "run_shell_command", command);
    let agent = (program.to_str().unwrap(), words);
    on_a_terminal(world, agent, &format!("gemini {turn}"), &event)
}

fn input(answer: &Value) -> String {
    let input = answer["hookSpecificOutput"]["tool_input"]["command"].as_str();
    input.unwrap_or_else(|| panic!("{answer}")).to_owned()
}

/// The ticket is good once the second hook has seen exactly its line.
#[test]
fn gemini_is_asked_by_a_message_and_the_second_hook_sees_the_same_line() {
    eclusa_testing::needs!(Namespaces);
    let world = world();
    let unseen = gemini(&world, &[], EDIT, "");
    assert_eq!(unseen["decision"], "ask", "{unseen}");
    assert!(unseen["systemMessage"].as_str().unwrap().contains("+ two"), "{unseen}");
    let ran = shell(&world, &input(&unseen));
    assert!(ran.code == 4 && ran.err.contains("nobody was asked"), "{ran:?}");
    let line = input(&gemini(&world, &[], EDIT, ""));
    let longer = gemini(&world, &[], &format!("{line}; touch evil"), "--second");
    assert_eq!(longer["decision"], "deny", "{longer}");
    assert_eq!(gemini(&world, &[], &line, "--second"), Value::Null);
    assert_eq!(world.read("workspace/a.txt"), "one\n");
    assert_eq!(shell(&world, &line).code, 0);
    assert_eq!(world.read("workspace/a.txt"), "two\n");
}

/// Without its person Gemini CLI hangs at a question.
#[test]
fn nothing_runs_ahead_in_gemini_where_nobody_sits() {
    eclusa_testing::needs!(Namespaces);
    let world = world();
    for words in [&["-p", "go"][..], &["--prompt=go"]] {
        let answer = gemini(&world, words, EDIT, "");
        assert_eq!(answer["decision"], "allow", "{answer}");
        assert!(shell(&world, &input(&answer)).err.contains("nothing was applied"));
    }
}

/// Codex asks by a rule of its own. What it runs then tells what was done, and the hook after the call takes it where
/// Codex was seen to ask.
#[test]
fn codex_asks_by_its_own_rule_and_the_end_of_the_call_takes_what_was_shown() {
    eclusa_testing::needs!(Namespaces);
    let world = world();
    let program = shell_named(&world, "0.166.0");
    let hook =
        |event: &Value| on_a_terminal(&world, (program.to_str().unwrap(), &[]), "codex", event);
    let call = |name: &str, id: &str, command: &str| {
        let mut event = event(&world, name, "Bash", command);
        (event["tool_use_id"], event["tool_response"]) = (id.into(), "done".into());
        event
    };
    // Without our rules there it would run unasked.
    let plain = hook(&call("PreToolUse", "c-0", EDIT));
    assert!(!plain.to_string().contains("--ask"), "{plain}");
    assert_eq!(world.eclusa(&["install", "codex"]).code, 0);
    let told = |id: &str| {
        let answer = hook(&call("PreToolUse", id, EDIT));
        assert!(answer["systemMessage"].as_str().unwrap().contains("+ two"), "{answer}");
        answer["hookSpecificOutput"]["updatedInput"]["command"].as_str().unwrap().to_owned()
    };
    // Nobody was asked.
    let line = told("c-1");
    let ran = shell(&world, &line);
    assert!(ran.code == 0 && ran.err.contains("applied when this call ends"), "{ran:?}");
    let ended = hook(&call("PostToolUse", "c-1", &line));
    assert!(ended["reason"].as_str().unwrap().contains("not applied"), "{ended}");
    assert_eq!(world.read("workspace/a.txt"), "one\n");
    let line = told("c-2");
    assert_eq!(hook(&event(&world, "PermissionRequest", "Bash", &line)), Value::Null);
    assert_eq!(shell(&world, &line).code, 0);
    assert_eq!(world.read("workspace/a.txt"), "one\n", "telling applies nothing");
    assert_eq!(hook(&call("PostToolUse", "c-2", &line)), Value::Null);
    assert_eq!(world.read("workspace/a.txt"), "two\n");
    assert_eq!(world.eclusa(&["log", "verify"]).code, 0);
}
