//! Anthropic Messages: bodies with cache marks, and streams with thinking that goes back as it came.

use std::sync::Arc;

use eclusa::parse::{StreamedCall, anthropic};
use serde_json::{Map, Value, json};

use super::{
    StreamReader, Thinking, WirePart, WireSettings, asked, base64, by_role, count, cut, in_stream,
    object, plain_id, separated,
};
use crate::model::{Delta, ModelError, ModelReply, ModelRequest, StopReason, Usage, ViewMessage};

/// What the provider is asked to keep everything up to.
const CACHE_MARK: &str = ",\"cache_control\":{\"type\":\"ephemeral\"}}";

pub(super) fn fields(settings: &WireSettings, request: &ModelRequest) -> Value {
    let mut body = json!({
        "model": settings.model,
        "max_tokens": settings.output,
        "stream": true,
        "system": [{"type": "text", "text": request.system, "cache_control": {"type": "ephemeral"}}],
    });
    let budget = match settings.thinking {
        Thinking::Off => 0,
        Thinking::Low => 2_048,
        Thinking::Medium => 8_192,
        Thinking::High => 24_000,
    };
    if let Some(fields) = body.as_object_mut() {
        // It has to leave room for the answer.
        let budget = budget.min(settings.output / 2);
        if budget >= 1_024 {
            let thinking = json!({"type": "enabled", "budget_tokens": budget});
            fields.insert("thinking".to_owned(), thinking);
        }
    }
    body
}

/// Writes the messages, and marks the last two of the user: the provider keeps everything up to them.
pub(super) fn write(parts: &[(Arc<ViewMessage>, WirePart)], body: &mut String) {
    let groups = by_role(parts);
    let users = groups.iter().enumerate().rev().filter(|(_, (role, _))| *role == "user");
    let marked: Vec<usize> = users.take(2).map(|(place, _)| place).collect();
    for (place, (role, blocks)) in groups.into_iter().enumerate() {
        body.push_str(if place > 0 { "," } else { "" });
        body.push_str(&format!("{{\"role\":\"{role}\",\"content\":["));
        separated(blocks, body);
        if marked.contains(&place) {
            // Before the brace at the end of the last block.
            body.pop();
            body.push_str(CACHE_MARK);
        }
        body.push_str("]}");
    }
}

pub(super) fn part(message: &ViewMessage) -> WirePart {
    let (user, blocks) = blocks(message);
    WirePart::new(if user { "user" } else { "assistant" }, &blocks)
}

/// Whether it is the user's, and its blocks.
fn blocks(message: &ViewMessage) -> (bool, Vec<Value>) {
    let text = |text: &str| {
        let words = Some(text).filter(|it| !it.trim().is_empty());
        words.map(|it| json!({"type": "text", "text": it}))
    };
    match message {
        ViewMessage::User { text: words, pictures } => {
            let picture = |(kind, bytes): &(String, Arc<[u8]>)| {
                let source = json!({"type": "base64", "media_type": kind, "data": base64(bytes)});
                json!({"type": "image", "source": source})
            };
            (true, pictures.iter().map(picture).chain(text(words)).collect())
        }
        ViewMessage::Assistant { blocks: Some(blocks), .. } => {
            (false, blocks.as_array().cloned().unwrap_or_default())
        }
        ViewMessage::Assistant { text: words, calls, .. } => {
            let call = |it: &crate::model::ViewCall| {
                let name = if it.name.is_empty() { "unknown" } else { it.name.as_str() };
                json!({"type": "tool_use", "id": plain_id(&it.id), "name": name, "input": object(&it.args)})
            };
            (false, text(words).into_iter().chain(calls.iter().map(call)).collect())
        }
        ViewMessage::Answers(all) => {
            let mut answers = all.clone();
            answers.iter_mut().for_each(|it| it.id = plain_id(&it.id));
            let message = anthropic::results(&answers).pop();
            let content = message.as_ref().and_then(|it| it.get("content")?.as_array());
            (true, content.cloned().unwrap_or_default())
        }
    }
}

/// Reads one streamed message.
#[derive(Default)]
pub(super) struct AnthropicReader {
    stream: anthropic::Stream,
    calls: Vec<StreamedCall>,
    /// The blocks as they came, by their index. The input of calls is in `calls`.
    blocks: Vec<(u64, Value)>,
    stop: Option<String>,
    usage: Usage,
}

