//! Native calls of the OpenAI Responses wire, and results back.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{
    StreamedCall, ToolAnswer,
    fragments::{Ending, Fragments},
    ids::IdGenerator,
    native::{cut_short, foreign_kind, incoming_from_text, items},
};
use crate::Incoming;

/// Items that wait for an answer from the caller, and are not function calls. Nobody here
/// declares such tools; other items are the server's own affair.
const FOREIGN: [&str; 5] =
    ["custom_tool_call", "shell_call", "local_shell_call", "apply_patch_call", "computer_call"];

/// The calls of a whole response, or of a list of output items.
pub fn calls(response: &Value) -> Vec<Incoming> {
    let mut ids = IdGenerator::default();
    let output = response.get("output").unwrap_or(response);
    let output = if output.is_object() { None } else { Some(output) };
    match items(output, "output", &mut ids) {
        Ok(items) => items.iter().filter_map(|item| call_in(item, &mut ids)).collect(),
        Err(bad) => vec![bad.into()],
    }
}

/// Whether an item waits for an answer from the caller.
pub fn is_call(item: &Value) -> bool {
    let kind = item.get("type").and_then(Value::as_str).unwrap_or_default();
    kind == "function_call" || FOREIGN.contains(&kind)
}

/// The call in an item, if it is one.
fn call_in(item: &Value, ids: &mut IdGenerator) -> Option<Incoming> {
    let (id, name) = (item.get("call_id"), item.get("name"));
    match item.get("type").and_then(Value::as_str)? {
        "function_call" => {}
        kind if FOREIGN.contains(&kind) => return Some(foreign_kind(id, name, kind, ids)),
        _ => return None,
    }
    let name = with_name(item);
    if item.get("status").is_some_and(|it| it == "incomplete") {
        let id = ids.or_next(id.and_then(Value::as_str));
        return Some(cut_short(id, name.as_ref().and_then(Value::as_str), "incomplete"));
    }
    Some(incoming_from_text(id, name.as_ref(), item.get("arguments"), ids))
}

/// The tool's name. One in a namespace is not the one of the same name outside.
fn with_name(item: &Value) -> Option<Value> {
    let name = item.get("name")?;
    match (item.get("namespace").and_then(Value::as_str), name.as_str()) {
        (Some(space), Some(name)) if !space.is_empty() => Some(format!("{space}.{name}").into()),
        _ => Some(name.clone()),
    }
}

/// Calls that come in fragments: feed it each event of the stream, then [`finish`](Stream::finish).
#[derive(Debug, Default)]
pub struct Stream {
    fragments: Fragments,
    /// Items that were given out already, by index; the end of the response names them again.
    given: BTreeSet<u64>,
    /// The same by call id, for items that came without an index.
    given_ids: BTreeSet<String>,
}

impl Stream {
    /// A reader for one streamed response that holds at most this many bytes of unfinished calls.
    pub fn with_limit(bytes: usize) -> Stream {
        Stream { fragments: Fragments::new(bytes), ..Stream::default() }
    }

    /// Takes one event, and gives the calls that are complete now.
    pub fn push(&mut self, event: &Value) -> Vec<StreamedCall> {
        let index = event.get("output_index").and_then(Value::as_u64);
        let index = index.unwrap_or_else(|| self.guessed_index(event));
        let text = |name: &str| event.get(name).and_then(Value::as_str);
        match text("type").unwrap_or_default() {
            "response.output_item.added" => self.added(index, event.get("item")),
            "response.function_call_arguments.delta" => {
                self.fragments.text(index, text("delta").unwrap_or_default());
            }
            "response.function_call_arguments.done" => {
                self.fragments.whole_text(index, text("arguments").unwrap_or_default());
            }
            "response.output_item.done" => return self.done(index, event.get("item")),
            "response.completed" => return self.completed(event, Ending::Complete),
            "response.incomplete" => {
                let why = event.pointer("/response/incomplete_details/reason");
                let why = why.and_then(Value::as_str).unwrap_or("incomplete");
                return self.completed(event, Ending::Stopped(why));
            }
            _ => {}
        }
        Vec::new()
    }

