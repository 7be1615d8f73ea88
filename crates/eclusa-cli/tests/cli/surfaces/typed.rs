//! What a person types: run, feed, exec, undo and resume.

use serde_json::{Value, json};

use super::acts::{Act, Seen};
use crate::world::{Ran, World};

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

/// A reply of `--json`, or what stood in its place.
fn reply(ran: &Ran) -> Seen {
    match serde_json::from_str::<Value>(&ran.out) {
        Ok(reply) if reply["code"].is_string() => {
            Seen::from_code(text(&reply, "code"), text(&reply, "output"), text(&reply, "error"))
        }
        _ => Seen::refused(&format!("exit {}: {}", ran.code, ran.err)),
    }
}

pub(crate) fn run(world: &World, acts: &[Act]) -> Vec<Seen> {
    let one = |act: &Act| {
        let (tool, args) = act.call();
        reply(&world.eclusa(&["--json", "run", tool, &args.to_string()]))
    };
    acts.iter().map(one).collect()
}

/// What the rules would decide; nothing is done.
pub(crate) fn check(world: &World, acts: &[Act]) -> Vec<Seen> {
    let one = |act: &Act| {
        let (tool, args) = act.call();
        let ran = world.eclusa(&["--json", "check", tool, &args.to_string()]);
        let told = serde_json::from_str::<Value>(&ran.out).unwrap_or_default();
        match text(&told, "decision") {
            "allow" => Seen::Done(String::new()),
            "stage" | "ask" => Seen::Asked(ran.out),
            _ => Seen::Denied(format!("{}{}", ran.out, ran.err)),
        }
    };
    acts.iter().map(one).collect()
}

/// All of them are one answer of a model.
pub(crate) fn feed(world: &World, acts: &[Act]) -> Vec<Seen> {
    let block = |act: &Act| {
        let (name, args) = act.call();
        format!("```tool\n{}\n```\n", json!({"name": name, "args": args}))
    };
    let answer: String = acts.iter().map(block).collect();
    let ran = world.piped(&["--json", "feed"], &answer);
    let Ok(told) = serde_json::from_str::<Value>(&ran.out) else {
        return vec![Seen::refused(&format!("exit {}: {}", ran.code, ran.err))];
    };
    let replies = told["replies"].as_array().cloned().unwrap_or_default();
    let seen =
        |it: &Value| Seen::from_code(text(it, "code"), text(it, "output"), text(it, "error"));
    replies.iter().map(seen).collect()
}

pub(crate) fn exec(world: &World, acts: &[Act]) -> Vec<Seen> {
    let one = |act: &Act| {
        let Act::Bash(command) = act else { panic!("only commands are typed: {act:?}") };
        reply(&world.eclusa(&["--json", "exec", "--", command]))
    };
    acts.iter().map(one).collect()
}

/// Takes back what was done before, as often as there are acts: undo, redo, undo, …
pub(crate) fn undo(world: &World, acts: &[Act]) -> Vec<Seen> {
    let one = |at: usize| {
        reply(&world.eclusa(&["--json", if at.is_multiple_of(2) { "undo" } else { "redo" }]))
    };
    (0..acts.len()).map(one).collect()
}

/// Takes up what was parked before.
pub(crate) fn resume(world: &World, acts: &[Act]) -> Vec<Seen> {
    let one = |at: usize| reply(&world.eclusa(&["--json", "resume", &(at + 1).to_string()]));
    (0..acts.len()).map(one).collect()
}

/// Parks the acts, each of which needs a yes.
pub(crate) fn park(world: &World, acts: &[Act]) {
    for act in acts {
        let (tool, args) = act.call();
        let args = args.to_string();
        let ran = world.eclusa(&["--mode", "confirm-all", "run", "--park", tool, &args]);
        assert_eq!(ran.code, 4, "{ran:?}");
    }
}

/// Says yes to all that is parked.
pub(crate) fn say_yes(world: &World, acts: &[Act]) {
    for at in 1..=acts.len() {
        let ran = world.eclusa(&["approvals", "yes", &at.to_string()]);
        assert_eq!(ran.code, 0, "{ran:?}");
    }
}

/// Does the acts for good, whoever would be asked.
pub(crate) fn done_before(world: &World, acts: &[Act]) {
    for act in acts {
        let (tool, args) = act.call();
        let ran = world.eclusa(&["--mode", "yolo", "run", tool, &args.to_string()]);
        assert_eq!(ran.code, 0, "{ran:?}");
    }
}
