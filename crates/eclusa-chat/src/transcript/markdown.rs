//! A transcript for people: Markdown, with the calls and their results as blocks.

use std::fmt::Write as _;

use serde_json::json;

use super::TranscriptHead;
use crate::{
    item::{ItemBody, TranscriptItem},
    timestamp,
};

/// The transcript as Markdown; reasoning only where it is wanted.
pub fn markdown(head: &TranscriptHead, items: &[TranscriptItem], thoughts: bool) -> String {
    let mut text = format!("# {}\n\n", one_line(&head.title));
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "Session `{}`, {}, model `{}`, persona `{}`.",
        head.id,
        timestamp::iso(head.created),
        head.model,
        head.persona
    );
    let mut speaker = "";
    for item in items {
        let (who, part) = match &item.body {
            ItemBody::Opened { .. } | ItemBody::Resumed { .. } => continue,
            ItemBody::Person { text, .. } => ("You", text.clone()),
            ItemBody::Model { text, thoughts: told } => {
                let told = told.as_deref().filter(|_| thoughts);
                let quoted = told.map(|it| it.replace('\n', "\n> "));
                let quoted = quoted.map(|it| format!("> {it}\n\n")).unwrap_or_default();
                ("Model", format!("{quoted}{text}"))
            }
            ItemBody::Partial { text } => ("Model", format!("{text}\n\n*(interrupted)*")),
            ItemBody::Call { id, name, args, reason } => {
                let call = json!({"id": id, "name": name, "args": args, "reason": reason});
                ("Model", fenced("tool", &call.to_string()))
            }
            ItemBody::Answer(it) | ItemBody::LateAnswer(it) => {
                let result = item.json(&head.id).get("tool_result").cloned().unwrap_or_default();
                let number = it.number.map(|it| format!(", call {it} of the log"));
                let note = format!("*{}*{}", it.code, number.unwrap_or_default());
                ("Tool", format!("{}\n\n{note}", fenced("tool_result", &result.to_string())))
            }
            ItemBody::Summary { text: Some(text), .. } => ("Summary by the model", text.clone()),
            ItemBody::Summary { text: None, .. } => continue,
            ItemBody::Notice { text } => ("Note", text.clone()),
            ItemBody::Draft { text } => ("You, not sent", text.clone()),
        };
        if part.trim().is_empty() {
            continue;
        }
        if who != speaker || who == "You" {
            let _ = write!(text, "\n## {who}\n");
            speaker = who;
        }
        let _ = write!(text, "\n{}\n", part.trim_end());
    }
    text
}

/// A block that nothing in its content can close: the fence is longer than any inside.
fn fenced(label: &str, content: &str) -> String {
    let mut run = 0;
    let mut longest = 0;
    for c in content.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{label}\n{content}\n{fence}")
}

/// A title in one line.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
