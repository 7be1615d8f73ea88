//! Native calls of the Anthropic Messages wire, and results back.

use serde_json::{Value, json};

use super::{
    StreamedCall, ToolAnswer,
    fragments::{Ending, Fragments},
    ids::IdGenerator,
    native::{cut_short, incoming, items},
};
use crate::Incoming;

/// The calls of a whole message. Blocks of tools that the server runs itself are not calls.
pub fn calls(message: &Value) -> Vec<Incoming> {
    let mut ids = IdGenerator::default();
    let blocks = match message.get("content") {
        Some(Value::String(_)) => return Vec::new(),
        content => match items(content, "content", &mut ids) {
            Ok(blocks) => blocks,
            Err(bad) => return vec![bad.into()],
        },
    };
    let is_call = |it: &&Value| it.get("type").is_some_and(|it| it == "tool_use");
    let call = |it: &Value, ids: &mut IdGenerator| {
        incoming(it.get("id"), it.get("name"), it.get("input"), ids)
    };
    let mut all: Vec<Incoming> =
        blocks.iter().filter(is_call).map(|it| call(it, &mut ids)).collect();
    // The input of the block that the model was stopped in holds what had come by then.
    let why = message.get("stop_reason").and_then(Value::as_str).and_then(stopped);
    if let (Some(why), Some(true)) = (why, blocks.last().map(|it| is_call(&it)))
        && let Some(Incoming::Call(call)) = all.pop()
    {
        all.push(cut_short(call.id, Some(&call.tool), why));
    }
    all
}

/// The reason, if it is one for which a model is stopped in the middle.
fn stopped(reason: &str) -> Option<&str> {
    matches!(reason, "max_tokens" | "model_context_window_exceeded" | "refusal").then_some(reason)
}

/// Calls that come in fragments: feed it each event of the stream, then [`finish`](Stream::finish).
#[derive(Debug, Default)]
pub struct Stream {
    fragments: Fragments,
    /// A call without arguments, and those after it: whether the arguments were none or never
    /// came is known only when the wire says why the model stopped.
    waiting: Vec<u64>,
    last_block: u64,
}

impl Stream {
    /// A reader for one streamed message that holds at most this many bytes of unfinished calls.
    pub fn with_limit(bytes: usize) -> Stream {
        Stream { fragments: Fragments::new(bytes), ..Stream::default() }
    }

    /// Takes one event, and gives the calls that are complete now.
    pub fn push(&mut self, event: &Value) -> Vec<StreamedCall> {
        let index = event.get("index").and_then(Value::as_u64).unwrap_or_default();
        match event.get("type").and_then(Value::as_str).unwrap_or_default() {
            "content_block_start" => self.start(index, event.get("content_block")),
            "content_block_delta" => self.delta(index, event.get("delta")),
            "content_block_stop" => return self.stop(index),
            "message_delta" => {
                if let Some(reason) = event.pointer("/delta/stop_reason").and_then(Value::as_str) {
                    return self.end(stopped(reason));
                }
            }
            "message_stop" => return self.end(None),
            _ => {}
        }
        Vec::new()
    }

    /// The stream has ended. A call that was not complete by then is answered, not run.
    pub fn finish(mut self) -> Vec<StreamedCall> {
        self.fragments.end_all(Ending::Broken)
    }

    fn start(&mut self, index: u64, block: Option<&Value>) {
        self.last_block = self.last_block.max(index);
        let Some(block) = block.filter(|it| it.get("type").is_some_and(|it| it == "tool_use"))
        else {
            return;
        };
        self.fragments.open(index);
        if let Some(id) = block.get("id").and_then(Value::as_str) {
            self.fragments.id(index, id);
        }
        if let Some(name) = block.get("name").and_then(Value::as_str) {
            self.fragments.name(index, name);
        }
        if let Some(input) = block.get("input") {
            self.fragments.whole_value(index, input);
        }
    }

    /// Fragments of blocks that are not calls are not held.
    fn delta(&mut self, index: u64, delta: Option<&Value>) {
        let field = |name| delta.and_then(|it| it.get(name)).and_then(Value::as_str);
        if let (Some("input_json_delta"), Some(part)) = (field("type"), field("partial_json")) {
            self.fragments.text(index, part);
        }
    }

    fn stop(&mut self, index: u64) -> Vec<StreamedCall> {
        if !self.fragments.is_open(index) || self.waiting.contains(&index) {
            return Vec::new();
        }
        if self.waiting.is_empty() && !self.fragments.is_bare(index) {
            return self.fragments.end(index, Ending::Complete);
        }
        self.waiting.push(index);
        Vec::new()
    }

    /// The model has stopped; in the middle of the last block, if there is a reason for that.
    fn end(&mut self, why: Option<&str>) -> Vec<StreamedCall> {
        let mut done = Vec::new();
        for index in std::mem::take(&mut self.waiting) {
            let ending = match why {
                Some(why) if index == self.last_block => Ending::Stopped(why),
                _ => Ending::Complete,
            };
            done.extend(self.fragments.end(index, ending));
        }
        done
    }
}

/// The answers to a turn: one `user` message with a `tool_result` for each, in the order of the
/// calls. No answers, no message.
pub fn results(answers: impl IntoIterator<Item = impl Into<ToolAnswer>>) -> Vec<Value> {
    let blocks: Vec<Value> = answers.into_iter().map(|it| result(&it.into())).collect();
    match blocks.is_empty() {
        true => Vec::new(),
        false => vec![json!({"role": "user", "content": blocks})],
    }
}

fn result(answer: &ToolAnswer) -> Value {
    let text = answer.full_text();
    let mut pictures: Vec<Value> = answer
        .images()
        .map(|(kind, data)| json!({"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}}))
        .collect();
    let content = match pictures.is_empty() {
        true => Value::String(text),
        false if text.is_empty() => Value::Array(pictures),
        false => {
            pictures.insert(0, json!({"type": "text", "text": text}));
            Value::Array(pictures)
        }
    };
    json!({
        "type": "tool_result",
        "tool_use_id": answer.id,
        "content": content,
        "is_error": answer.is_error(),
    })
}

#[cfg(test)]
mod tests;
