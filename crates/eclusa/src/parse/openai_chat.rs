//! Native calls of the OpenAI Chat Completions wire, and results back.

use serde_json::{Value, json};

use super::{
    StreamedCall, ToolAnswer,
    fragments::{Ending, Fragments},
    ids::IdGenerator,
    native::{cut_short, foreign_kind, incoming_from_text, items},
};
use crate::Incoming;

/// The calls of a whole response, choice or assistant message. Of a response with several
/// choices, which are alternatives, those of the first.
pub fn calls(response: &Value) -> Vec<Incoming> {
    let mut ids = IdGenerator::default();
    let choice = response.pointer("/choices/0").unwrap_or(response);
    let message = choice.get("message").unwrap_or(choice);
    let entries = match items(message.get("tool_calls"), "tool_calls", &mut ids) {
        Ok(entries) => entries,
        Err(bad) => return vec![bad.into()],
    };
    let mut all: Vec<Incoming> = entries.iter().map(|entry| call_in(entry, &mut ids)).collect();
    // A model that was stopped before the first argument has not asked for a call without any.
    if let (Some(why), Some(last), Some(Incoming::Call(call))) =
        (stopped(choice), entries.last(), all.last_mut())
        && is_blank(last.pointer("/function/arguments"))
    {
        let cut = cut_short(std::mem::take(&mut call.id), Some(&call.tool), why);
        all.pop();
        all.push(cut);
    }
    all
}

fn call_in(entry: &Value, ids: &mut IdGenerator) -> Incoming {
    let (id, function) = (entry.get("id"), entry.get("function"));
    match entry.get("type").and_then(Value::as_str) {
        None | Some("function" | "") => {}
        Some(kind) => {
            let name = entry.pointer("/custom/name");
            return foreign_kind(id, name, kind, ids);
        }
    }
    let field = |name| function.and_then(|it: &Value| it.get(name));
    incoming_from_text(id, field("name"), field("arguments"), ids)
}

fn is_blank(arguments: Option<&Value>) -> bool {
    arguments.and_then(Value::as_str).is_none_or(|it| it.trim().is_empty())
}

/// Why the model was stopped, if it was.
fn stopped(choice: &Value) -> Option<&str> {
    let reason = choice.get("finish_reason").and_then(Value::as_str);
    reason.filter(|it| matches!(*it, "length" | "content_filter"))
}

/// The choice of a chunk that is read: the first, as the others are alternatives to it.
pub fn choice(chunk: &Value) -> Option<&Value> {
    let first = |it: &&Value| it.get("index").is_none_or(|index| index == 0);
    chunk.get("choices").and_then(Value::as_array)?.iter().find(first)
}

/// Calls that come in fragments: feed it each chunk of the stream, then [`finish`](Stream::finish).
#[derive(Debug, Default)]
pub struct Stream {
    fragments: Fragments,
}

impl Stream {
    /// A reader for one streamed response that holds at most this many bytes of unfinished calls.
    pub fn with_limit(bytes: usize) -> Stream {
        Stream { fragments: Fragments::new(bytes) }
    }

    /// Takes one chunk, and gives the calls that are complete now: all of them, when the chunk
    /// says why the model finished.
    pub fn push(&mut self, chunk: &Value) -> Vec<StreamedCall> {
        let Some(choice) = choice(chunk) else { return Vec::new() };
        let mut done = Vec::new();
        let deltas = choice.pointer("/delta/tool_calls");
        match items(deltas, "tool_calls", &mut self.fragments.ids) {
            Ok(deltas) => deltas.iter().for_each(|it| self.delta(it)),
            Err(bad) => done.push(StreamedCall::new(u64::MAX, bad.into(), "")),
        }
        let finished = choice.get("finish_reason").is_some_and(Value::is_string);
        if finished {
            let ending = stopped(choice).map_or(Ending::Complete, Ending::Stopped);
            done.extend(self.fragments.end_all(ending));
        }
        done
    }

    /// The stream has ended. A call that was not complete by then is answered, not run.
    pub fn finish(mut self) -> Vec<StreamedCall> {
        self.fragments.end_all(Ending::Broken)
    }

    fn delta(&mut self, delta: &Value) {
        let id = delta.get("id").and_then(Value::as_str).unwrap_or_default();
        let index = delta.get("index").and_then(Value::as_u64);
        let index = index.unwrap_or_else(|| self.guessed_index(id));
        self.fragments.open(index);
        self.fragments.id(index, id);
        if let Some(kind) = delta.get("type").and_then(Value::as_str)
            && !matches!(kind, "function" | "")
        {
            let kind = crate::json::brief(kind);
            let problem = format!("calls of type `{kind}` cannot be read; call a function");
            self.fragments.fault(index, problem);
        }
        if let Some(name) = delta.pointer("/function/name").and_then(Value::as_str) {
            self.fragments.name(index, name);
        }
        match delta.pointer("/function/arguments") {
            None | Some(Value::Null) => {}
            Some(Value::String(part)) => self.fragments.text(index, part),
            Some(value) => self.fragments.whole_value(index, value),
        }
    }

    /// Some servers leave the index out: a new id is then a new call.
    fn guessed_index(&self, id: &str) -> u64 {
        let Some(last) = self.fragments.last() else { return 0 };
        let same = id.is_empty() || self.fragments.id_of(last).is_none_or(|it| it == id);
        if same { last } else { last.saturating_add(1) }
    }
}

/// The answers to a turn: one `tool` message for each, in the order of the calls (S4.54, S4.57).
/// Pictures do not fit into them: they follow in a message of the user.
pub fn results(answers: impl IntoIterator<Item = impl Into<ToolAnswer>>) -> Vec<Value> {
    let (mut messages, mut pictures) = (Vec::new(), Vec::new());
    for answer in answers {
        let answer: ToolAnswer = answer.into();
        pictures.extend(answer.images().map(|(kind, data)| {
            let url = format!("data:{kind};base64,{data}");
            json!({"type": "image_url", "image_url": {"url": url}})
        }));
        messages.push(
            json!({"role": "tool", "tool_call_id": answer.id, "content": answer.full_text()}),
        );
    }
    if !pictures.is_empty() {
        pictures
            .insert(0, json!({"type": "text", "text": "the pictures that the tools produced:"}));
        messages.push(json!({"role": "user", "content": pictures}));
    }
    messages
}

#[cfg(test)]
mod tests;
