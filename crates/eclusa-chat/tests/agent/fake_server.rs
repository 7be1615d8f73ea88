//! A strict server on this machine: it speaks the wires in small chunks, and refuses what providers
//! refuse.

use std::{
    collections::{BTreeMap, HashSet},
    io,
    sync::{Arc, Mutex},
};

use futures::{StreamExt as _, stream};
use http_body_util::{BodyExt, Full, StreamBody, combinators::UnsyncBoxBody};
use hyper::{
    Request, Response,
    body::{Bytes, Frame, Incoming as Received},
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::fake_events::events;

/// A call: id, tool, text.
pub(crate) type SaidCall = (&'static str, &'static str, &'static str);

/// What the server says, in the order of the requests.
#[derive(Clone)]
pub(crate) enum Said {
    /// A message with calls.
    Message(&'static str, Vec<SaidCall>),
    /// A status, perhaps with seconds to wait.
    Status(u16, Option<u32>),
    /// The beginning of a message with a call. Then the stream ends as if that were all, or breaks.
    Beginning { call: SaidCall, cut: Cut, breaks: bool },
    /// An event of this type, which says what went wrong.
    Failure(&'static str),
    /// The connection is closed.
    Nothing,
}

/// Where a stream ends.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Cut {
    InsideEvent,
    BetweenEvents,
    InsideArguments,
    BetweenArguments,
    AfterStopReason,
}

impl Cut {
    pub(crate) const ALL: [Cut; 5] = [
        Cut::InsideEvent,
        Cut::BetweenEvents,
        Cut::InsideArguments,
        Cut::BetweenArguments,
        Cut::AfterStopReason,
    ];

    /// How many bytes of these events come.
    fn place(self, events: &[String], call: SaidCall) -> usize {
        let (start, _) = call.2.split_at(call.2.len() / 2);
        let stops =
            ["\"stop_reason\":\"", "response.completed", "\"finish_reason\":\"", "finishReason"];
        let is_text = |it: &String| it.contains(TEXT_START);
        let is_call = |it: &String| it.contains(start);
        let is_stop = |it: &String| stops.iter().any(|stop| it.contains(stop));
        let (found, whole): (&dyn Fn(&String) -> bool, bool) = match self {
            Cut::InsideEvent => (&is_text, false),
            Cut::BetweenEvents => (&is_text, true),
            Cut::InsideArguments => (&is_call, false),
            Cut::BetweenArguments => (&is_call, true),
            Cut::AfterStopReason => (&is_stop, true),
        };
        let at = events.iter().position(found).unwrap();
        let before: usize = events[..at].iter().map(String::len).sum();
        let inside = events[at].find(start).map_or(events[at].len() / 2, |it| it + 2);
        before + if whole { events[at].len() } else { inside }
    }
}

/// How the text of a message that is cut begins.
const TEXT_START: &str = "I be";

#[derive(Default)]
struct Seen {
    /// Which script each was for, and what it was.
    bodies: Vec<(usize, Value)>,
    keys: Vec<String>,
    /// Signed blocks that were sent out: they must come back as they are.
    signed: HashSet<String>,
}

/// What is said to requests that hold a text.
type Scripts = Vec<(String, Vec<Said>)>;

/// The server, and what it has seen.
pub(crate) struct FakeServer {
    pub(crate) url: String,
    seen: Arc<Mutex<Seen>>,
}

impl FakeServer {
    pub(crate) async fn start(script: Vec<Said>) -> FakeServer {
        FakeServer::start_with(vec![(String::new(), script)]).await
    }

    /// With a script for each of these texts: the first that is in a request counts.
    pub(crate) async fn start_with(scripts: Scripts) -> FakeServer {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (seen, scripts) = (Arc::new(Mutex::new(Seen::default())), Arc::new(scripts));
        let kept = seen.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (seen, scripts) = (kept.clone(), scripts.clone());
                let service =
                    service_fn(move |request| answer(request, seen.clone(), scripts.clone()));
                tokio::spawn(async move {
                    let connection = hyper::server::conn::http1::Builder::new();
                    drop(connection.serve_connection(TokioIo::new(stream), service).await);
                });
            }
        });
        FakeServer { url, seen }
    }

    pub(crate) fn bodies(&self) -> Vec<Value> {
        self.seen.lock().unwrap().bodies.iter().map(|(_, body)| body.clone()).collect()
    }

    /// The requests that were for this script.
    pub(crate) fn bodies_for(&self, script: usize) -> Vec<Value> {
        let seen = self.seen.lock().unwrap();
        let own = seen.bodies.iter().filter(|(it, _)| *it == script);
        own.map(|(_, body)| body.clone()).collect()
    }

    pub(crate) fn keys(&self) -> Vec<String> {
        self.seen.lock().unwrap().keys.clone()
    }
}

