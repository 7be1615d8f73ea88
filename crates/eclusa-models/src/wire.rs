//! The wires: a request as each provider wants it, and its stream read back into one reply.
//!
//! Bodies are pure functions of the request. What a model sent goes back to the same wire and model
//! as it came, with the calls that `eclusa::parse` read; everything else is rebuilt from words, calls
//! and answers.

use std::sync::{Arc, Mutex, PoisonError};

use eclusa::{Incoming, Wire, parse::StreamedCall, settings::Thinking};
use serde_json::{Value, json};

use crate::{
    message_cache::MessageCache,
    model::{Delta, ModelError, ModelReply, ModelRequest, Price, ViewMessage},
};

mod anthropic;
mod gemini;
mod openai_chat;
mod openai_responses;
mod text;

/// A model at an address, as the configuration describes it.
#[derive(Debug, Clone)]
pub struct WireSettings {
    /// What the configuration calls it.
    pub name: String,
    /// The wire.
    pub wire: Wire,
    /// What its server calls it.
    pub model: String,
    /// The address of the server.
    pub url: String,
    /// Whether it has native calls; otherwise they are `tool` blocks in its text.
    pub native: bool,
    /// How many tokens it can look at.
    pub window: u64,
    /// How many it may write in one reply.
    pub output: u64,
    /// How much it is asked to think.
    pub thinking: Thinking,
    /// Whether it looks at pictures.
    pub images: bool,
    /// What it costs.
    pub price: Option<Price>,
}

/// Where a wire is found unless the configuration says otherwise.
pub fn default_url(wire: Wire) -> &'static str {
    match wire {
        Wire::Anthropic => "https://api.anthropic.com",
        Wire::Openai | Wire::OpenaiChat => "https://api.openai.com",
        Wire::Gemini => "https://generativelanguage.googleapis.com",
    }
}

/// The path of a request, below the address.
pub(crate) fn path(wire: Wire, model: &str) -> String {
    match wire {
        Wire::Anthropic => "/v1/messages".to_owned(),
        Wire::Openai => "/v1/responses".to_owned(),
        Wire::OpenaiChat => "/v1/chat/completions".to_owned(),
        Wire::Gemini => format!("/v1beta/models/{model}:streamGenerateContent?alt=sse"),
    }
}

/// The headers of a request with this key.
pub fn headers(wire: Wire, key: Option<&str>) -> Vec<(&'static str, String)> {
    let mut headers = Vec::new();
    if let Some(key) = key {
        headers.push(match wire {
            Wire::Anthropic => ("x-api-key", key.to_owned()),
            Wire::Openai | Wire::OpenaiChat => ("authorization", format!("Bearer {key}")),
            Wire::Gemini => ("x-goog-api-key", key.to_owned()),
        });
    }
    if wire == Wire::Anthropic {
        headers.push(("anthropic-version", "2023-06-01".to_owned()));
    }
    headers
}

/// What a wire makes of one message.
#[derive(Debug, Default)]
pub(crate) struct WirePart {
    /// Whose it is; neighbours of one role are one message, where the wire wants that.
    role: &'static str,
    /// Blocks or messages in JSON, with commas between them; empty where nothing is to be shown.
    json: String,
    /// The same within its turn, where that is more.
    in_turn: Option<String>,
}

impl WirePart {
    fn new(role: &'static str, blocks: &[Value]) -> WirePart {
        let blocks: Vec<String> = blocks.iter().map(ToString::to_string).collect();
        WirePart { role, json: blocks.join(","), in_turn: None }
    }
}

/// What was written for the last request and is in the next one too.
#[derive(Default)]
pub(crate) struct WireCache {
    parts: MessageCache<WirePart>,
    tools: Mutex<Option<(Arc<Value>, String)>>,
}

/// The body of a request. The conversation comes last, so that a longer request begins like the one
/// before it.
pub(crate) fn body(settings: &WireSettings, request: &ModelRequest, cache: &WireCache) -> Vec<u8> {
    let (fields, list) = match settings.wire {
        Wire::Anthropic => (anthropic::fields(settings, request), "messages"),
        Wire::Openai => (openai_responses::fields(settings, request), "input"),
        Wire::OpenaiChat => (openai_chat::fields(settings, request), "messages"),
        Wire::Gemini => (gemini::fields(settings, request), "contents"),
    };
    let mut body = fields.to_string();
    // The brace at its end: more follows.
    body.pop();
    if let Some(tools) = request.tools.as_ref().filter(|_| settings.native) {
        cache.write_tools(tools, &mut body);
    }
    body.push_str(&format!(",\"{list}\":["));
    let part = |message: &ViewMessage| match settings.native {
        true => part(settings.wire, message),
        false => part(settings.wire, &text::flattened(message)),
    };
    cache.parts.with(&request.messages, part, |parts| match settings.wire {
        Wire::Anthropic => anthropic::write(parts, &mut body),
        Wire::Openai => {
            separated(parts.iter().map(|(_, it)| it.json.as_str()), &mut body);
        }
        Wire::OpenaiChat => openai_chat::write(&request.system, parts, &mut body),
        Wire::Gemini => gemini::write(parts, &mut body),
    });
    body.push_str("]}");
    body.into_bytes()
}

