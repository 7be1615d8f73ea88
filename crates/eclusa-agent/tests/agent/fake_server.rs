//! A strict server on this machine: it speaks the wires in small chunks, and refuses what providers
//! refuse.

use std::{
    collections::{BTreeMap, HashSet},
    convert::Infallible,
    sync::{Arc, Mutex},
};

use http_body_util::{BodyExt, Full};
use hyper::{Request, Response, body::Bytes, body::Incoming as Received, service::service_fn};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// What the server says, in the order of the requests.
#[derive(Clone)]
pub(crate) enum Said {
    /// A message with calls: id, tool, text.
    Message(&'static str, Vec<(&'static str, &'static str, &'static str)>),
    /// A status, with seconds to wait.
    Status(u16, u32),
    /// A stream that is cut after the first half.
    Cut,
}

#[derive(Default)]
struct Seen {
    bodies: Vec<Value>,
    keys: Vec<String>,
    /// Signed blocks that were sent out: they must come back as they are.
    signed: HashSet<String>,
}

/// The server, and what it has seen.
pub(crate) struct FakeServer {
    pub(crate) url: String,
    seen: Arc<Mutex<Seen>>,
}

impl FakeServer {
    pub(crate) async fn start(script: Vec<Said>) -> FakeServer {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (seen, script) = (Arc::new(Mutex::new(Seen::default())), Arc::new(script));
        let kept = seen.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (seen, script) = (kept.clone(), script.clone());
                let service =
                    service_fn(move |request| answer(request, seen.clone(), script.clone()));
                tokio::spawn(async move {
                    let connection = hyper::server::conn::http1::Builder::new();
                    drop(connection.serve_connection(TokioIo::new(stream), service).await);
                });
            }
        });
        FakeServer { url, seen }
    }

    pub(crate) fn bodies(&self) -> Vec<Value> {
        self.seen.lock().unwrap().bodies.clone()
    }

    pub(crate) fn keys(&self) -> Vec<String> {
        self.seen.lock().unwrap().keys.clone()
    }
}

async fn answer(
    request: Request<Received>,
    seen: Arc<Mutex<Seen>>,
    script: Arc<Vec<Said>>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let path = request.uri().path().to_owned();
    let header = |name: &str| {
        let value = request.headers().get(name).and_then(|it| it.to_str().ok());
        value.unwrap_or_default().to_owned()
    };
    let key = ["x-api-key", "authorization", "x-goog-api-key"].map(header).concat();
    let body = request.into_body().collect().await.unwrap().to_bytes();
    let body: Value = serde_json::from_slice(&body).unwrap();
    let mut seen = seen.lock().unwrap();
    let place = seen.bodies.len();
    seen.bodies.push(body.clone());
    seen.keys.push(key);
    if let Err(wrong) = strict(&path, &body, &seen.signed) {
        return Ok(refusal(
            400,
            json!({"error": {"type": "invalid_request_error", "message": wrong}}),
        ));
    }
    let said = script.get(place).cloned().unwrap_or(Said::Status(500, 0));
    let (text, calls) = match said {
        Said::Message(text, calls) => (text, calls),
        Said::Status(status, wait) => {
            let mut response = refusal(status, json!({"error": {"message": "as the script says"}}));
            response.headers_mut().insert("retry-after", wait.into());
            return Ok(response);
        }
        Said::Cut => ("this is cut", Vec::new()),
    };
    let events = events(&path, place, text, &calls, &mut seen.signed);
    let take = match script.get(place) {
        Some(Said::Cut) => events.len() / 2,
        _ => events.len(),
    };
    let stream: String = events[..take].iter().map(|it| format!("data: {it}\r\n\r\n")).collect();
    Ok(Response::new(Full::new(Bytes::from(stream))))
}

fn refusal(status: u16, body: Value) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(body.to_string())));
    *response.status_mut() = status.try_into().unwrap();
    response
}

