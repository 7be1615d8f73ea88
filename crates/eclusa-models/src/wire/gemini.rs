//! Gemini: parts with their thought signatures go back as they came.

use std::sync::Arc;

use eclusa::parse::{StreamedCall, gemini};
use serde_json::{Value, json};

use super::{
    StreamReader, Thinking, WirePart, WireSettings, asked, base64, by_role, count, cut, in_stream,
    object, separated,
};
use crate::model::{Delta, ModelError, ModelReply, ModelRequest, StopReason, Usage, ViewMessage};

pub(super) fn fields(settings: &WireSettings, request: &ModelRequest) -> Value {
    let mut config = json!({"maxOutputTokens": settings.output});
    let budget = match settings.thinking {
        Thinking::Off => None,
        Thinking::Low => Some(2_048),
        Thinking::Medium => Some(8_192),
        Thinking::High => Some(24_576),
    };
    if let (Some(budget), Some(fields)) = (budget, config.as_object_mut()) {
        let thinking = json!({"includeThoughts": true, "thinkingBudget": budget});
        fields.insert("thinkingConfig".to_owned(), thinking);
    }
    json!({
        "systemInstruction": {"parts": [{"text": request.system}]},
        "generationConfig": config,
    })
}

pub(super) fn write(parts: &[(Arc<ViewMessage>, WirePart)], body: &mut String) {
    for (place, (role, parts)) in by_role(parts).into_iter().enumerate() {
        body.push_str(if place > 0 { "," } else { "" });
        body.push_str(&format!("{{\"role\":\"{role}\",\"parts\":["));
        separated(parts, body);
        body.push_str("]}");
    }
}

pub(super) fn part(message: &ViewMessage) -> WirePart {
    let (role, parts) = parts(message);
    WirePart::new(role, &parts)
}

fn parts(message: &ViewMessage) -> (&'static str, Vec<Value>) {
    let words = |text: &str| {
        let words = Some(text).filter(|it| !it.trim().is_empty());
        words.map(|it| json!({"text": it}))
    };
    match message {
        ViewMessage::User { text, pictures } => {
            let pictures = pictures.iter().map(
                |(kind, bytes)| json!({"inlineData": {"mimeType": kind, "data": base64(bytes)}}),
            );
            ("user", words(text).into_iter().chain(pictures).collect())
        }
        ViewMessage::Assistant { blocks: Some(blocks), .. } => {
            ("model", blocks.as_array().cloned().unwrap_or_default())
        }
        ViewMessage::Assistant { text, calls, .. } => {
            // A call that named no tool is answered in words.
            let calls = calls.iter().filter(|it| !it.name.is_empty());
            let calls = calls
                .map(|it| json!({"functionCall": {"name": it.name, "args": object(&it.args)}}));
            ("model", words(text).into_iter().chain(calls).collect())
        }
        ViewMessage::Answers(all) => {
            let content = gemini::results(all).pop();
            let parts = content.as_ref().and_then(|it| it.get("parts")?.as_array());
            ("user", parts.cloned().unwrap_or_default())
        }
    }
}

/// Reads one streamed response.
#[derive(Default)]
pub(super) struct GeminiReader {
    stream: gemini::Stream,
    calls: Vec<StreamedCall>,
    parts: Vec<Value>,
    text: String,
    thoughts: String,
    stop: Option<String>,
    usage: Usage,
}

impl StreamReader for GeminiReader {
    fn push(
        &mut self,
        chunk: &Value,
        hear: &mut (dyn FnMut(Delta) + Send),
    ) -> Result<(), ModelError> {
        if let Some(error) = chunk.get("error").filter(|it| !it.is_null()) {
            return Err(in_stream(error));
        }
        self.calls.extend(self.stream.push(chunk));
        for part in gemini::parts(chunk) {
            if let Some(text) = part.get("text").and_then(Value::as_str)
                && !text.is_empty()
            {
                let text = text.to_owned();
                if part.get("thought").is_some_and(|it| it == true) {
                    self.thoughts.push_str(&text);
                    hear(Delta::Thought(text));
                } else {
                    self.text.push_str(&text);
                    hear(Delta::Text(text));
                }
            }
            let empty = part.get("text").is_some_and(|it| it == "");
            if !empty || part.get("thoughtSignature").is_some() {
                self.parts.push(part.clone());
            }
        }
        let stop = gemini::candidate(chunk).get("finishReason").and_then(Value::as_str);
        if let Some(why) = stop {
            self.stop = Some(why.to_owned());
        }
        if let Some(why) = chunk.pointer("/promptFeedback/blockReason").and_then(Value::as_str) {
            self.stop = Some(why.to_owned());
        }
        if let Some(usage) = chunk.get("usageMetadata") {
            let cached = count(usage, "/cachedContentTokenCount").unwrap_or(0);
            let thoughts = count(usage, "/thoughtsTokenCount").unwrap_or(0);
            self.usage = Usage {
                input: count(usage, "/promptTokenCount").unwrap_or(0).saturating_sub(cached),
                cache_read: cached,
                cache_write: 0,
                output: count(usage, "/candidatesTokenCount").unwrap_or(0) + thoughts,
                reasoning: thoughts,
            };
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<ModelReply, ModelError> {
        let Some(stop) = self.stop.take() else { return Err(cut()) };
        self.calls.extend(self.stream.finish());
        let why = match stop.as_str() {
            "STOP" | "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" => {
                if self.calls.is_empty() { StopReason::Done } else { StopReason::Calls }
            }
            "MAX_TOKENS" => StopReason::Length,
            _ => StopReason::Refused,
        };
        Ok(ModelReply {
            text: self.text,
            thoughts: Some(self.thoughts).filter(|it| !it.is_empty()),
            asked: asked(self.calls),
            blocks: Some(self.parts.into()),
            why,
            usage: self.usage,
        })
    }
}
