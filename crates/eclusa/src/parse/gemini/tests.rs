//! Whole and streamed calls of the Gemini wire.

use serde_json::{Value, json};

use super::{Stream, calls, results};
use crate::{
    Incoming, ToolCall,
    parse::{
        tests::{incoming, passed},
        was_made,
    },
};

fn response(parts: Value) -> Value {
    json!({"candidates": [{"content": {"role": "model", "parts": parts}}]})
}

#[test]
fn whole_responses_and_contents() {
    let parts = json!([{"text": "x"}, {"functionCall": {"id": "g1", "name": "ls", "args": {"n": 1}}},
        {"functionCall": {"name": "ls"}}]);
    for shape in [response(parts.clone()), json!({"role": "model", "parts": parts})] {
        let incoming = calls(&shape);
        assert_eq!(incoming[0], Incoming::Call(ToolCall::new("g1", "ls", json!({"n": 1}))));
        let Incoming::Call(second) = &incoming[1] else { panic!() };
        assert!(was_made(&second.id) && second.args == json!({}));
    }
    assert_eq!(calls(&json!({})), []);
    assert!(matches!(calls(&response(json!({})))[..], [Incoming::Malformed(_)]));
}

#[test]
fn each_chunk_gives_its_calls_under_ids_of_their_own() {
    let mut stream = Stream::default();
    let chunk = response(json!([{"functionCall": {"name": "ls", "args": {}}}]));
    let incoming = incoming([stream.push(&chunk), stream.push(&chunk), stream.finish()].concat());
    assert_eq!(incoming.len(), 2);
    assert_ne!(incoming[0].id(), incoming[1].id());
}

#[test]
fn calls_that_nobody_can_read_are_answered_in_text() {
    let incoming =
        calls(&json!({"candidates": [{"content": {}, "finishReason": "MALFORMED_FUNCTION_CALL",
        "finishMessage": "Malformed function call: print(ls())"}]}));
    let back = results(&passed(incoming));
    let text = back[0]["parts"][0]["text"].as_str().unwrap();
    assert!(text.contains("print(ls())"), "{text}");
    let incoming = calls(&response(json!([{"functionCall": {"id": "g", "name": "ls",
        "partialArgs": [{"jsonPath": "$.n"}], "willContinue": true}}])));
    let back = results(&passed(incoming));
    let response = &back[0]["parts"][0]["functionResponse"];
    assert_eq!((&response["id"], &response["name"]), (&json!("g"), &json!("ls")));
    assert!(response["response"]["error"].as_str().unwrap().contains("partialArgs"));
}
