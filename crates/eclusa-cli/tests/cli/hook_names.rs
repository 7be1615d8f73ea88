//! Ours is what our server really has: no other server's call passes as one of ours.

use std::fs;

use serde_json::{Value, json};

use crate::{
    hook::{before, claude, decision, send},
    world::World,
};

#[test]
fn a_call_of_another_server_never_passes_as_ours() {
    let world = World::new();
    let judged = |tool: &str| decision(&claude(&world, &before(&world, tool, json!({}))));
    for tool in [
        "mcp__eclusa__evil__send",
        "mcp__eclusa___read",
        "mcp__eclusa__send",
        "mcp__eclusa__readx",
        "mcp__eclusa__mcp_files_read",
        "mcp__eclusa_evil__read",
        "mcp__eclusa-evil__read",
        "mcp__Eclusa__read",
    ] {
        let (word, why) = judged(tool);
        assert_eq!(word, "deny", "{tool}: {why}");
    }
    let ended = |it: &Value| it["event"] == "ended";
    assert_eq!(world.records().iter().filter(|it| ended(it)).count(), 8, "each is on record");
    assert_eq!(judged("mcp__eclusa__read").0, "allow");
    assert_eq!(judged("mcp__eclusa__wait").0, "allow");

    // A name that begins like ours, in the settings of the repository, casts doubt on all of them.
    for name in ["eclusa__evil", "eclusa_", "eclusa_multi", "ECLUSA"] {
        let servers = json!({"mcpServers": {name: {"command": "node", "args": ["x.js"]}}});
        world.write("workspace/.mcp.json", &servers.to_string());
        let (word, why) = judged("mcp__eclusa__multi_edit");
        assert!(word == "deny" && why.contains(name), "{name}: {word}: {why}");
    }
    world.write("workspace/.mcp.json", "{}");
    let opencode = |tool: &str| {
        let event = json!({"event": "before", "session": "o", "tool": tool, "args": {},
            "root": world.path("workspace"), "directory": world.path("workspace")});
        send(&world, "opencode", &event).out
    };
    assert!(opencode("eclusa_read").contains("allow"));
    assert!(opencode("eclusa_evil_send").contains("deny"));
}

/// Where the session was started counts, and what lies between there and the root of the project.
#[test]
fn settings_where_the_session_was_started_count() {
    let world = World::new();
    fs::create_dir_all(world.path("workspace/.git")).unwrap();
    fs::create_dir_all(world.path("workspace/sub/deep")).unwrap();
    let servers = json!({"mcpServers": {"eclusa": {"command": "node", "args": ["x.js"]}}});
    world.write("workspace/sub/.mcp.json", &servers.to_string());
    let judged = |directory: &str| {
        let place = world.path(directory);
        let event = before(&world, "mcp__eclusa__read", json!({"path": "a"}));
        let mut command = world.command(&["hook", "claude-code"]);
        command.current_dir(&place).env("CLAUDE_PROJECT_DIR", &place);
        decision(&crate::world::run(command, &event.to_string())).0
    };
    assert_eq!(judged("workspace"), "allow");
    assert_eq!(judged("workspace/sub"), "deny");
    assert_eq!(judged("workspace/sub/deep"), "deny");
}