impl WireCache {
    fn write_tools(&self, tools: &Arc<Value>, body: &mut String) {
        // Some servers refuse a list of none.
        if tools.as_array().is_some_and(Vec::is_empty) {
            return;
        }
        let mut last = self.tools.lock().unwrap_or_else(PoisonError::into_inner);
        let written = match last.take() {
            Some((before, written)) if Arc::ptr_eq(&before, tools) => written,
            _ => tools.to_string(),
        };
        body.push_str(",\"tools\":");
        body.push_str(&written);
        *last = Some((tools.clone(), written));
    }
}

fn part(wire: Wire, message: &ViewMessage) -> WirePart {
    match wire {
        Wire::Anthropic => anthropic::part(message),
        Wire::Openai => openai_responses::part(message),
        Wire::OpenaiChat => openai_chat::part(message),
        Wire::Gemini => gemini::part(message),
    }
}

/// Writes what there is, with commas between.
fn separated<'a>(all: impl IntoIterator<Item = &'a str>, body: &mut String) {
    let mut first = true;
    for json in all.into_iter().filter(|it| !it.is_empty()) {
        if !std::mem::take(&mut first) {
            body.push(',');
        }
        body.push_str(json);
    }
}

/// Neighbours of one role together.
fn by_role(parts: &[(Arc<ViewMessage>, WirePart)]) -> Vec<(&'static str, Vec<&str>)> {
    let mut groups: Vec<(&'static str, Vec<&str>)> = Vec::new();
    for (_, part) in parts.iter().filter(|(_, it)| !it.json.is_empty()) {
        match groups.last_mut() {
            Some((last, all)) if *last == part.role => all.push(&part.json),
            _ => groups.push((part.role, vec![&part.json])),
        }
    }
    groups
}

/// The same request without tools, with calls and answers told in words.
pub fn in_words(request: &ModelRequest) -> ModelRequest {
    let messages = request.messages.iter().map(|it| Arc::new(text::flattened(it))).collect();
    ModelRequest { messages, tools: None, ..request.clone() }
}

/// Reads the events of one streamed reply, in any order that servers are known to send them in.
pub(crate) trait StreamReader: Send {
    /// Takes one event, and tells what it brings.
    fn push(
        &mut self,
        event: &Value,
        hear: &mut (dyn FnMut(Delta) + Send),
    ) -> Result<(), ModelError>;

    /// The stream has ended: the whole reply, or that it was cut.
    fn finish(self: Box<Self>) -> Result<ModelReply, ModelError>;
}

/// A reader for one reply.
pub(crate) fn reader(settings: &WireSettings) -> Box<dyn StreamReader> {
    let reader: Box<dyn StreamReader> = match settings.wire {
        Wire::Anthropic => Box::<anthropic::AnthropicReader>::default(),
        Wire::Openai => Box::<openai_responses::ResponsesReader>::default(),
        Wire::OpenaiChat => Box::<openai_chat::ChatReader>::default(),
        Wire::Gemini => Box::<gemini::GeminiReader>::default(),
    };
    match settings.native {
        true => reader,
        false => Box::new(text::BlockReader::new(reader)),
    }
}

/// What passes the gate of these calls.
fn asked(calls: Vec<StreamedCall>) -> Vec<Incoming> {
    calls.into_iter().map(Incoming::from).collect()
}

/// The effort that OpenAI's wires are asked for.
fn effort(settings: &WireSettings) -> Option<&'static str> {
    (settings.thinking != Thinking::Off).then(|| settings.thinking.as_str())
}

/// A stream that ended before it said why.
fn cut() -> ModelError {
    ModelError::retry("the stream was cut off", None)
}

/// An error that came in the middle of a stream.
fn in_stream(error: &Value) -> ModelError {
    let text = |name: &str| error.get(name).and_then(Value::as_str).unwrap_or_default();
    let kind = match (text("type"), text("code"), text("status")) {
        ("" | "error", "", status) => status,
        ("" | "error", code, _) => code,
        (kind, ..) => kind,
    };
    let message = text("message").split_whitespace().collect::<Vec<_>>().join(" ");
    let what = format!("the server failed: {kind} {message}");
    let what = what.trim_end().to_owned();
    if says_too_long(&error.to_string()) {
        return ModelError::too_long(what);
    }
    let kind = kind.to_lowercase();
    let fatal = ["invalid", "authenticat", "permission", "not_found", "quota"];
    match fatal.iter().any(|it| kind.contains(it)) {
        true => ModelError::fatal(what),
        false => ModelError::retry(what, None),
    }
}

/// Whether a server means that a request does not fit the model's window.
pub(crate) fn says_too_long(said: &str) -> bool {
    let said = said.to_lowercase();
    let words = [
        "context length",
        "context window",
        "context_length",
        "prompt is too long",
        "too many tokens",
        "exceeds the maximum number of tokens",
        "exceed_context_size",
    ];
    words.iter().any(|it| said.contains(it))
}

/// An id that every provider takes.
fn plain_id(id: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' };
    id.chars().map(plain).collect()
}

/// Arguments that were read, or none.
fn object(args: &Value) -> Value {
    if args.is_object() { args.clone() } else { json!({}) }
}

/// A picture as an address that holds it.
fn data_url(media_type: &str, bytes: &[u8]) -> String {
    format!("data:{media_type};base64,{}", base64(bytes))
}

fn base64(bytes: &[u8]) -> String {
    use base64::{Engine as _, prelude::BASE64_STANDARD};
    BASE64_STANDARD.encode(bytes)
}

/// The number at a place, or none.
fn count(value: &Value, pointer: &str) -> Option<u64> {
    value.pointer(pointer).and_then(Value::as_u64)
}

#[cfg(test)]
mod tests;
