//! Settings over what is looked at and shown: reviewers, secrets that are taken out, and limits.

use super::{
    Case, Door,
    acts::{Act, Seen},
};
use crate::world::World;

pub(crate) fn read(door: Door, name: &'static str, command: &'static str) -> Vec<Act> {
    match door {
        _ if door.is_taken() => vec![Act::Bash("cat a.txt badge.txt long.txt; touch read.txt")],
        // A plan is of what changes.
        Door::Plan => vec![Act::Write("b.txt", "x\n".to_owned())],
        _ if door.runs_commands() => vec![Act::Bash(command)],
        // The name of the file is all that an undo shows.
        Door::Undo => vec![Act::Write("badge-7777.txt", "x\n".to_owned())],
        _ => vec![Act::Read(name)],
    }
}

/// What is told of the one thing that was done.
fn done(seen: &[Seen], told: impl Fn(&str) -> &'static str) -> String {
    match seen {
        [Seen::Done(text)] => told(text).to_owned(),
        _ => format!("not done: {seen:?}"),
    }
}

/// Somebody who looks at calls before they run.
pub(crate) fn reviewers(door: Door) -> Option<Case> {
    // What is applied was read before it ran: what it printed is read now.
    let on = if door.is_taken() { "output" } else { "input" };
    let says_no = format!(
        "[[reviewers]]\nname = \"desk\"\non = \"{on}\"\n\
         command = [\"sh\", \"-c\", \"echo not today >&2; exit 2\"]\n"
    );
    let mode = if door == Door::Plan { "mode = \"auto-approve\"\n" } else { "" };
    let case = Case {
        with: format!("{mode}{says_no}"),
        without: mode.to_owned(),
        acts: read(door, "a.txt", "cat a.txt"),
        // Nothing that was printed is shown to whoever says yes: what was read is on record.
        look: (door == Door::Yes).then_some(|world: &World, _: &[Seen]| {
            let records = world.records();
            let read = records.iter().rev().find_map(|it| it["reviews"][0]["said"].as_str());
            if read == Some("deny") { "denied" } else { "not read" }.to_owned()
        }),
        expected: "denied",
        ..Case::default()
    };
    (door != Door::Check).then_some(case)
}

/// A kind of secret that only this person knows.
pub(crate) fn redaction(door: Door) -> Option<Case> {
    let case = Case {
        with: "[[redact.rules]]\nname = \"badge\"\nregex = \"badge-[0-9]{4,}\"\n".to_owned(),
        acts: read(door, "badge.txt", "cat badge.txt"),
        look: Some(|_, seen| {
            done(seen, |text| if text.contains("badge-7777") { "shown" } else { "taken out" })
        }),
        expected: "taken out",
        ..Case::default()
    };
    (!matches!(door, Door::Acp | Door::Check | Door::Plan | Door::Yes)).then_some(case)
}

/// How much of an output comes back.
pub(crate) fn limits(door: Door) -> Option<Case> {
    let acts = match door {
        // Of more than fifty files not all are named.
        Door::Undo => vec![Act::Bash("touch $(seq -f %g-$(seq -s- 100 130) 40)")],
        _ => read(door, "long.txt", "cat long.txt"),
    };
    let case = Case {
        with: "[limits]\noutput = \"1KB\"\n".to_owned(),
        acts,
        look: Some(|_, seen| done(seen, |text| if text.len() > 3_000 { "whole" } else { "cut" })),
        expected: "cut",
        ..Case::default()
    };
    (!matches!(door, Door::Acp | Door::Check | Door::Plan | Door::Yes)).then_some(case)
}
