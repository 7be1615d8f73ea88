//! Which events go, and for whom.

use hyper::header::HeaderValue;
use serde_json::json;

use super::*;

#[test]
fn an_event_without_data_goes_and_no_other() {
    let strip = |text: &'static str| stripped(Bytes::from_static(text.as_bytes()));
    assert_eq!(strip("id: 0\nretry: 3000\ndata: \n\n"), "");
    assert_eq!(strip("data:\nid: 0\n\ndata: {\"a\": 1}\n\n"), "data: {\"a\": 1}\n\n");
    for kept in ["data: {\"a\": 1}\n\n", ": comment\n\n", "data: ", ""] {
        assert_eq!(strip(kept), kept);
    }
}

#[test]
fn who_does_not_know_it_is_told_by_header_or_greeting() {
    let mut headers = HeaderMap::new();
    let hello = |version: &str| json!({"params": {"protocolVersion": version}}).to_string();
    assert!(is_unknown_to(&headers, hello("2025-06-18").as_bytes()));
    assert!(!is_unknown_to(&headers, hello("2025-11-25").as_bytes()));
    assert!(is_unknown_to(&headers, b"{}"));
    headers.insert("mcp-protocol-version", HeaderValue::from_static("2025-06-18"));
    assert!(is_unknown_to(&headers, b""));
    headers.insert("mcp-protocol-version", HeaderValue::from_static("2025-11-25"));
    assert!(!is_unknown_to(&headers, b""));
}
