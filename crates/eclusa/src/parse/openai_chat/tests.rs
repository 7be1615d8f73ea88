//! Whole and streamed calls of the chat wire.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Stream, calls};
use crate::{
    Incoming, Malformed, Origin, ToolCall,
    parse::{StreamedCall, tests::incoming, was_made},
};

fn chunk(tool_calls: Value) -> Value {
    json!({"choices": [{"index": 0, "delta": {"tool_calls": tool_calls}, "finish_reason": null}]})
}

fn finished(reason: &str) -> Value {
    json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

fn streamed(chunks: &[Value]) -> Vec<Incoming> {
    let mut stream = Stream::default();
    let mut all: Vec<StreamedCall> = chunks.iter().flat_map(|it| stream.push(it)).collect();
    all.extend(stream.finish());
    incoming(all)
}

fn bad(incoming: &Incoming) -> &Malformed {
    match incoming {
        Incoming::Malformed(bad) => bad,
        Incoming::Call(call) => panic!("{call:?}"),
    }
}

#[test]
fn whole_messages_choices_and_responses() {
    let entry = json!({"id": "c1", "type": "function",
        "function": {"name": "ls", "arguments": "{\"path\": \".\"}"}});
    let message = json!({"role": "assistant", "tool_calls": [entry]});
    let call = Incoming::Call(ToolCall::new("c1", "ls", json!({"path": "."})));
    for shape in [
        message.clone(),
        json!({"message": message, "finish_reason": "tool_calls"}),
        json!({"choices": [{"message": message}, {"message": message}]}),
    ] {
        assert_eq!(calls(&shape), std::slice::from_ref(&call));
    }
    for nothing in [json!({}), json!(null), json!({"tool_calls": null}), json!({"choices": []})] {
        assert_eq!(calls(&nothing), []);
    }
}

#[test]
fn missing_ids_are_made_and_odd_entries_answered() {
    let incoming = calls(&json!({"tool_calls": [
        {"function": {"name": "a", "arguments": {"n": 1}}},
        {"id": "2", "function": {"arguments": "{}"}},
        {"id": "3", "type": "custom", "custom": {"name": "raw", "input": "x"}},
        {"id": 4, "function": {"name": "a"}},
        {"id": "5", "function": {"name": 5}},
        {"id": "6", "function": {"name": ""}},
        "seven",
        {"id": "8", "function": {"name": "a", "arguments": "{\"p\": 1, \"p\": 2}"}},
        {"id": "9", "function": {"name": "a", "arguments": "[".repeat(100_000)}},
    ]}));
    let Incoming::Call(call) = &incoming[0] else { panic!() };
    assert!(was_made(&call.id) && call.args == json!({"n": 1}) && call.origin == Origin::Native);
    for (at, id, tool, said) in [
        (1, "2", None, "does not name a tool"),
        (2, "3", Some("raw"), "type `custom`"),
        (4, "5", None, "must be a string, not a number"),
        (5, "6", None, "empty name"),
        (7, "8", Some("a"), "line 1, column 12: the key `p` is there twice"),
        (8, "9", Some("a"), "nested too deeply"),
    ] {
        let bad = bad(&incoming[at]);
        assert_eq!((bad.id.as_str(), bad.tool.as_deref()), (id, tool));
        assert!(bad.problem.contains(said), "{}", bad.problem);
    }
    assert!(was_made(&bad(&incoming[3]).id) && was_made(&bad(&incoming[6]).id));
    let incoming = calls(&json!({"tool_calls": "oops"}));
    assert!(bad(&incoming[0]).problem.contains("`tool_calls` must be an array"));
}

/// Shows S4.54.
#[test]
fn fragments_add_up_by_index() {
    let mut stream = Stream::default();
    for it in [
        json!([{"index": 0, "id": "c0", "type": "function", "function": {"name": "write", "arguments": ""}}]),
        json!([{"index": 1, "id": "c1", "function": {"name": "li", "arguments": "{}"}}]),
        json!([{"index": 0, "function": {"arguments": "{\"pa"}}, {"index": 1, "function": {"name": "st"}}]),
        json!([{"index": 0, "id": "c0", "function": {"name": "write", "arguments": "th\": \"é\"}"}}]),
    ] {
        assert_eq!(stream.push(&chunk(it)), []);
    }
    assert_eq!(stream.push(&json!({"choices": [], "usage": {}})), []);
    assert_eq!(
        incoming(stream.push(&finished("tool_calls"))),
        [
            Incoming::Call(ToolCall::new("c0", "write", json!({"path": "é"}))),
            Incoming::Call(ToolCall::new("c1", "list", json!({}))),
        ]
    );
    assert_eq!(stream.finish(), []);
}

#[test]
fn a_contradiction_runs_nothing_and_answers_both_ids() {
    let incoming = streamed(&[
        chunk(json!([{"index": 0, "id": "a", "function": {"name": "rm", "arguments": "{}"}}])),
        chunk(json!([{"index": 0, "id": "b", "function": {"name": "ls", "arguments": "{}"}}])),
        finished("tool_calls"),
    ]);
    assert_eq!(incoming.iter().map(Incoming::id).collect::<Vec<_>>(), ["a", "b"]);
    assert!(bad(&incoming[0]).problem.contains("under the ids `a` and `b`"));
    assert!(bad(&incoming[1]).problem.contains("under the ids `a` and `b`"));
}

/// Shows P10.
#[test]
fn a_stream_that_breaks_off_runs_nothing() {
    let whole = json!([{"index": 0, "id": "a", "function": {"name": "rm", "arguments": "{}"}}]);
    let incoming = streamed(&[chunk(whole)]);
    assert!(bad(&incoming[0]).problem.contains("stream ended"), "{incoming:?}");
    // Stopped before the first argument is not the same as no arguments (V5).
    let begun = chunk(json!([{"index": 0, "id": "a", "function": {"name": "rm"}}]));
    let incoming = streamed(&[begun.clone(), finished("length")]);
    assert!(bad(&incoming[0]).problem.contains("stopped (`length`)"), "{incoming:?}");
    let incoming = streamed(&[begun, finished("tool_calls")]);
    assert_eq!(incoming, [Incoming::Call(ToolCall::new("a", "rm", json!({})))]);
    let message = json!({"tool_calls": [{"id": "a", "function": {"name": "rm", "arguments": ""}}]});
    let incoming = calls(&json!({"choices": [{"message": message, "finish_reason": "length"}]}));
    assert!(bad(&incoming[0]).problem.contains("stopped (`length`)"), "{incoming:?}");
}

#[test]
fn servers_that_leave_the_index_out() {
    let incoming = streamed(&[
        chunk(json!([{"id": "a", "function": {"name": "x", "arguments": "{\"n\""}}])),
        chunk(json!([{"function": {"arguments": ":1}"}}])),
        chunk(json!([{"id": "b", "function": {"name": "y", "arguments": {"n": 2}}}])),
        finished("stop"),
    ]);
    assert_eq!(
        incoming,
        [
            Incoming::Call(ToolCall::new("a", "x", json!({"n": 1}))),
            Incoming::Call(ToolCall::new("b", "y", json!({"n": 2}))),
        ]
    );
}

#[test]
fn what_is_held_is_bounded() {
    let mut stream = Stream::with_limit(1000);
    stream.push(&chunk(
        json!([{"index": 0, "id": "small", "function": {"name": "a", "arguments": "{}"}}]),
    ));
    stream.push(&chunk(json!([{"index": 1, "id": "large", "function": {"name": "b"}}])));
    for _ in 0..100 {
        let part = "x".repeat(100);
        stream.push(&chunk(json!([{"index": 1, "function": {"arguments": part}}])));
        assert!(stream.fragments.held() <= 1000);
    }
    let incoming = incoming(stream.push(&finished("tool_calls")));
    assert!(matches!(&incoming[0], Incoming::Call(call) if call.id == "small"));
    assert!(bad(&incoming[1]).problem.contains("larger than 1000 bytes"), "{incoming:?}");
    assert_eq!(incoming[1].id(), "large");

    let many = (0..300).map(|n| json!({"index": n, "function": {"name": "a", "arguments": "{}"}}));
    let incoming = streamed(&[chunk(many.collect()), finished("tool_calls")]);
    assert_eq!(incoming.len(), 257);
    assert!(bad(&incoming[256]).problem.contains("more than 256 calls"));
}

proptest! {
    #[test]
    fn any_cutting_of_the_arguments_gives_the_same_call(
        text in ".{0,20}", cuts in prop::collection::vec(1..9usize, 1..6),
    ) {
        let whole = json!({"text": text, "list": [1, {"a": null}]}).to_string();
        let mut chunks = vec![chunk(json!([{"index": 0, "id": "c", "function": {"name": "t"}}]))];
        let (mut rest, mut cuts) = (whole.as_str(), cuts.iter().cycle());
        while !rest.is_empty() {
            let at = rest.ceil_char_boundary(*cuts.next().unwrap());
            let (part, after) = rest.split_at(at);
            chunks.push(chunk(json!([{"index": 0, "function": {"arguments": part}}])));
            rest = after;
        }
        chunks.push(finished("tool_calls"));
        let args = serde_json::from_str(&whole).unwrap();
        prop_assert_eq!(streamed(&chunks), [Incoming::Call(ToolCall::new("c", "t", args))]);
    }
}
