//! What passes the gate and what the model is told it said are the same calls, on every wire and
//! however its server writes them.

use eclusa::{Incoming, Wire};
use serde_json::{Value, json};

use super::{read, settings};

/// Reads a stream, and the message that goes back of it: id, tool and arguments of each call. One that
/// could not be read goes back without arguments, so that its answer has a call.
fn both(wire: Wire, events: &[Value]) -> (Vec<String>, Vec<String>) {
    let (reply, _) = read(&settings(wire), events).unwrap();
    let told = |it: &Incoming, empty: bool| match it {
        Incoming::Call(call) => format!("{} {} {}", call.id, call.tool, call.args),
        Incoming::Malformed(bad) if empty => {
            format!("{} {} {{}}", bad.id, bad.tool.as_deref().unwrap_or("unknown"))
        }
        Incoming::Malformed(bad) => panic!("what goes back can be read: {bad:?}"),
    };
    let blocks = reply.blocks.unwrap();
    let back = wire.calls(&match wire {
        Wire::Anthropic => json!({"content": blocks}),
        Wire::Openai | Wire::OpenaiChat => blocks,
        Wire::Gemini => json!({"parts": blocks}),
    });
    let ran = reply.asked.iter().map(|it| told(it, true)).collect();
    (ran, back.iter().map(|it| told(it, false)).collect())
}

fn check(wire: Wire, events: &[Value], calls: &[&str]) {
    let (ran, back) = both(wire, events);
    assert_eq!(ran, calls, "{wire:?}: what passes the gate");
    assert_eq!(back, calls, "{wire:?}: what the model is told it said");
}

fn chunk(tool_calls: Value) -> Value {
    json!({"choices": [{"index": 0, "delta": {"tool_calls": tool_calls}}]})
}

fn chat_end() -> Value {
    json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
}

#[test]
fn chat_calls_without_an_index() {
    let call = |id: &str, path: &str| {
        let arguments = json!({"path": path}).to_string();
        chunk(json!([{"id": id, "function": {"name": "read", "arguments": arguments}}]))
    };
    let events = [call("c1", "a"), call("c2", "b"), chat_end()];
    let calls = ["c1 read {\"path\":\"a\"}", "c2 read {\"path\":\"b\"}"];
    check(Wire::OpenaiChat, &events, &calls);
}

#[test]
fn chat_calls_whose_names_are_repeated_or_whose_ids_contradict() {
    let part = |id: &str, part: &str| {
        chunk(json!([{"index": 0, "id": id, "function": {"name": "read", "arguments": part}}]))
    };
    let events = [part("c1", "{\"path\":"), part("c1", "\"a\"}"), chat_end()];
    check(Wire::OpenaiChat, &events, &["c1 read {\"path\":\"a\"}"]);
    let later = chunk(json!([{"index": 1, "id": "c3", "function": {"name": "look"}}]));
    let events = [part("c1", "{}"), part("c2", "{}"), later, chat_end()];
    check(Wire::OpenaiChat, &events, &["c1 read {}", "c2 read {}", "c3 look {}"]);
}

#[test]
fn chat_alternatives_are_not_mixed() {
    let delta = |words: &str, id: &str| json!({"content": words, "tool_calls": [{"index": 0, "id": id, "function": {"name": "read", "arguments": "{}"}}]});
    let other = json!({"index": 1, "delta": delta("no", "c2"), "finish_reason": "stop"});
    let first = json!({"index": 0, "delta": delta("yes", "c1"), "finish_reason": "tool_calls"});
    let events = [json!({"choices": [other, first]})];
    check(Wire::OpenaiChat, &events, &["c1 read {}"]);
    let (reply, heard) = read(&settings(Wire::OpenaiChat), &events).unwrap();
    assert_eq!((reply.text.as_str(), heard.as_str()), ("yes", "yes"));
}

#[test]
fn anthropic_calls_under_one_index() {
    let call = |id: &str, path: &str| {
        let part = json!({"path": path}).to_string();
        [
            json!({"type": "content_block_start", "content_block": {"type": "tool_use", "id": id, "name": "read", "input": {}}}),
            json!({"type": "content_block_delta", "delta": {"type": "input_json_delta", "partial_json": part}}),
            json!({"type": "content_block_stop"}),
        ]
    };
    let end = json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}});
    let events = [call("t1", "a").to_vec(), call("t2", "b").to_vec(), vec![end]].concat();
    let calls = ["t1 read {\"path\":\"a\"}", "t2 read {\"path\":\"b\"}"];
    check(Wire::Anthropic, &events, &calls);
}

#[test]
fn anthropic_blocks_keep_their_order_and_their_fields() {
    let start = |index: u64, block: Value| json!({"type": "content_block_start", "index": index, "content_block": block});
    let stop = |index: u64| json!({"type": "content_block_stop", "index": index});
    let thought = json!({"type": "thinking", "thinking": "hm", "signature": "s"});
    let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "look", "input": {}, "caller": {"type": "direct"}});
    let events = [
        start(0, call("t1")),
        start(1, thought.clone()),
        start(2, call("t2")),
        stop(2),
        stop(0),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}),
    ];
    let (reply, _) = read(&settings(Wire::Anthropic), &events).unwrap();
    assert_eq!(reply.blocks, Some(json!([call("t1"), thought, call("t2")])));
}

#[test]
fn responses_whose_end_says_something_else() {
    let item = |path: &str| {
        let arguments = json!({"path": path}).to_string();
        json!({"type": "function_call", "call_id": "c1", "name": "read", "arguments": arguments})
    };
    for index in [json!({"output_index": 0}), json!({})] {
        let mut done = json!({"type": "response.output_item.done", "item": item("a")});
        done.as_object_mut().unwrap().extend(index.as_object().unwrap().clone());
        let end = json!({"type": "response.completed", "response": {"output": [item("b")]}});
        check(Wire::Openai, &[done, end], &["c1 read {\"path\":\"a\"}"]);
    }
}

#[test]
fn responses_with_calls_that_cannot_be_read() {
    let words = json!({"type": "message", "content": [{"type": "output_text", "text": "Hi."}]});
    let raw = json!({"type": "custom_tool_call", "call_id": "c1", "name": "raw", "input": "x"});
    let broken =
        json!({"type": "function_call", "call_id": "c2", "name": "read", "arguments": "{"});
    let end = json!({"type": "response.completed", "response": {"output": [words, raw, broken]}});
    check(Wire::Openai, &[end], &["c1 raw {}", "c2 read {}"]);
}

#[test]
fn gemini_contents_without_candidates() {
    let call = json!({"functionCall": {"id": "g1", "name": "read", "args": {"path": "a"}}});
    let events =
        [json!({"content": {"parts": [call]}}), json!({"candidates": [{"finishReason": "STOP"}]})];
    check(Wire::Gemini, &events, &["g1 read {\"path\":\"a\"}"]);
}
