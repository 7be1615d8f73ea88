//! Native calls of the Gemini wire, and results back.

use serde_json::{Value, json};

use super::{
    StreamedCall, ToolAnswer,
    ids::{IdGenerator, was_made},
    native::{incoming, items, malformed},
};
use crate::{Incoming, json::brief};

/// The calls of a whole response or content. Of a response with several candidates, which are
/// alternatives, those of the first.
pub fn calls(response: &Value) -> Vec<Incoming> {
    calls_in(response, &mut IdGenerator::default())
}

/// The content of a response, or of a chunk, that is read: of several candidates, which are alternatives,
/// the first.
pub fn candidate(response: &Value) -> &Value {
    response.pointer("/candidates/0").unwrap_or(response)
}

/// The parts of its content; what is no list of parts is left to the calls.
pub fn parts(response: &Value) -> &[Value] {
    let candidate = candidate(response);
    let content = candidate.get("content").unwrap_or(candidate);
    content.get("parts").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Calls of a streamed response. Each part holds a whole call, so that nothing is held between
/// chunks.
#[derive(Debug, Default)]
pub struct Stream {
    ids: IdGenerator,
    /// How many calls have come.
    calls: u64,
}

impl Stream {
    /// Takes one chunk, and gives its calls.
    pub fn push(&mut self, chunk: &Value) -> Vec<StreamedCall> {
        let calls = calls_in(chunk, &mut self.ids);
        let first = self.calls;
        self.calls += calls.len() as u64;
        (first..).zip(calls).map(|(index, it)| StreamedCall::new(index, it, "")).collect()
    }

    /// The stream has ended; nothing was held back.
    pub fn finish(self) -> Vec<StreamedCall> {
        Vec::new()
    }
}

fn calls_in(response: &Value, ids: &mut IdGenerator) -> Vec<Incoming> {
    let candidate = candidate(response);
    let content = candidate.get("content").unwrap_or(candidate);
    let parts = match items(content.get("parts"), "parts", ids) {
        Ok(parts) => parts,
        Err(bad) => return vec![bad.into()],
    };
    let calls = parts.iter().filter_map(|it| it.get("functionCall").or(it.get("function_call")));
    let mut all: Vec<Incoming> = calls.map(|it| read_call(it, ids)).collect();
    all.extend(unreadable(candidate, ids));
    all
}

fn read_call(call: &Value, ids: &mut IdGenerator) -> Incoming {
    let (id, name) = (call.get("id"), call.get("name"));
    if call.get("partialArgs").is_some() || call.get("willContinue").is_some_and(|it| it == true) {
        let id = ids.or_next(id.and_then(Value::as_str));
        let problem = "the arguments came in parts (`partialArgs`), which are not read; ask the model for whole function calls";
        return malformed(id, name.and_then(Value::as_str), problem.to_owned());
    }
    incoming(id, name, call.get("args"), ids)
}

/// A call that the server itself could not read: it comes as a reason to finish.
fn unreadable(candidate: &Value, ids: &mut IdGenerator) -> Option<Incoming> {
    let reason = candidate.get("finishReason").and_then(Value::as_str)?;
    if !matches!(reason, "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL") {
        return None;
    }
    let said = candidate.get("finishMessage").and_then(Value::as_str).unwrap_or(reason);
    let problem = format!(
        "the server could not read the call: `{}`; send it again as one function call",
        brief(said)
    );
    Some(malformed(ids.next(), None, problem))
}

/// The answers to a turn: one content with a `functionResponse` for each, in the order of the
/// calls. An id goes back only if the model sent it. No answers, no content.
pub fn results(answers: impl IntoIterator<Item = impl Into<ToolAnswer>>) -> Vec<Value> {
    let mut parts = Vec::new();
    for answer in answers {
        let answer: ToolAnswer = answer.into();
        parts.push(result(&answer));
        parts.extend(
            answer
                .images()
                .map(|(kind, data)| json!({"inlineData": {"mimeType": kind, "data": data}})),
        );
    }
    match parts.is_empty() {
        true => Vec::new(),
        false => vec![json!({"role": "user", "parts": parts})],
    }
}

fn result(answer: &ToolAnswer) -> Value {
    let key = if answer.is_error() { "error" } else { "output" };
    // Without a name there was no `functionCall` that this could be the response to.
    if answer.tool.is_empty() {
        return json!({"text": format!("{key}: {}", answer.full_text())});
    }
    let mut response = json!({"name": answer.tool, "response": {key: answer.full_text()}});
    if let Some(fields) = response.as_object_mut()
        && !was_made(&answer.id)
    {
        fields.insert("id".to_owned(), answer.id.as_str().into());
    }
    json!({"functionResponse": response})
}

#[cfg(test)]
mod tests;
