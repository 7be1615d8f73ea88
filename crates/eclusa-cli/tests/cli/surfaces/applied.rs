//! What is made in a scratch layer or in the sandbox, and applied later: a job that is rehearsed, its plan, and runs
//! that wait for a yes.

use serde_json::{Value, json};

use super::acts::{Act, Seen};
use crate::world::{Ran, World};

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

/// The answer of a model that does all of it.
fn answer(acts: &[Act]) -> String {
    let block = |act: &Act| {
        let (name, args) = act.call();
        format!("```tool\n{}\n```\n", json!({"name": name, "args": args}))
    };
    acts.iter().map(block).collect()
}

fn values(ran: &Ran) -> Vec<Value> {
    serde_json::Deserializer::from_str(&ran.out).into_iter().map_while(Result::ok).collect()
}

/// What the plan says of each.
pub(crate) fn rehearsal(world: &World, acts: &[Act]) -> Vec<Seen> {
    let ran = world.piped(&["--dry-run", "--json", "feed"], &answer(acts));
    let values = values(&ran);
    let (Some(told), Some(plan)) = (values.first(), values.last()) else {
        return vec![Seen::refused(&format!("exit {}: {}", ran.code, ran.err))];
    };
    let replies = told["replies"].as_array().into_iter().flatten();
    let calls = plan["plan"].as_array().into_iter().flatten();
    let seen = |(call, reply): (&Value, &Value)| match text(call, "would") {
        "run" => Seen::Done(text(reply, "output").to_owned()),
        "ask" => Seen::Asked(call["because"].to_string()),
        "fail" => Seen::Failed(text(reply, "error").to_owned()),
        _ => Seen::Denied(call["because"].to_string()),
    };
    calls.zip(replies).map(seen).collect()
}

/// Each act is a job of its own, whose plan is applied.
pub(crate) fn plans(world: &World, acts: &[Act]) -> Vec<Seen> {
    acts.iter().map(|act| plan(world, std::slice::from_ref(act))).collect()
}

/// All of them are one job.
pub(crate) fn plan(world: &World, acts: &[Act]) -> Seen {
    let ran = world.piped(&["--dry-run", "--json", "feed", "--apply"], &answer(acts));
    match values(&ran).last() {
        Some(reply) if reply["code"].is_string() => {
            Seen::from_code(text(reply, "code"), text(reply, "output"), text(reply, "error"))
        }
        _ => Seen::Denied(format!("exit {}: {}{}", ran.code, ran.out, ran.err)),
    }
}

/// Runs each in the sandbox, where its changes wait.
pub(crate) fn ran_before(world: &World, acts: &[Act]) {
    let mut calls = Vec::new();
    for act in acts {
        let (tool, args) = act.call();
        let ran = world.eclusa(&["--json", "run", "--park", tool, &args.to_string()]);
        let told = ran.json();
        assert!(text(&told, "error").starts_with("ran; its changes wait"), "{ran:?}");
        calls.push(told["number"].clone());
    }
    world.write("calls.json", &Value::from(calls).to_string());
}

/// Somebody says yes to each.
pub(crate) fn yes(world: &World, acts: &[Act]) -> Vec<Seen> {
    let one = |at: usize| {
        let ran = world.eclusa(&["approvals", "yes", &at.to_string()]);
        match ran.code {
            0 if ran.out.contains("applied as call") => Seen::Done(ran.out),
            _ => Seen::refused(&format!("exit {}: {}{}", ran.code, ran.out, ran.err)),
        }
    };
    (1..=acts.len()).map(one).collect()
}

/// Whoever typed it applies each.
pub(crate) fn apply(world: &World, acts: &[Act]) -> Vec<Seen> {
    let calls: Vec<u64> = serde_json::from_str(&world.read("calls.json")).unwrap();
    assert_eq!(calls.len(), acts.len());
    let one = |call: &u64| {
        let ran = world.eclusa(&["--json", "changes", "apply", &call.to_string()]);
        match serde_json::from_str::<Value>(&ran.out) {
            Ok(reply) if reply["code"].is_string() => {
                Seen::from_code(text(&reply, "code"), text(&reply, "output"), text(&reply, "error"))
            }
            _ => Seen::refused(&format!("exit {}: {}{}", ran.code, ran.out, ran.err)),
        }
    };
    calls.iter().map(one).collect()
}
