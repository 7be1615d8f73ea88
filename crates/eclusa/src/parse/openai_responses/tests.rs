//! Whole and streamed calls of the Responses wire.

use serde_json::{Value, json};

use super::{Stream, calls};
use crate::{
    Incoming, Malformed, ToolCall,
    parse::{StreamedCall, tests::incoming, was_made},
};

fn item(call_id: &str, arguments: &str) -> Value {
    json!({"type": "function_call", "id": "fc", "call_id": call_id, "name": "ls",
        "arguments": arguments, "status": "completed"})
}

fn added(index: u64, call_id: &str) -> Value {
    json!({"type": "response.output_item.added", "output_index": index, "item": item(call_id, "")})
}

fn delta(index: u64, part: &str) -> Value {
    json!({"type": "response.function_call_arguments.delta", "item_id": "fc",
        "output_index": index, "delta": part})
}

fn all_done(index: u64, whole: &str) -> Value {
    json!({"type": "response.function_call_arguments.done", "item_id": "fc",
        "output_index": index, "arguments": whole})
}

fn done(index: u64, item: Value) -> Value {
    json!({"type": "response.output_item.done", "output_index": index, "item": item})
}

fn completed(output: Value) -> Value {
    json!({"type": "response.completed", "response": {"output": output}})
}

fn call(id: &str) -> Incoming {
    Incoming::Call(ToolCall::new(id, "ls", json!({"n": 1})))
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

const N1: &str = "{\"n\": 1}";

#[test]
fn whole_responses_and_lists_of_items() {
    let output =
        json!([{"type": "message"}, item("c1", N1), {"type": "web_search_call"}, item("c2", N1)]);
    for shape in [json!({"output": output}), output] {
        assert_eq!(calls(&shape), [call("c1"), call("c2")]);
    }
    assert_eq!(calls(&json!({"output": null})), []);
    assert_eq!(calls(&json!({})), []);
    let incoming = calls(&json!({"output": 7}));
    assert!(only_bad(&incoming).problem.contains("`output` must be an array"));
}

#[test]
fn items_that_cannot_be_read_are_answered() {
    for kind in super::FOREIGN {
        let incoming = calls(&json!([{"type": kind, "call_id": "c1"}]));
        assert_eq!(only_bad(&incoming).id, "c1");
        assert!(only_bad(&incoming).problem.contains(kind));
    }
    let mut cut = item("c1", "{}");
    cut["status"] = json!("incomplete");
    assert!(only_bad(&calls(&json!([cut.clone()]))).problem.contains("stopped"));
    let incoming = streamed(&[added(0, "c1"), done(0, cut)]);
    assert!(only_bad(&incoming).problem.contains("stopped"));
    let incoming = calls(&json!([{"type": "function_call", "name": "ls", "arguments": "{"}]));
    assert!(was_made(&only_bad(&incoming).id));
}

#[test]
fn a_namespace_is_part_of_the_name() {
    let mut it = item("c1", "{}");
    it["namespace"] = json!("server");
    let incoming = calls(&json!([it]));
    assert!(matches!(&incoming[..], [Incoming::Call(call)] if call.tool == "server.ls"));
    assert_eq!(streamed(&[done(0, it)]), incoming);
}

/// Shows S4.54.
#[test]
fn a_call_is_given_out_once_however_it_is_told() {
    let end = completed(json!([item("c1", N1)]));
    let told: [&[Value]; 6] = [
        &[
            added(0, "c1"),
            delta(0, "{\"n\""),
            delta(0, ": 1}"),
            all_done(0, N1),
            done(0, item("c1", N1)),
        ],
        &[added(0, "c1"), all_done(0, N1), done(0, item("c1", N1))],
        &[done(0, item("c1", N1))],
        &[added(0, "c1"), delta(0, N1)],
        &[added(0, "c1")],
        &[],
    ];
    for events in told {
        let mut events = events.to_vec();
        events.push(end.clone());
        assert_eq!(streamed(&events), [call("c1")], "{events:?}");
    }
    // A proxy that leaves the output out at the end.
    let events = [added(0, "c1"), delta(0, N1), all_done(0, N1), completed(json!([]))];
    assert_eq!(streamed(&events), [call("c1")]);
    // A call is there as soon as its item is done.
    let mut stream = Stream::default();
    stream.push(&added(0, "c1"));
    assert_eq!(incoming(stream.push(&done(0, item("c1", N1)))), [call("c1")]);
}

#[test]
fn two_calls_at_once_and_two_without_an_index() {
    let events = [
        added(0, "c1"),
        added(1, "c2"),
        delta(1, "{\"n\":"),
        delta(0, N1),
        delta(1, " 1}"),
        done(0, item("c1", N1)),
        done(1, item("c2", N1)),
        completed(json!([item("c1", N1), item("c2", N1)])),
    ];
    assert_eq!(streamed(&events), [call("c1"), call("c2")]);
    let without = |mut event: Value| {
        event.as_object_mut().unwrap().remove("output_index");
        event
    };
    let events = events.map(without);
    let events = [
        &events[0], &events[3], &events[5], &events[1], &events[2], &events[4], &events[6],
        &events[7],
    ];
    let events: Vec<Value> = events.into_iter().cloned().collect();
    assert_eq!(streamed(&events), [call("c1"), call("c2")]);
}

#[test]
fn contradictions_run_nothing() {
    let incoming = streamed(&[added(0, "c1"), delta(0, N1), done(0, item("c1", "{\"n\": 2}"))]);
    assert!(only_bad(&incoming).problem.contains("do not add up"));
    let incoming =
        streamed(&[added(0, "c1"), delta(0, N1), all_done(0, "{}"), done(0, item("c1", N1))]);
    assert!(only_bad(&incoming).problem.contains("do not add up"));
    let incoming = streamed(&[added(0, "c1"), delta(0, N1), done(0, item("c2", N1))]);
    assert_eq!(incoming.iter().map(Incoming::id).collect::<Vec<_>>(), ["c1", "c2"]);
    assert!(incoming.iter().all(|it| matches!(it, Incoming::Malformed(_))));
}

/// Shows P10.
#[test]
fn a_stream_that_breaks_off_runs_nothing() {
    let incoming = streamed(&[added(0, "c1"), delta(0, N1), all_done(0, N1)]);
    assert!(only_bad(&incoming).problem.contains("stream ended"));
    let stop = json!({"type": "response.incomplete", "response":
        {"output": [], "incomplete_details": {"reason": "max_output_tokens"}}});
    let incoming = streamed(&[added(0, "c1"), stop]);
    assert!(only_bad(&incoming).problem.contains("stopped (`max_output_tokens`)"));
}