/// What providers refuse, in one sentence.
pub(crate) fn strict(path: &str, body: &Value, signed: &HashSet<String>) -> Result<(), String> {
    let blocks: Vec<(String, Vec<Value>)> = match path {
        "/v1/messages" => {
            list(&body["messages"]).iter().map(|it| (role(it), list(&it["content"]))).collect()
        }
        "/v1/chat/completions" => {
            list(&body["messages"]).iter().map(|it| (role(it), vec![it.clone()])).collect()
        }
        "/v1/responses" => {
            list(&body["input"]).iter().map(|it| (role(it), vec![it.clone()])).collect()
        }
        _ => list(&body["contents"]).iter().map(|it| (role(it), list(&it["parts"]))).collect(),
    };
    if path == "/v1/messages"
        || path.contains("generateContent")
        || path.contains("streamGenerateContent")
    {
        for pair in blocks.windows(2) {
            if pair[0].0 == pair[1].0 {
                return Err(format!("two messages of {} in a row", pair[0].0));
            }
        }
    }
    let mut open: BTreeMap<String, bool> = BTreeMap::new();
    for (_, parts) in &blocks {
        let mut answers = false;
        for part in parts {
            for text in [&part["text"], &part["content"]] {
                if text.as_str().is_some_and(|it| it.trim().is_empty()) {
                    return Err("an empty text".to_owned());
                }
            }
            if part.get("signature").is_some() && !signed.contains(&part.to_string()) {
                return Err("a signed block was changed".to_owned());
            }
            let asked = match part["type"].as_str() {
                Some("tool_use") => vec![part["id"].clone()],
                Some("function_call") => vec![part["call_id"].clone()],
                _ => list(&part["tool_calls"]).iter().map(|it| it["id"].clone()).collect(),
            };
            let answered = [&part["tool_use_id"], &part["tool_call_id"]];
            let mut answered: Vec<&Value> =
                answered.into_iter().filter(|it| it.is_string()).collect();
            if part["type"] == "function_call_output" {
                answered.push(&part["call_id"]);
            }
            for id in asked {
                open.insert(id.as_str().unwrap_or_default().to_owned(), false);
            }
            for id in answered {
                answers = true;
                if open.remove(id.as_str().unwrap_or_default()).is_none() {
                    return Err(format!("an answer without a call: {id}"));
                }
            }
        }
        let words = !answers && parts.iter().any(|it| it["role"] == "user" || it["type"] == "text");
        if words && !open.is_empty() && parts.iter().all(|it| it["type"] != "tool_use") {
            return Err(format!("calls without answers: {open:?}"));
        }
    }
    match open.is_empty() {
        true => Ok(()),
        false => Err(format!("calls without answers: {open:?}")),
    }
}

fn list(value: &Value) -> Vec<Value> {
    value.as_array().cloned().unwrap_or_default()
}

fn role(value: &Value) -> String {
    value["role"].as_str().unwrap_or_default().to_owned()
}

/// The events of one message on the wire of this path.
fn events(
    path: &str,
    place: usize,
    text: &str,
    calls: &[(&str, &str, &str)],
    signed: &mut HashSet<String>,
) -> Vec<Value> {
    let args = |text: &str| json!({"text": text});
    let halves = text.split_at(text.len() / 2);
    match path {
        "/v1/messages" => {
            let thought =
                json!({"type": "thinking", "thinking": "hm", "signature": format!("sig-{place}")});
            signed.insert(thought.to_string());
            let mut events = vec![
                json!({"type": "message_start", "message": {"usage": {"input_tokens": 10, "output_tokens": 1}}}),
                json!({"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "", "signature": ""}}),
                json!({"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "hm"}}),
                json!({"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": format!("sig-{place}")}}),
                json!({"type": "content_block_stop", "index": 0}),
                json!({"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}}),
                json!({"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": halves.0}}),
                json!({"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": halves.1}}),
                json!({"type": "content_block_stop", "index": 1}),
            ];
            for (n, (id, tool, text)) in (2..).zip(calls) {
                events.push(json!({"type": "content_block_start", "index": n, "content_block": {"type": "tool_use", "id": id, "name": tool, "input": {}}}));
                events.push(json!({"type": "content_block_delta", "index": n, "delta": {"type": "input_json_delta", "partial_json": args(text).to_string()}}));
                events.push(json!({"type": "content_block_stop", "index": n}));
            }
            let why = if calls.is_empty() { "end_turn" } else { "tool_use" };
            events.push(json!({"type": "message_delta", "delta": {"stop_reason": why}, "usage": {"output_tokens": 5}}));
            events.push(json!({"type": "message_stop"}));
            events
        }
        "/v1/responses" => {
            let mut output = vec![
                json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}),
            ];
            output.extend(calls.iter().map(|(id, tool, text)| {
                json!({"type": "function_call", "call_id": id, "name": tool, "arguments": args(text).to_string()})
            }));
            let mut events = vec![
                json!({"type": "response.output_text.delta", "output_index": 0, "delta": halves.0}),
                json!({"type": "response.output_text.delta", "output_index": 0, "delta": halves.1}),
            ];
            events.extend(output.iter().enumerate().map(|(n, item)| {
                json!({"type": "response.output_item.done", "output_index": n, "item": item})
            }));
            events.push(json!({"type": "response.completed", "response": {"output": output, "usage": {"input_tokens": 10, "output_tokens": 5}}}));
            events
        }
        "/v1/chat/completions" => {
            let chunk = |delta: Value, why: Option<&str>| json!({"choices": [{"index": 0, "delta": delta, "finish_reason": why}]});
            let mut events = vec![
                chunk(json!({"content": halves.0}), None),
                chunk(json!({"content": halves.1}), None),
            ];
            events.extend(calls.iter().enumerate().map(|(n, (id, tool, text))| {
                chunk(json!({"tool_calls": [{"index": n, "id": id, "type": "function", "function": {"name": tool, "arguments": args(text).to_string()}}]}), None)
            }));
            events
                .push(chunk(json!({}), Some(if calls.is_empty() { "stop" } else { "tool_calls" })));
            events.push(
                json!({"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 5}}),
            );
            events
        }
        _ => {
            let mut parts = vec![json!({"text": text})];
            parts.extend(calls.iter().map(|(_, tool, text)| json!({"functionCall": {"name": tool, "args": args(text)}, "thoughtSignature": "s"})));
            vec![
                json!({"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}], "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5}}),
            ]
        }
    }
}
