//! Whether a person can be asked through Claude Code: on its terminal, and where an editor or a program
//! hosts it and says that it asks its person. `claude -p` alone asks nobody.

use std::process::Stdio;

use serde_json::json;

use crate::{
    hook::{before, decision},
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
