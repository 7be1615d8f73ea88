//! One cell of the table: a matter in a way, played with its mechanism and without it.

use std::fmt::Write as _;

use regex::Regex;
use serde_json::Value;

use super::{
    Matter, Way, agents, at_once, in_front,
    matters::{self, Play},
    queued,
    somebody::Somebody,
};
use crate::world::World;

/// What was seen of a play.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Seen {
    asked: String,
    answered: String,
    applied: String,
    told: String,
    log: String,
}

/// What was seen of both plays, or what is wrong with them.
pub(crate) fn play(way: Way, matter: Matter) -> Result<String, String> {
    let (on, off) = (once(way, matter, false), once(way, matter, true));
    if on == off {
        return Err(format!("is the same with its mechanism off: {on:?}"));
    }
    let expected = matters::expected(matter, way);
    if on.applied != expected {
        return Err(format!("applied is `{}` and not `{expected}`: {on:?}", on.applied));
    }
    let mut text = String::new();
    for (name, with, without) in [
        ("asked", &on.asked, &off.asked),
        ("answered", &on.answered, &off.answered),
        ("applied", &on.applied, &off.applied),
        ("told", &on.told, &off.told),
        ("log", &on.log, &off.log),
    ] {
        writeln!(text, "{name:9} {with}").map_err(|err| err.to_string())?;
        if with != without {
            writeln!(text, "      off {without}").map_err(|err| err.to_string())?;
        }
    }
    Ok(text)
}

fn once(way: Way, matter: Matter, off: bool) -> Seen {
    let Play { config, files, wanted, answers, look } = matters::play(matter, way, off);
    let world = World::with(&config);
    files(&world);
    let who = Somebody::new(&world, &answers);
    let told = match (matter, way) {
        (Matter::TwoAtOnce, _) => at_once::play(way, &who, &wanted, off),
        (_, Way::Terminal) => in_front::terminal(&who, &wanted),
        (_, Way::Chat) => in_front::chat(&who, &wanted),
        (_, Way::Page | Way::Queue | Way::Webhook | Way::Phone) => queued::play(way, &who, &wanted),
        (_, Way::Form) => agents::form(&who, &wanted),
        (_, Way::PromptTool) => agents::prompt_tool(&who, &wanted),
        (_, Way::AgentPrompt) => agents::agent_prompt(&who, &wanted),
        (_, Way::Editor) => agents::editor(&who, &wanted),
    };
    let mut log = log(&world);
    if matter == Matter::TwoAtOnce {
        // Nobody says which of the two is first.
        log.sort();
    }
    Seen {
        asked: who.asked(),
        answered: plain(&world, &who.told().join("; ")),
        applied: look(&world, &told),
        told: plain(&world, &told),
        log: log.join("; "),
    }
}

/// A text without what differs from run to run, on one line.
fn plain(world: &World, text: &str) -> String {
    let text = world.plain(text);
    let marks = [
        (r"\b[0-9a-f]{40}\b", "<commit>"),
        (r"\b\d{5,9}\b", "<n>"),
        (r"[0-9a-f]{32}", "<ticket>"),
        (r"\s+", " "),
    ];
    let plain = marks.iter().fold(text, |text, (pattern, mark)| {
        Regex::new(pattern).unwrap().replace_all(&text, *mark).into_owned()
    });
    plain.trim().to_owned()
}

/// What the log says of the call: each answer, and how each call ended.
fn log(world: &World) -> Vec<String> {
    let mut said = Vec::new();
    for record in world.records() {
        let text = |it: &Value| it.as_str().unwrap_or("-").to_owned();
        match record["event"].as_str() {
            Some("answered") => {
                let approval = &record["approval"];
                said.push(format!(
                    "answered {} ({})",
                    text(&approval["answer"]),
                    text(&approval["proof"])
                ));
            }
            Some("ended")
                if ["bash", "write", "approve"].iter().any(|it| record["tool"] == *it) =>
            {
                let changes = &record["changes"];
                let answer = [&changes["approval"], &record["approval"]];
                let answer = answer.iter().find_map(|it| it["answer"].as_str()).unwrap_or("-");
                let outcome = [&changes["outcome"], &record["args"]["outcome"]];
                let outcome = outcome.iter().find_map(|it| it.as_str()).unwrap_or("-");
                said.push(format!("{} {outcome} by {answer}", text(&record["code"])));
            }
            _ => {}
        }
    }
    said
}
