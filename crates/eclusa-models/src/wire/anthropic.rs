//! Anthropic Messages: bodies with cache marks, and streams with thinking that goes back as it came.

use std::{collections::BTreeMap, sync::Arc};

use eclusa::{Incoming, parse::anthropic};
use serde_json::{Value, json};

use super::{
    StreamReader, Thinking, WirePart, WireSettings, base64, by_role, count, cut, in_stream, object,
    plain_id, separated,
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
    calls: anthropic::Stream,
    asked: Vec<Incoming>,
    blocks: BTreeMap<u64, Block>,
    stop: Option<String>,
    usage: Usage,
}

#[derive(Default)]
struct Block {
    value: Value,
    /// The input of a call, as far as it has come.
    input: String,
}

impl Block {
    fn append(&mut self, field: &str, part: &str) {
        if let Some(fields) = self.value.as_object_mut() {
            let before = fields.get(field).and_then(Value::as_str).unwrap_or_default();
            let whole = format!("{before}{part}");
            fields.insert(field.to_owned(), whole.into());
        }
    }
}

impl StreamReader for AnthropicReader {
    fn push(
        &mut self,
        event: &Value,
        hear: &mut (dyn FnMut(Delta) + Send),
    ) -> Result<(), ModelError> {
        self.asked.extend(self.calls.push(event));
        let index = event.get("index").and_then(Value::as_u64).unwrap_or_default();
        match event.get("type").and_then(Value::as_str).unwrap_or_default() {
            "message_start" => {
                self.count(event.pointer("/message/usage"));
            }
            "content_block_start" => {
                let block = self.blocks.entry(index).or_default();
                block.value = event.get("content_block").cloned().unwrap_or_default();
                for (field, delta) in [("text", false), ("thinking", true)] {
                    if let Some(text) = block.value.get(field).and_then(Value::as_str)
                        && !text.is_empty()
                    {
                        let text = text.to_owned();
                        hear(if delta { Delta::Thought(text) } else { Delta::Text(text) });
                    }
                }
            }
            "content_block_delta" => {
                let block = self.blocks.entry(index).or_default();
                let delta = event.get("delta").cloned().unwrap_or_default();
                let part = |name: &str| {
                    delta.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
                };
                match delta.get("type").and_then(Value::as_str).unwrap_or_default() {
                    "text_delta" => {
                        block.append("text", &part("text"));
                        hear(Delta::Text(part("text")));
                    }
                    "thinking_delta" => {
                        block.append("thinking", &part("thinking"));
                        hear(Delta::Thought(part("thinking")));
                    }
                    "signature_delta" => block.append("signature", &part("signature")),
                    "input_json_delta" => block.input.push_str(&part("partial_json")),
                    _ => {}
                }
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
        self.asked.extend(self.calls.finish());
        let blocks: Vec<Value> = self.blocks.into_values().filter_map(whole).collect();
        let join = |kind: &str, field: &str| -> String {
            let of = |it: &&Value| it.get("type").is_some_and(|it| it == kind);
            let text = |it: &Value| it.get(field).and_then(Value::as_str).map(str::to_owned);
            blocks.iter().filter(of).filter_map(text).collect()
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
            asked: self.asked,
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

/// A block as it goes back. What providers refuse is left out: empty texts.
fn whole(mut block: Block) -> Option<Value> {
    let kind = block.value.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
    if kind == "text"
        && block.value.get("text").and_then(Value::as_str).is_none_or(|it| it.trim().is_empty())
    {
        return None;
    }
    if kind == "tool_use"
        && let Some(fields) = block.value.as_object_mut()
    {
        let given = fields.get("input").filter(|it| it.is_object() && block.input.is_empty());
        let input = match given {
            Some(given) => given.clone(),
            None => object(&serde_json::from_str(&block.input).unwrap_or_default()),
        };
        fields.insert("input".to_owned(), input);
    }
    Some(block.value).filter(Value::is_object)
}
