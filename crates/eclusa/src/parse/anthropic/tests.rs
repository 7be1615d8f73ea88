//! Whole and streamed calls of the Messages wire.

use serde_json::{Value, json};

use super::{Stream, calls};
use crate::{
    Incoming, Malformed, ToolCall,
    parse::{StreamedCall, tests::incoming, was_made},
};

fn start(index: u64, id: &str, name: &str) -> Value {
    json!({"type": "content_block_start", "index": index,
        "content_block": {"type": "tool_use", "id": id, "name": name, "input": {}}})
}

fn delta(index: u64, part: &str) -> Value {
    json!({"type": "content_block_delta", "index": index,
        "delta": {"type": "input_json_delta", "partial_json": part}})
}

fn stop(index: u64) -> Value {
    json!({"type": "content_block_stop", "index": index})
}

fn ended(reason: &str) -> Value {
    json!({"type": "message_delta", "delta": {"stop_reason": reason}})
}

fn streamed(events: &[Value]) -> Vec<Incoming> {
    let mut stream = Stream::default();
    let mut all: Vec<StreamedCall> = events.iter().flat_map(|it| stream.push(it)).collect();
    all.extend(stream.finish());
    incoming(all)
}

fn only_bad(incoming: &[Incoming]) -> &Malformed {
    match incoming {
        [Incoming::Malformed(bad)] => bad,
        other => panic!("{other:?}"),
    }
}

#[test]
fn whole_messages() {
    let incoming = calls(&json!({"stop_reason": "tool_use", "content": [
        {"type": "thinking", "thinking": "hm"},
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}},
        {"type": "tool_use", "id": "t1", "name": "ls", "input": {"n": 1}},
        {"type": "tool_use", "name": "ls", "input": "{\"n\": 1}"},
    ]}));
    assert_eq!(incoming[0], Incoming::Call(ToolCall::new("t1", "ls", json!({"n": 1}))));
    let Incoming::Call(second) = &incoming[1] else { panic!() };
    assert!(was_made(&second.id));
    assert_eq!(second.args, json!("{\"n\": 1}"), "V4: the gate reads it");
    for nothing in [json!({"content": "text"}), json!({}), json!({"content": []})] {
        assert_eq!(calls(&nothing), []);
    }
    let incoming = calls(&json!({"content": 1}));
    assert!(only_bad(&incoming).problem.contains("`content` must be an array"));
}

/// Shows S4.54.
#[test]
fn fragments_add_up_and_come_as_soon_as_they_are_whole() {
    let mut stream = Stream::default();
    let text =
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text"}});
    for event in [
        json!({"type": "message_start"}),
        text,
        stop(0),
        json!({"type": "ping"}),
        start(1, "t1", "ls"),
        delta(1, ""),
        delta(1, "{\"p\": \"é"),
        delta(1, "\"}"),
    ] {
        assert_eq!(stream.push(&event), []);
    }
    assert_eq!(
        incoming(stream.push(&stop(1))),
        [Incoming::Call(ToolCall::new("t1", "ls", json!({"p": "é"})))]
    );
    assert_eq!(stream.push(&ended("tool_use")), []);
    assert_eq!(stream.finish(), []);
}

#[test]
fn a_call_without_arguments_waits_for_the_reason_to_stop() {
    let events = [start(0, "a", "x"), stop(0), start(1, "b", "y"), delta(1, "{\"n\":1}"), stop(1)];
    let both = [
        Incoming::Call(ToolCall::new("a", "x", json!({}))),
        Incoming::Call(ToolCall::new("b", "y", json!({"n": 1}))),
    ];
    for end in [ended("tool_use"), json!({"type": "message_stop"}), ended("max_tokens")] {
        let events: Vec<Value> = events.iter().cloned().chain([end]).collect();
        assert_eq!(streamed(&events), both, "in order; only the last block can be cut");
    }
    let incoming = streamed(&[start(0, "a", "x"), delta(0, ""), stop(0), ended("max_tokens")]);
    assert!(only_bad(&incoming).problem.contains("stopped (`max_tokens`)"));
}

/// Shows P10.
#[test]
fn what_was_cut_is_not_run() {
    let incoming =
        streamed(&[start(0, "a", "x"), delta(0, "{\"p\": \"/et"), stop(0), ended("max_tokens")]);
    let bad = only_bad(&incoming);
    assert_eq!((bad.id.as_str(), bad.tool.as_deref()), ("a", Some("x")));
    assert!(bad.problem.contains("line 1, column 10: it ends before"), "{}", bad.problem);
    for events in [vec![start(0, "a", "x"), delta(0, "{}")], vec![start(0, "a", "x"), stop(0)]] {
        assert!(only_bad(&streamed(&events)).problem.contains("stream ended"));
    }
    let cut = json!({"type": "tool_use", "id": "a", "name": "rm", "input": {"path": "/"}});
    let incoming = calls(&json!({"content": [cut], "stop_reason": "max_tokens"}));
    assert!(only_bad(&incoming).problem.contains("stopped (`max_tokens`)"));
}

#[test]
fn blocks_of_the_server_are_not_calls() {
    let server = json!({"type": "content_block_start", "index": 0,
        "content_block": {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}});
    assert_eq!(streamed(&[server, delta(0, "{\"query\": 1}"), stop(0), ended("end_turn")]), []);
}

#[test]
fn contradictions_run_nothing() {
    let incoming = streamed(&[start(0, "a", "x"), start(0, "b", "x"), delta(0, "{}"), stop(0)]);
    assert_eq!(incoming.iter().map(Incoming::id).collect::<Vec<_>>(), ["a", "b"]);
    assert!(incoming.iter().all(|it| matches!(it, Incoming::Malformed(_))));
    let mut whole = start(0, "a", "x");
    whole["content_block"]["input"] = json!({"n": 1});
    let incoming = streamed(&[whole.clone(), delta(0, "{\"n\": 2}"), stop(0)]);
    assert!(only_bad(&incoming).problem.contains("something after the JSON"));
    assert_eq!(
        streamed(&[whole, stop(0)]),
        [Incoming::Call(ToolCall::new("a", "x", json!({"n": 1})))]
    );
}
