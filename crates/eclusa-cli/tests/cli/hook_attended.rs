//! Whether a person can be asked through Claude Code: on its terminal, and where an editor or a program
//! hosts it and says that it asks its person. `claude -p` alone asks nobody.

use std::process::Stdio;

use serde_json::json;

use crate::{
    hook::{before, claude, decision},
    world::{World, run},
};

#[test]
fn an_agent_in_an_editor_is_attended() {
    let world = World::with("[[rules]]\ndecision = \"ask\"\ncommand = \"touch\"\n");
    let mut call =
        before(&world, "Write", json!({"file_path": world.path("workspace/new"), "content": "x"}));
    call["permission_mode"] = "default".into();
    // What an agent is started with, as its process shows it.
    for (words, expected) in [
        (&["--permission-prompt-tool", "stdio"][..], "ask"),
        (&["--permission-prompt-tool=mcp__x__y"], "ask"),
        (&["-p", "go"], "deny"),
    ] {
        #[expect(clippy::disallowed_methods, reason = "the test plays the agent")]
        let mut agent = std::process::Command::new("sh");
        agent.args(["-c", "read line", "claude"]).args(words).stdin(Stdio::piped());
        let mut agent = agent.spawn().unwrap();
        let mut hook = world.command(&["hook", "claude-code"]);
        hook.env("CLAUDE_CODE_SESSION_ATTENDED", "0").env("CLAUDE_PID", agent.id().to_string());
        let ran = run(hook, &call.to_string());
        assert_eq!(decision(&ran).0, expected, "{words:?} {ran:?}");
        agent.kill().unwrap();
        agent.wait().unwrap();
    }
}

/// Code that an agent runs in itself is in no sandbox: a mode that lets commands be tried does not answer for it.
#[test]
fn an_interpreter_of_the_agent_is_asked_about_under_auto_approve() {
    let world = World::with("mode = \"auto-approve\"\n");
    let input = json!({"code": "require('fs').rmSync('/srv', {recursive: true})"});
    let mut call = before(&world, "REPL", input.clone());
    call["permission_mode"] = "default".into();
    let mut hook = world.command(&["hook", "claude-code"]);
    hook.env("CLAUDE_CODE_SESSION_ATTENDED", "1");
    let (said, why) = decision(&run(hook, &call.to_string()));
    assert_eq!(said, "ask", "{why}");
    assert!(why.contains("no sandbox holds it"), "{why}");
    let (said, _) = decision(&claude(&world, &before(&world, "REPL", input.clone())));
    assert_eq!(said, "deny", "with nobody there");
    world.write("config/eclusa/eclusa.toml", "mode = \"yolo\"\n");
    assert_eq!(decision(&claude(&world, &before(&world, "REPL", input))).0, "allow");
}
