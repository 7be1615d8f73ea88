//! A call in a line, for people: what it is about, how it ended, how long it took, its number.

use std::time::Duration;

use eclusa::audit::calls::subject;
use serde_json::Value;

use crate::ui::screen::Style;

/// Arguments in a line are no longer than this.
const MAX_ARGS: usize = 60;

/// How a call ended, for its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallEnd {
    /// It did what it should.
    Done,
    /// It ran and failed.
    Failed,
    /// It was refused.
    Refused,
    /// It waits for a person who is not here.
    Waits,
}

/// What came of a call. Its note is safe to show.
#[derive(Debug)]
pub(super) struct EndedCall {
    /// How it ended.
    pub(super) end: CallEnd,
    /// Why it failed or was refused; empty otherwise.
    pub(super) note: String,
    /// How long it took.
    pub(super) time: Duration,
    /// Its number in the log.
    pub(super) number: Option<u64>,
}

impl EndedCall {
    /// The mark before its line, and how it is painted.
    pub(super) fn mark(&self) -> (Style, &'static str) {
        match self.end {
            CallEnd::Done => (Style::Good, "✓"),
            CallEnd::Failed => (Style::Warn, "✗"),
            CallEnd::Refused => (Style::Bad, "✗"),
            CallEnd::Waits => (Style::Warn, "⋯"),
        }
    }

    /// The same in a word.
    pub(super) fn word(&self) -> &'static str {
        match self.end {
            CallEnd::Done => "ok",
            CallEnd::Failed => "failed",
            CallEnd::Refused => "refused",
            CallEnd::Waits => "waits",
        }
    }

    /// The end of its line: why it failed or how long it took, and its number in the log.
    pub(super) fn tail(&self) -> String {
        let number = self.number.map(|it| format!("  #{it}")).unwrap_or_default();
        match self.note.as_str() {
            "" => elapsed(self.time) + &number,
            note => one_line(note) + &number,
        }
    }
}

/// What a call is about, in one line: its command, path or host.
pub(super) fn brief(args: &Value) -> String {
    let text = subject(args).split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(MAX_ARGS) {
        Some((end, _)) => text.get(..end).unwrap_or_default().to_owned() + "…",
        None => text,
    }
}

/// A text on one line.
pub(super) fn one_line(text: &str) -> String {
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default().trim_end().replace('\t', " ");
    if lines.next().is_some() { format!("{first} …") } else { first }
}

/// How long something took, as people read it.
pub(super) fn elapsed(time: Duration) -> String {
    match time.as_millis() {
        ms @ 0..1000 => format!("{ms} ms"),
        ms @ 1000..10_000 => format!("{}.{} s", ms / 1000, ms % 1000 / 100),
        ms @ 10_000..60_000 => format!("{} s", ms / 1000),
        ms => format!("{} min {} s", ms / 60_000, ms % 60_000 / 1000),
    }
}
