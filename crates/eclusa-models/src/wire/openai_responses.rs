//! OpenAI Responses: nothing is stored there, and reasoning goes back encrypted, as it came.

use std::collections::BTreeMap;

use eclusa::parse::{StreamedCall, openai_responses, was_made};
use serde_json::{Value, json};

use super::{
    StreamReader, WirePart, WireSettings, asked, count, cut, data_url, effort, in_stream, object,
};
use crate::model::{Delta, ModelError, ModelReply, ModelRequest, StopReason, Usage, ViewMessage};

pub(super) fn fields(settings: &WireSettings, request: &ModelRequest) -> Value {
    let mut body = json!({
        "model": settings.model,
        "instructions": request.system,
        "stream": true,
        "store": false,
        "max_output_tokens": settings.output,
        "prompt_cache_key": request.conversation,
    });
    if let Some(fields) = body.as_object_mut()
        && let Some(effort) = effort(settings)
    {
        let reasoning = json!({"effort": effort, "summary": "auto"});
        fields.insert("reasoning".to_owned(), reasoning);
        fields.insert("include".to_owned(), json!(["reasoning.encrypted_content"]));
    }
    body
}

pub(super) fn part(message: &ViewMessage) -> WirePart {
    WirePart::new("", &items(message))
}

fn items(message: &ViewMessage) -> Vec<Value> {
    match message {
        ViewMessage::User { text, pictures } => {
            let words = Some(text).filter(|it| !it.trim().is_empty());
            let words = words.map(|it| json!({"type": "input_text", "text": it}));
            let pictures = pictures.iter().map(
                |(kind, bytes)| json!({"type": "input_image", "image_url": data_url(kind, bytes)}),
            );
            let content: Vec<Value> = words.into_iter().chain(pictures).collect();
            match content.is_empty() {
                true => Vec::new(),
                false => vec![json!({"type": "message", "role": "user", "content": content})],
            }
        }
        ViewMessage::Assistant { blocks: Some(blocks), .. } => {
            blocks.as_array().cloned().unwrap_or_default()
        }
        ViewMessage::Assistant { text, calls, .. } => {
            let mut items = Vec::new();
            if !text.trim().is_empty() {
                let content = json!([{"type": "output_text", "text": text}]);
                items.push(json!({"type": "message", "role": "assistant", "content": content}));
            }
            items.extend(calls.iter().map(|it| {
                let arguments = object(&it.args).to_string();
                let name = if it.name.is_empty() { "unknown" } else { it.name.as_str() };
                json!({"type": "function_call", "call_id": it.id, "name": name, "arguments": arguments})
            }));
            items
        }
        ViewMessage::Answers(all) => openai_responses::results(all),
    }
}

/// Reads one streamed response.
#[derive(Default)]
pub(super) struct ResponsesReader {
    stream: openai_responses::Stream,
    calls: Vec<StreamedCall>,
    /// Whole items, by their place; those without one come after, in the order of arrival.
    items: BTreeMap<u64, Value>,
    heard: String,
    thoughts: String,
    response: Option<(bool, Value)>,
}

