//! Conversations of other agents, read from the files that those keep. They are data from outside:
//! without the blocks of a model, and every call of them is answered.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{
    item::{AnswerItem, ItemBody, TranscriptItem},
    timestamp,
};

mod claude_code;
mod codex;
#[cfg(test)]
mod tests;

/// Whose file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum ImportFormat {
    /// A session of Claude Code
    ClaudeCode,
    /// A rollout of Codex
    Codex,
}

impl ImportFormat {
    /// Its word on the command line and in the archive.
    pub fn as_str(self) -> &'static str {
        match self {
            ImportFormat::ClaudeCode => "claude-code",
            ImportFormat::Codex => "codex",
        }
    }
}

/// What was read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ImportedTranscript {
    /// The entries, numbered.
    pub items: Vec<TranscriptItem>,
    /// How many lines were left out, by what they are.
    pub left_out: BTreeMap<String, u64>,
}

/// Reads the lines of a file.
pub fn import(format: ImportFormat, lines: &[Value]) -> ImportedTranscript {
    let mut builder = ItemBuilder::default();
    match format {
        ImportFormat::ClaudeCode => claude_code::read(lines, &mut builder),
        ImportFormat::Codex => codex::read(lines, &mut builder),
    }
    builder.finish()
}

/// Puts entries together so that every call has one answer, and every answer a call.
#[derive(Debug, Default)]
struct ItemBuilder {
    items: Vec<TranscriptItem>,
    left_out: BTreeMap<String, u64>,
    turn: u64,
    message: u64,
    /// The place of the message that the model is writing.
    open_message: Option<usize>,
    /// Calls without an answer: id and tool.
    open_calls: Vec<(String, String)>,
    at: u64,
}

impl ItemBuilder {
    /// The time of what follows.
    fn set_time(&mut self, line: &Value) {
        let read = line.get("timestamp").and_then(Value::as_str).and_then(timestamp::from_iso);
        self.at = read.unwrap_or(self.at);
    }

    fn leave_out(&mut self, what: &str) {
        *self.left_out.entry(what.to_owned()).or_default() += 1;
    }

    fn push(&mut self, body: ItemBody, message: Option<u64>) {
        let seq = u64::try_from(self.items.len()).unwrap_or(u64::MAX).saturating_add(1);
        let (turn, at) = (self.turn, self.at);
        self.items.push(TranscriptItem {
            seq,
            turn,
            message,
            at,
            body,
            blocks: None,
            log_at: None,
        });
    }

    fn person(&mut self, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        self.end_message();
        self.turn += 1;
        self.push(ItemBody::Person { text: text.to_owned(), pictures: Vec::new() }, None);
    }

    fn model(&mut self, more: &str) {
        let open = self.open_message.and_then(|place| self.items.get_mut(place));
        if let Some(TranscriptItem { body: ItemBody::Model { text, .. }, .. }) = open {
            if !text.is_empty() && !more.is_empty() {
                text.push_str("\n\n");
            }
            text.push_str(more);
            return;
        }
        self.end_message();
        self.message += 1;
        self.open_message = Some(self.items.len());
        let body = ItemBody::Model { text: more.to_owned(), thoughts: None };
        self.push(body, Some(self.message));
    }

    fn thought(&mut self, more: &str) {
        self.model("");
        let open = self.open_message.and_then(|place| self.items.get_mut(place));
        if let Some(TranscriptItem { body: ItemBody::Model { thoughts, .. }, .. }) = open {
            thoughts.get_or_insert_default().push_str(more);
        }
    }

    fn call(&mut self, id: &str, name: &str, args: Value) {
        self.model("");
        let body = ItemBody::Call { id: id.to_owned(), name: name.to_owned(), args, reason: None };
        self.push(body, Some(self.message));
        self.open_calls.push((id.to_owned(), name.to_owned()));
    }

    fn answer(&mut self, id: &str, output: String, failed: bool) {
        let Some(place) = self.open_calls.iter().position(|(open, _)| open == id) else {
            return self.leave_out("answer without its call");
        };
        let (id, tool) = self.open_calls.remove(place);
        self.open_message = None;
        let (code, error) = match failed {
            true => ("tool_failed", Some("it failed".to_owned())),
            false => ("ok", None),
        };
        let code = code.to_owned();
        let answer = AnswerItem { id, tool, output, error, code, ..AnswerItem::default() };
        self.push(ItemBody::Answer(answer), None);
    }

    /// Nothing more comes of this message: calls that have no answer get one.
    fn end_message(&mut self) {
        self.open_message = None;
        for (id, tool) in std::mem::take(&mut self.open_calls) {
            let error = Some("the transcript has no answer to this call".to_owned());
            let code = "interrupted".to_owned();
            let answer = AnswerItem { id, tool, error, code, ..AnswerItem::default() };
            self.push(ItemBody::Answer(answer), None);
        }
    }

    fn finish(mut self) -> ImportedTranscript {
        self.end_message();
        ImportedTranscript { items: self.items, left_out: self.left_out }
    }
}

/// Text, or the texts of a list of blocks; pictures are named.
fn text_of(content: Option<&Value>) -> String {
    let block = |it: &Value| -> Option<String> {
        match it.get("type").and_then(Value::as_str)? {
            "text" | "input_text" | "output_text" => Some(it.get("text")?.as_str()?.to_owned()),
            "image" | "input_image" => Some("[a picture]".to_owned()),
            _ => None,
        }
    };
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(blocks)) => {
            blocks.iter().filter_map(block).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

fn text_at<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}
