//! A model of our own that follows a script: `ask` and `chat`.

use serde_json::{Value, json};

use super::acts::{Act, Seen};
use crate::world::World;

/// A model that makes one call after the other, each in an answer of its own.
fn script(world: &World, acts: &[Act]) -> String {
    let says = |act: &Act| {
        let (name, args) = act.call();
        format!("## says\nNow.\n```tool\n{}\n```\n", json!({"name": name, "args": args}))
    };
    let text: String = acts.iter().map(says).collect();
    format!("script:{}", world.write("script.md", &format!("{text}## says\nDone.\n")).display())
}

pub(crate) fn ask(world: &World, acts: &[Act]) -> Vec<Seen> {
    let model = script(world, acts);
    let ran = world.eclusa(&["ask", "--jsonl", "--model", &model, "go"]);
    let events = ran.out.lines().filter_map(|it| serde_json::from_str::<Value>(it).ok());
    let seen: Vec<Seen> =
        events.filter(|it| it["event"] == "answer").map(|it| answer(&it)).collect();
    if seen.is_empty() {
        return vec![Seen::refused(&format!("exit {}: {}", ran.code, ran.err))];
    }
    seen
}

fn answer(event: &Value) -> Seen {
    let text = |name: &str| event[name].as_str().unwrap_or_default();
    Seen::from_code(text("code"), text("output"), text("error"))
}

/// What the model of a chat was told stands in its session.
pub(crate) fn chat(world: &World, acts: &[Act]) -> Vec<Seen> {
    let model = script(world, acts);
    let ran = world.piped(&["chat", "--plain", "--model", &model, "go"], "/quit\n");
    let shown = world.eclusa(&["sessions", "show"]).out;
    let told = shown.lines().skip_while(|it| *it != "```tool_result");
    let results = told.filter(|it| it.starts_with("{\"code\":"));
    let seen: Vec<Seen> = results.map(|it| answer(&serde_json::from_str(it).unwrap())).collect();
    if seen.is_empty() {
        return vec![Seen::refused(&format!("exit {}: {}{}", ran.code, ran.out, ran.err))];
    }
    seen
}
