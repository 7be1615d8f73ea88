//! Settings over what is looked at and shown: reviewers, secrets that are taken out, and limits.

use super::{Case, Cell, Surface, acts::Act};

fn read(surface: Surface, name: &'static str, command: &'static str) -> Vec<Act> {
    match surface {
        Surface::Exec | Surface::Ticket => vec![Act::Bash(command)],
        // The name of the file is all that an undo shows.
        Surface::Undo => vec![Act::Write("badge-7777.txt", "x\n".to_owned())],
        Surface::Run
        | Surface::Feed
        | Surface::Hook
        | Surface::Acp
        | Surface::Mcp
        | Surface::Guard
        | Surface::Ask
        | Surface::Chat
        | Surface::Resume => vec![Act::Read(name)],
    }
}

/// Somebody who looks at calls before they run.
pub(crate) fn reviewers(surface: Surface) -> Cell {
    let says_no = "[[reviewers]]\nname = \"desk\"\non = \"input\"\n\
                   command = [\"sh\", \"-c\", \"echo not today >&2; exit 2\"]\n";
    Case {
        with: says_no.to_owned(),
        acts: read(surface, "a.txt", "cat a.txt"),
        expected: "denied",
        ..Case::default()
    }
    .into()
}

const EDITORS_OWN: &str =
    "the editor itself gives the agent its files; commands in its terminals hold to it";

/// A kind of secret that only this person knows.
pub(crate) fn redaction(surface: Surface) -> Cell {
    if surface == Surface::Acp {
        return Cell::Lacks(EDITORS_OWN);
    }
    Case {
        with: "[[redact.rules]]\nname = \"badge\"\nregex = \"badge-[0-9]{4,}\"\n".to_owned(),
        acts: read(surface, "badge.txt", "cat badge.txt"),
        look: Some(|_, seen| {
            let told = seen.first().map(|it| (it.word(), it.text().contains("badge-7777")));
            match told {
                Some(("done", true)) => "shown".to_owned(),
                Some(("done", false)) => "taken out".to_owned(),
                _ => format!("not done: {seen:?}"),
            }
        }),
        expected: "taken out",
        ..Case::default()
    }
    .into()
}

/// How much of an output comes back.
pub(crate) fn limits(surface: Surface) -> Cell {
    let acts = match surface {
        Surface::Acp => return Cell::Lacks(EDITORS_OWN),
        Surface::Undo => vec![Act::Bash("touch $(seq -f long-name-of-a-file-%g 200)")],
        _ => read(surface, "long.txt", "cat long.txt"),
    };
    Case {
        with: "[limits]\noutput = \"1KB\"\n".to_owned(),
        acts,
        look: Some(|_, seen| {
            let told = seen.first().map(|it| (it.word(), it.text().len() > 3_000));
            match told {
                Some(("done", true)) => "whole".to_owned(),
                Some(("done", false)) => "cut".to_owned(),
                _ => format!("not done: {seen:?}"),
            }
        }),
        expected: "cut",
        ..Case::default()
    }
    .into()
}
