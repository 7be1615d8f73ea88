//! The event without data with which a stream of 2025-11-25 begins. Clients of older versions take it
//! for a broken message, so they are not sent it.

use std::convert::Infallible;

use http_body_util::{BodyExt as _, combinators::BoxBody};
use hyper::{HeaderMap, body::Bytes};
use serde_json::Value;

/// The first version whose clients know the event.
const SINCE: &str = "2025-11-25";

/// True when the client of a request does not know the event: by the header that it sends, or, when
/// it begins a session, by the version that it asks for.
pub(super) fn is_unknown_to(headers: &HeaderMap, body: &[u8]) -> bool {
    match headers.get("mcp-protocol-version").and_then(|it| it.to_str().ok()) {
        Some(version) => version < SINCE,
        None => {
            let message: Option<Value> = serde_json::from_slice(body).ok();
            let asked = message.as_ref().and_then(|it| it.pointer("/params/protocolVersion"));
            // One that names no version is of a time before there was the header.
            asked.and_then(Value::as_str).is_none_or(|it| it < SINCE)
        }
    }
}

/// The body without it.
pub(super) fn without(body: BoxBody<Bytes, Infallible>) -> BoxBody<Bytes, Infallible> {
    let mut first = true;
    body.map_frame(move |frame| {
        frame.map_data(|data| match std::mem::replace(&mut first, false) {
            true => stripped(data),
            false => data,
        })
    })
    .boxed()
}

fn stripped(data: Bytes) -> Bytes {
    let end = data.windows(2).position(|it| it == b"\n\n").map(|at| at + 2);
    let event = end.and_then(|end| data.get(..end)).and_then(|it| std::str::from_utf8(it).ok());
    let empty = |event: &str| {
        let mut said = event.lines().filter_map(|it| it.strip_prefix("data:"));
        said.all(|it| it.trim().is_empty()) && event.contains("data:")
    };
    match (end, event) {
        (Some(end), Some(event)) if empty(event) => data.slice(end..),
        _ => data,
    }
}

#[cfg(test)]
mod tests;