    /// The stream has ended. A call that was not complete by then is answered, not run.
    pub fn finish(mut self) -> Vec<StreamedCall> {
        self.fragments.end_all(Ending::Broken)
    }

    fn added(&mut self, index: u64, item: Option<&Value>) {
        let Some(item) = item.filter(|it| it.get("type").is_some_and(|it| it == "function_call"))
        else {
            return;
        };
        self.fragments.open(index);
        self.identify(index, item);
        if let Some(arguments) = item.get("arguments").and_then(Value::as_str) {
            self.fragments.whole_text(index, arguments);
        }
    }

    fn identify(&mut self, index: u64, item: &Value) {
        if let Some(id) = item.get("call_id").and_then(Value::as_str) {
            self.fragments.id(index, id);
        }
        if let Some(Value::String(name)) = with_name(item) {
            self.fragments.name(index, &name);
        }
    }

    /// Some servers leave the index out: a call id that is not open is then a new item, counted
    /// from the top so that it is not taken for one that has an index.
    fn guessed_index(&mut self, event: &Value) -> u64 {
        let last = self.fragments.last();
        let Some(id) = event.pointer("/item/call_id").and_then(Value::as_str) else {
            return last.unwrap_or_default();
        };
        match last {
            Some(last) if self.fragments.id_of(last) == Some(id) => last,
            _ => {
                self.given_ids.insert(id.to_owned());
                u64::MAX - self.given_ids.len() as u64
            }
        }
    }

    /// An item is whole. Fragments of it that came before must be the same call.
    fn done(&mut self, index: u64, item: Option<&Value>) -> Vec<StreamedCall> {
        let Some(item) = item else { return Vec::new() };
        if self.given.contains(&index) {
            return Vec::new();
        }
        let incomplete = item.get("status").is_some_and(|it| it == "incomplete");
        if self.fragments.is_open(index) && !incomplete {
            self.given.insert(index);
            self.identify(index, item);
            match item.get("arguments") {
                None | Some(Value::Null) => {}
                Some(Value::String(whole)) => self.fragments.whole_text(index, whole),
                Some(value) => self.fragments.whole_value(index, value),
            }
            return self.fragments.end(index, Ending::Complete);
        }
        let Some(incoming) = call_in(item, &mut self.fragments.ids) else { return Vec::new() };
        self.given.insert(index);
        self.fragments.end(index, Ending::Broken);
        let text = item.get("arguments").and_then(Value::as_str).unwrap_or_default();
        vec![StreamedCall::new(index, incoming, text)]
    }

    /// The response is whole: what it holds and has not been given out is given out now.
    fn completed(&mut self, event: &Value, ending: Ending<'_>) -> Vec<StreamedCall> {
        let mut done = Vec::new();
        let output = event.pointer("/response/output").and_then(Value::as_array);
        for (index, item) in (0..).zip(output.into_iter().flatten()) {
            let id = item.get("call_id").and_then(Value::as_str);
            if !id.is_some_and(|id| self.given_ids.contains(id)) {
                done.extend(self.done(index, Some(item)));
            }
        }
        done.extend(self.fragments.end_all(ending));
        done
    }
}

/// The answers to a turn: one `function_call_output` item for each, in the order of the calls.
pub fn results(answers: impl IntoIterator<Item = impl Into<ToolAnswer>>) -> Vec<Value> {
    answers.into_iter().map(|it| result(&it.into())).collect()
}

fn result(answer: &ToolAnswer) -> Value {
    let text = answer.full_text();
    let mut parts: Vec<Value> = answer
        .images()
        .map(|(kind, data)| json!({"type": "input_image", "image_url": format!("data:{kind};base64,{data}")}))
        .collect();
    let output = match parts.is_empty() {
        true => Value::String(text),
        false => {
            parts.insert(0, json!({"type": "input_text", "text": text}));
            Value::Array(parts)
        }
    };
    json!({"type": "function_call_output", "call_id": answer.id, "output": output})
}

#[cfg(test)]
mod tests;
