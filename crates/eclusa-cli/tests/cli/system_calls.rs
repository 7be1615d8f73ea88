//! System calls of what agents start for each of their calls, counted and held against a budget: a
//! count is the same on a loaded machine, and shows work that crept into a start.

use std::{collections::BTreeMap, fs::File, process::Stdio};

use eclusa_sandbox::test_support::system_calls;
use serde_json::json;

use crate::world::World;

/// Whoever needs more writes the new number here, in the same commit as the reason.
const BUDGET: [(&str, u64); 4] =
    [("check", 240), ("check --jsonl", 190), ("hook", 360), ("mcp", 380)];

/// So much more than the budget is not worth a word: what one system's libraries need more than
/// another's, and what depends on which thread is quicker.
fn room(budget: u64) -> u64 {
    budget + (budget / 5).max(60)
}

/// A count of the second run in a place: the first finds out what this machine can do.
fn counted(world: &World, args: &[&str], input: &str) -> Option<u64> {
    let input = world.write("input", input);
    let command = || {
        let mut command = world.command(args);
        // Other tests leave layers in the directory of all, which a start looks through.
        command.env("TMPDIR", world.path("home"));
        let input = File::open(&input).unwrap();
        command.stdin(input).stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    assert!(command().status().unwrap().code().is_some_and(|it| it != 1), "{args:?}");
    let traced = match system_calls(&mut command()) {
        Ok(traced) => traced,
        Err(err) => {
            eprintln!("nothing is counted: nobody can be traced here ({err})");
            return None;
        }
    };
    assert!(traced.code.is_some_and(|it| it != 1), "{args:?}: {traced:?}");
    Some(traced.steady())
}

#[test]
fn no_start_makes_more_system_calls_than_its_budget() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let args = json!({"command": "git status"}).to_string();
    let line = json!({"name": "bash", "input": {"command": "git status"}}).to_string();
    let event = json!({
        "session_id": "s-1",
        "cwd": world.path("workspace"),
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "git status"},
        "tool_use_id": "t-1",
    });
    let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}});
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"});
    let mut counts = BTreeMap::new();
    for (name, args, input) in [
        ("check", vec!["check", "bash", &args], String::new()),
        ("check --jsonl", vec!["check", "--jsonl"], line),
        ("hook", vec!["hook", "claude-code"], event.to_string()),
        ("mcp", vec!["mcp"], format!("{initialize}\n{initialized}\n{list}\n")),
    ] {
        let Some(count) = counted(&world, &args, &input) else { return };
        counts.insert(name, count);
    }
    let over = |(name, budget): &(&str, u64)| counts[name] > room(*budget);
    assert!(!BUDGET.iter().any(over), "{counts:?}, of {BUDGET:?}: find out why");
}
