//! Other agents: Claude Code's hooks, and the tickets that its commands run with.

use serde_json::{Value, json};

use super::acts::{Act, Seen};
use crate::{
    hook::{claude, event, shell},
    world::World,
};

/// The act as Claude Code's own tool does it.
fn own(world: &World, act: &Act) -> (&'static str, Value) {
    match act {
        Act::Read(path) => ("Read", json!({"file_path": world.path("workspace").join(path)})),
        Act::Write(path, text) => {
            let path = world.path("workspace").join(path);
            ("Write", json!({"file_path": path, "content": text}))
        }
        Act::Bash(command) => ("Bash", json!({"command": command})),
        Act::Fetch(url) => ("WebFetch", json!({"url": url, "prompt": "read it"})),
        Act::Own => panic!("it has no tool of ours"),
    }
}

/// The verdict, and what the agent runs instead, if that is what it shall.
fn judged(world: &World, act: &Act) -> (Seen, Option<String>) {
    let (tool, input) = own(world, act);
    let ran = claude(world, &event(world, "PreToolUse", tool, input));
    let answer = serde_json::from_str::<Value>(&ran.out).unwrap_or_default();
    let answer = &answer["hookSpecificOutput"];
    let why = answer["permissionDecisionReason"].as_str().unwrap_or_default();
    let line = answer["updatedInput"]["command"].as_str().map(str::to_owned);
    match answer["permissionDecision"].as_str() {
        Some("allow") => (Seen::Done(String::new()), line),
        Some("ask") => (Seen::Asked(why.to_owned()), None),
        _ => (Seen::refused(&format!("{why}{}", ran.err)), None),
    }
}

/// What Claude Code does with its own tools, and what its model sees of it.
pub(crate) fn hook(world: &World, acts: &[Act]) -> Vec<Seen> {
    let one = |act: &Act| {
        let (seen, _) = judged(world, act);
        let Seen::Done(_) = seen else { return seen };
        let output = match act {
            Act::Read(path) => world.read(&format!("workspace/{path}")),
            Act::Write(path, text) => {
                world.write(&format!("workspace/{path}"), text);
                "written".to_owned()
            }
            Act::Fetch(_) => "a page".to_owned(),
            Act::Bash(_) | Act::Own => panic!("commands run with a ticket"),
        };
        let (tool, input) = own(world, act);
        let mut after = event(world, "PostToolUse", tool, input);
        after["tool_response"] = json!({"type": "text", "file": {"content": output}});
        let ran = claude(world, &after);
        let answer = serde_json::from_str::<Value>(&ran.out).unwrap_or_default();
        match &answer["hookSpecificOutput"]["updatedToolOutput"] {
            Value::Null => Seen::Done(output),
            shown => Seen::Done(shown.to_string()),
        }
    };
    acts.iter().map(one).collect()
}

/// Commands: the hook puts ours in their place, and the agent's shell runs that.
pub(crate) fn ticket(world: &World, acts: &[Act]) -> Vec<Seen> {
    let one = |act: &Act| {
        let Act::Bash(_) = act else { return hook(world, std::slice::from_ref(act)).remove(0) };
        match judged(world, act) {
            (Seen::Done(_), Some(line)) => ran(&shell(world, &line)),
            (Seen::Done(_), None) => panic!("it runs without a ticket: {act:?}"),
            (seen, _) => seen,
        }
    };
    acts.iter().map(one).collect()
}

/// What came of a command that ran with a ticket.
pub(crate) fn ran(ran: &crate::world::Ran) -> Seen {
    match ran.code {
        0 => Seen::Done(format!("{}{}", ran.out, ran.err)),
        3 | 4 => Seen::refused(&format!("{}{}", ran.out, ran.err)),
        _ => Seen::Failed(format!("{}{}", ran.out, ran.err)),
    }
}