impl StreamReader for ResponsesReader {
    fn push(
        &mut self,
        event: &Value,
        hear: &mut (dyn FnMut(Delta) + Send),
    ) -> Result<(), ModelError> {
        self.calls.extend(self.stream.push(event));
        let delta = || event.get("delta").and_then(Value::as_str).unwrap_or_default().to_owned();
        match event.get("type").and_then(Value::as_str).unwrap_or_default() {
            "response.output_text.delta" => {
                self.heard.push_str(&delta());
                hear(Delta::Text(delta()));
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.thoughts.push_str(&delta());
                hear(Delta::Thought(delta()));
            }
            "response.output_item.done" => {
                let place = event.get("output_index").and_then(Value::as_u64);
                let next = self.items.keys().last().map_or(0, |it| it + 1);
                if let Some(item) = event.get("item") {
                    self.items.insert(place.unwrap_or(next), item.clone());
                }
            }
            "response.completed" | "response.incomplete" => {
                let completed = event.get("type").is_some_and(|it| it == "response.completed");
                let response = event.get("response").cloned().unwrap_or_default();
                self.response = Some((completed, response));
            }
            "response.failed" => {
                let error = event.pointer("/response/error").unwrap_or(&Value::Null);
                return Err(in_stream(error));
            }
            "error" => return Err(in_stream(event.get("error").unwrap_or(event))),
            _ => {}
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<ModelReply, ModelError> {
        let Some((completed, response)) = self.response.take() else { return Err(cut()) };
        self.calls.extend(self.stream.finish());
        let output = response.get("output").and_then(Value::as_array);
        let items: Vec<Value> = match output.filter(|it| !it.is_empty()) {
            Some(output) => output.clone(),
            None => self.items.into_values().collect(),
        };
        let items = sent_back(items, self.calls.clone());
        let reason = response.pointer("/incomplete_details/reason").and_then(Value::as_str);
        let why = match (completed, reason) {
            (false, Some("content_filter")) => StopReason::Refused,
            (false, _) => StopReason::Length,
            (true, _) if self.calls.is_empty() => StopReason::Done,
            (true, _) => StopReason::Calls,
        };
        let text = match texts(&items) {
            text if text.is_empty() => self.heard,
            text => text,
        };
        let cached = count(&response, "/usage/input_tokens_details/cached_tokens").unwrap_or(0);
        let input = count(&response, "/usage/input_tokens").unwrap_or(0);
        Ok(ModelReply {
            text,
            thoughts: Some(self.thoughts).filter(|it| !it.is_empty()),
            asked: asked(self.calls),
            blocks: Some(items.into()),
            why,
            usage: Usage {
                input: input.saturating_sub(cached),
                cache_read: cached,
                cache_write: 0,
                output: count(&response, "/usage/output_tokens").unwrap_or(0),
                reasoning: count(&response, "/usage/output_tokens_details/reasoning_tokens")
                    .unwrap_or(0),
            },
        })
    }
}

/// The words of the messages among these items.
fn texts(items: &[Value]) -> String {
    let messages = items.iter().filter(|it| it.get("type").is_some_and(|it| it == "message"));
    let parts = messages.filter_map(|it| it.get("content")?.as_array()).flatten();
    parts.filter_map(|it| it.get("text").or(it.get("refusal"))?.as_str()).collect()
}

/// The items as they go back, with the calls that were read.
fn sent_back(items: Vec<Value>, mut calls: Vec<StreamedCall>) -> Vec<Value> {
    let mut back = Vec::new();
    for item in items {
        if !openai_responses::is_call(&item) {
            back.push(item);
            continue;
        }
        let same = |it: &StreamedCall| match item.get("call_id").and_then(Value::as_str) {
            Some(id) if !id.is_empty() => it.incoming.id() == id,
            _ => was_made(it.incoming.id()),
        };
        if let Some(at) = calls.iter().position(same) {
            back.push(call_item(Some(item), &calls.remove(at)));
        }
    }
    // What the server sent and did not repeat at the end is answered too.
    back.extend(calls.iter().map(|it| call_item(None, it)));
    back
}

/// A call as it goes back, with the fields that its item had besides; one of a kind that nobody here
/// declares goes back as the function call that its answer belongs to.
fn call_item(item: Option<Value>, call: &StreamedCall) -> Value {
    let is_function = |it: &Value| it.get("type").is_some_and(|it| it == "function_call");
    let mut item = item.filter(is_function).unwrap_or_else(|| json!({"type": "function_call"}));
    if let Some(fields) = item.as_object_mut() {
        fields.insert("call_id".to_owned(), call.incoming.id().into());
        fields.insert("arguments".to_owned(), call.arguments().into());
        // A name in a namespace stays as it came.
        if fields.get("name").and_then(Value::as_str).is_none_or(str::is_empty) {
            fields.insert("name".to_owned(), call.name().into());
        }
    }
    item
}
