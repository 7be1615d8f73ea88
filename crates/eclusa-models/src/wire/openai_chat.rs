//! OpenAI Chat Completions, and the many servers that speak it.

use std::sync::Arc;

use eclusa::parse::{StreamedCall, openai_chat};
use serde_json::{Value, json};

use super::{
    StreamReader, WirePart, WireSettings, asked, count, cut, data_url, effort, in_stream, object,
    separated,
};
use crate::model::{Delta, ModelError, ModelReply, ModelRequest, StopReason, Usage, ViewMessage};

pub(super) fn fields(settings: &WireSettings, request: &ModelRequest) -> Value {
    let mut body = json!({
        "model": settings.model,
        "stream": true,
        "stream_options": {"include_usage": true},
    });
    // Servers that are merely compatible know neither of the newer names.
    let original = settings.url.starts_with("https://api.openai.com");
    if let Some(fields) = body.as_object_mut() {
        let most = if original { "max_completion_tokens" } else { "max_tokens" };
        fields.insert(most.to_owned(), settings.output.into());
        if original {
            fields.insert("prompt_cache_key".to_owned(), request.conversation.as_str().into());
        }
        if let Some(effort) = effort(settings) {
            fields.insert("reasoning_effort".to_owned(), effort.into());
        }
    }
    body
}

/// Writes the messages. Reasoning goes back within its turn and no longer.
pub(super) fn write(system: &str, parts: &[(Arc<ViewMessage>, WirePart)], body: &mut String) {
    let is_user = |(it, _): &(Arc<ViewMessage>, WirePart)| matches!(**it, ViewMessage::User { .. });
    let last = parts.iter().rposition(is_user).unwrap_or_default();
    let shown = parts.iter().enumerate().map(|(place, (_, part))| match &part.in_turn {
        Some(more) if place > last => more.as_str(),
        _ => &part.json,
    });
    let system = json!({"role": "system", "content": system}).to_string();
    separated([system.as_str()].into_iter().chain(shown), body);
}

pub(super) fn part(message: &ViewMessage) -> WirePart {
    let part = WirePart::new("", &as_messages(message, false));
    match message {
        ViewMessage::Assistant { blocks: Some(blocks), .. }
            if blocks.get("reasoning_content").is_some() =>
        {
            let in_turn = WirePart::new("", &as_messages(message, true)).json;
            WirePart { in_turn: Some(in_turn), ..part }
        }
        _ => part,
    }
}

fn as_messages(message: &ViewMessage, in_turn: bool) -> Vec<Value> {
    match message {
        ViewMessage::User { text, pictures } if pictures.is_empty() => {
            match text.trim().is_empty() {
                true => Vec::new(),
                false => vec![json!({"role": "user", "content": text})],
            }
        }
        ViewMessage::User { text, pictures } => {
            let words = Some(text).filter(|it| !it.trim().is_empty());
            let words = words.map(|it| json!({"type": "text", "text": it}));
            let pictures = pictures.iter().map(|(kind, bytes)| {
                json!({"type": "image_url", "image_url": {"url": data_url(kind, bytes)}})
            });
            let content: Vec<Value> = words.into_iter().chain(pictures).collect();
            vec![json!({"role": "user", "content": content})]
        }
        ViewMessage::Assistant { blocks: Some(blocks), .. } => {
            let mut message = Value::clone(blocks);
            if let (false, Some(fields)) = (in_turn, message.as_object_mut()) {
                fields.remove("reasoning_content");
            }
            let empty = message.get("content").is_none_or(Value::is_null)
                && message.get("tool_calls").is_none();
            if empty { Vec::new() } else { vec![message] }
        }
        ViewMessage::Assistant { text, calls, .. } => {
            let words = Some(text).filter(|it| !it.trim().is_empty());
            if words.is_none() && calls.is_empty() {
                return Vec::new();
            }
            let call = |it: &crate::model::ViewCall| {
                let name = if it.name.is_empty() { "unknown" } else { it.name.as_str() };
                let function = json!({"name": name, "arguments": object(&it.args).to_string()});
                json!({"id": it.id, "type": "function", "function": function})
            };
            let mut message = json!({"role": "assistant", "content": words});
            if let (false, Some(fields)) = (calls.is_empty(), message.as_object_mut()) {
                fields.insert("tool_calls".to_owned(), calls.iter().map(call).collect());
            }
            vec![message]
        }
        ViewMessage::Answers(all) => openai_chat::results(all),
    }
}

/// Reads one streamed response.
#[derive(Default)]
pub(super) struct ChatReader {
    stream: openai_chat::Stream,
    calls: Vec<StreamedCall>,
    text: String,
    thoughts: String,
    stop: Option<String>,
    usage: Usage,
}

impl StreamReader for ChatReader {
    fn push(
        &mut self,
        chunk: &Value,
        hear: &mut (dyn FnMut(Delta) + Send),
    ) -> Result<(), ModelError> {
        if let Some(error) = chunk.get("error").filter(|it| !it.is_null()) {
            return Err(in_stream(error));
        }
        self.calls.extend(self.stream.push(chunk));
        let choice = openai_chat::choice(chunk);
        let text = |pointer: &str| {
            let found = choice?.pointer(pointer)?.as_str();
            found.filter(|it| !it.is_empty()).map(str::to_owned)
        };
        if let Some(part) = text("/delta/content") {
            self.text.push_str(&part);
            hear(Delta::Text(part));
        }
        if let Some(part) = text("/delta/reasoning_content") {
            self.thoughts.push_str(&part);
            hear(Delta::Thought(part));
        }
        if let Some(why) = text("/finish_reason") {
            self.stop = Some(why);
        }
        if let Some(usage) = chunk.get("usage").filter(|it| it.is_object()) {
            let cached = count(usage, "/prompt_tokens_details/cached_tokens").unwrap_or(0);
            self.usage = Usage {
                input: count(usage, "/prompt_tokens").unwrap_or(0).saturating_sub(cached),
                cache_read: cached,
                cache_write: 0,
                output: count(usage, "/completion_tokens").unwrap_or(0),
                reasoning: count(usage, "/completion_tokens_details/reasoning_tokens").unwrap_or(0),
            };
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<ModelReply, ModelError> {
        let Some(stop) = self.stop.take() else { return Err(cut()) };
        self.calls.extend(self.stream.finish());
        let why = match stop.as_str() {
            "length" => StopReason::Length,
            "content_filter" => StopReason::Refused,
            _ if self.calls.is_empty() => StopReason::Done,
            _ => StopReason::Calls,
        };
        let mut message = json!({
            "role": "assistant",
            "content": Some(&self.text).filter(|it| !it.trim().is_empty()),
        });
        if let Some(fields) = message.as_object_mut() {
            if !self.calls.is_empty() {
                let calls = self.calls.iter().map(sent_back).collect();
                fields.insert("tool_calls".to_owned(), calls);
            }
            if !self.thoughts.is_empty() {
                fields.insert("reasoning_content".to_owned(), self.thoughts.as_str().into());
            }
        }
        Ok(ModelReply {
            text: self.text,
            thoughts: Some(self.thoughts).filter(|it| !it.is_empty()),
            asked: asked(self.calls),
            blocks: Some(message),
            why,
            usage: self.usage,
        })
    }
}

/// A call as it goes back: under the id that its answer has.
fn sent_back(call: &StreamedCall) -> Value {
    let function = json!({"name": call.name(), "arguments": call.arguments()});
    json!({"id": call.incoming.id(), "type": "function", "function": function})
}