type Answer = Response<UnsyncBoxBody<Bytes, io::Error>>;

async fn answer(
    request: Request<Received>,
    seen: Arc<Mutex<Seen>>,
    scripts: Arc<Scripts>,
) -> io::Result<Answer> {
    let path = request.uri().path().to_owned();
    let header = |name: &str| {
        let value = request.headers().get(name).and_then(|it| it.to_str().ok());
        value.unwrap_or_default().to_owned()
    };
    let key = ["x-api-key", "authorization", "x-goog-api-key"].map(header).concat();
    let body = request.into_body().collect().await.unwrap().to_bytes();
    let text = String::from_utf8(body.to_vec()).unwrap();
    let body: Value = serde_json::from_str(&text).unwrap();
    let mut seen = seen.lock().unwrap();
    let script = scripts.iter().position(|(words, _)| text.contains(words)).unwrap();
    let place = seen.bodies.iter().filter(|(it, _)| *it == script).count();
    seen.bodies.push((script, body.clone()));
    seen.keys.push(key);
    if let Err(wrong) = strict(&path, &body, &seen.signed) {
        return Ok(refusal(
            400,
            json!({"error": {"type": "invalid_request_error", "message": wrong}}),
        ));
    }
    let said = scripts[script].1.get(place).cloned().unwrap_or(Said::Status(500, Some(0)));
    let mut streamed = |text: &str, calls: &[SaidCall]| -> Vec<String> {
        let events = events(&path, place, text, calls, &mut seen.signed);
        events.iter().map(|it| format!("data: {it}\r\n\r\n")).collect()
    };
    match said {
        Said::Message(text, calls) => Ok(Response::new(whole(streamed(text, &calls).concat()))),
        Said::Status(status, wait) => {
            let mut response = refusal(status, json!({"error": {"message": "as the script says"}}));
            if let Some(wait) = wait {
                response.headers_mut().insert("retry-after", wait.into());
            }
            Ok(response)
        }
        Said::Beginning { call, cut, breaks } => {
            let text = format!("{TEXT_START}gin with it.");
            let events = streamed(&text, &[call]);
            let mut sent = events.concat();
            sent.truncate(cut.place(&events, call));
            Ok(Response::new(if breaks { broken(sent) } else { whole(sent) }))
        }
        Said::Failure(kind) => {
            let error =
                json!({"type": "error", "error": {"type": kind, "message": "as the script says"}});
            Ok(Response::new(whole(format!("data: {error}\n\n"))))
        }
        Said::Nothing => Err(io::Error::other("as the script says")),
    }
}

fn whole(text: String) -> UnsyncBoxBody<Bytes, io::Error> {
    Full::new(Bytes::from(text)).map_err(|never| match never {}).boxed_unsync()
}

/// A body that breaks off after this.
fn broken(text: String) -> UnsyncBoxBody<Bytes, io::Error> {
    let parts = [Ok(Frame::data(Bytes::from(text))), Err(io::Error::other("as the script says"))];
    // What was said first is on its way before the connection is closed.
    let slowly = |it| async {
        tokio::task::yield_now().await;
        it
    };
    StreamBody::new(stream::iter(parts).then(slowly)).boxed_unsync()
}

fn refusal(status: u16, body: Value) -> Answer {
    let mut response = Response::new(whole(body.to_string()));
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
    if path == "/v1/messages" && body.get("tools").is_none() {
        let mut parts = blocks.iter().flat_map(|(_, parts)| parts);
        if parts.any(|it| it["type"] == "tool_use" || it["type"] == "tool_result") {
            return Err("calls without tools".to_owned());
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