impl StreamReader for AnthropicReader {
    fn push(
        &mut self,
        event: &Value,
        hear: &mut (dyn FnMut(Delta) + Send),
    ) -> Result<(), ModelError> {
        self.calls.extend(self.stream.push(event));
        let index = event.get("index").and_then(Value::as_u64).unwrap_or_default();
        match event.get("type").and_then(Value::as_str).unwrap_or_default() {
            "message_start" => self.count(event.pointer("/message/usage")),
            "content_block_start" => {
                let block = event.get("content_block").cloned().unwrap_or_default();
                hear_text(&block, "text", hear);
                hear_text(&block, "thinking", hear);
                self.blocks.push((index, block));
            }
            "content_block_delta" => {
                let delta = event.get("delta").unwrap_or(&Value::Null);
                let block = self.blocks.iter_mut().rev().find(|(it, _)| *it == index);
                if let Some((_, Value::Object(block))) = block {
                    for field in ["text", "thinking", "signature"] {
                        append(block, field, delta);
                    }
                }
                hear_text(delta, "text", hear);
                hear_text(delta, "thinking", hear);
            }
            "message_delta" => {
                self.count(event.get("usage"));
                if let Some(why) = event.pointer("/delta/stop_reason").and_then(Value::as_str) {
                    self.stop = Some(why.to_owned());
                }
            }
            "error" => {
                return Err(in_stream(event.get("error").unwrap_or(&Value::Null)));
            }
            _ => {}
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<ModelReply, ModelError> {
        let Some(stop) = self.stop.take() else { return Err(cut()) };
        self.calls.extend(self.stream.finish());
        let blocks = sent_back(self.blocks, self.calls.clone());
        let join = |kind: &str, field: &str| -> String {
            let is_kind = |it: &&Value| it.get("type").is_some_and(|it| it == kind);
            let text = |it: &Value| it.get(field).and_then(Value::as_str).map(str::to_owned);
            blocks.iter().filter(is_kind).filter_map(text).collect()
        };
        let thoughts = Some(join("thinking", "thinking")).filter(|it| !it.is_empty());
        let why = match stop.as_str() {
            "tool_use" => StopReason::Calls,
            "max_tokens" => StopReason::Length,
            "pause_turn" => StopReason::Paused,
            "refusal" => StopReason::Refused,
            "model_context_window_exceeded" => StopReason::Window,
            _ => StopReason::Done,
        };
        Ok(ModelReply {
            text: join("text", "text"),
            thoughts,
            asked: asked(self.calls),
            blocks: Some(blocks.into()),
            why,
            usage: self.usage,
        })
    }
}

impl AnthropicReader {
    fn count(&mut self, usage: Option<&Value>) {
        let Some(usage) = usage else { return };
        let fields = [
            ("/input_tokens", &mut self.usage.input),
            ("/cache_read_input_tokens", &mut self.usage.cache_read),
            ("/cache_creation_input_tokens", &mut self.usage.cache_write),
            ("/output_tokens", &mut self.usage.output),
        ];
        for (name, number) in fields {
            if let Some(new) = count(usage, name) {
                *number = new;
            }
        }
    }
}

/// Tells the words in this field, if there are any.
fn hear_text(from: &Value, field: &str, hear: &mut (dyn FnMut(Delta) + Send)) {
    let text = from.get(field).and_then(Value::as_str).filter(|it| !it.is_empty());
    if let Some(text) = text.map(str::to_owned) {
        hear(if field == "text" { Delta::Text(text) } else { Delta::Thought(text) });
    }
}

/// Appends what a delta has of this field.
fn append(block: &mut Map<String, Value>, field: &str, delta: &Value) {
    if let Some(part) = delta.get(field).and_then(Value::as_str) {
        let before = block.get(field).and_then(Value::as_str).unwrap_or_default();
        let whole = format!("{before}{part}");
        block.insert(field.to_owned(), whole.into());
    }
}

/// The blocks as they go back, in their order, with the calls that were read. What providers refuse
/// is left out: empty texts.
fn sent_back(mut blocks: Vec<(u64, Value)>, mut calls: Vec<StreamedCall>) -> Vec<Value> {
    blocks.sort_by_key(|(index, _)| *index);
    let mut back = Vec::new();
    for (index, block) in blocks {
        let empty =
            || block.get("text").and_then(Value::as_str).is_none_or(|it| it.trim().is_empty());
        match block.get("type").and_then(Value::as_str) {
            Some("text") if empty() => {}
            Some("tool_use") => {
                if let Some(at) = calls.iter().position(|it| it.index == index) {
                    back.push(call_block(block, &calls.remove(at)));
                }
            }
            _ if block.is_object() => back.push(block),
            _ => {}
        }
    }
    // One block may have been several calls, by mistake of the server: each is answered.
    back.extend(calls.iter().map(|it| call_block(json!({"type": "tool_use"}), it)));
    back
}

/// A call as it goes back, with the fields that its block had besides.
fn call_block(mut block: Value, call: &StreamedCall) -> Value {
    if let Some(fields) = block.as_object_mut() {
        fields.insert("id".to_owned(), plain_id(call.incoming.id()).into());
        fields.insert("name".to_owned(), call.name().into());
        fields.insert("input".to_owned(), call.input());
    }
    block
}
