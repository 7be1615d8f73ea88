//! Any arguments, on any wire, whole or in fragments, through validation: the wires agree, and
//! nothing panics.

#![no_main]

use std::sync::LazyLock;

use eclusa::{CallView, Incoming, Decision, Gate, Job, Output, Policy, Reason, Registration, Registry, Scene, Source, Stop, Tool, ToolCall, ToolError, Touch, Verdict, parse::{anthropic, openai_chat, openai_responses}};
use futures::future::BoxFuture;
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};

static GATE: LazyLock<Gate> = LazyLock::new(|| {
    let registry = Registry::new();
    registry.register(Registration::new(Any).hidden(["secret"])).expect("the tool is sound");
    Gate::builder().registry(registry).policy(Open).build().expect("the tool is registered")
});

fuzz_target!(|input: &[u8]| {
    let Some((&cut, bytes)) = input.split_first() else { return };
    let Ok(text) = std::str::from_utf8(bytes) else { return };

    let whole = only(openai_chat::calls(&json!({"tool_calls": [
        {"id": "c", "function": {"name": "any", "arguments": text}},
    ]})));
    assert_eq!(in_fragments(text, usize::from(cut).max(1)), whole, "in fragments");
    assert_eq!(
        only(openai_responses::calls(&json!([
            {"type": "function_call", "call_id": "c", "name": "any", "arguments": text},
        ]))),
        whole
    );
    if let Incoming::Call(call) = &whole {
        if !text.trim().is_empty() {
            let ordinary: Value = serde_json::from_str(text).expect("what is read is JSON");
            assert_eq!(call.args, ordinary);
        }
        let message = json!({"content": [
            {"type": "tool_use", "id": "c", "name": "any", "input": call.args},
        ]});
        if !call.args.is_null() {
            assert_eq!(only(anthropic::calls(&message)), whole);
        }
        check(call.clone());
    }
    // The same text, left to the gate to read (V4).
    check(ToolCall::new("c", "any", Value::String(text.to_owned())));
});

fn only(mut asked: Vec<impl Into<Incoming>>) -> Incoming {
    assert_eq!(asked.len(), 1, "exactly one answer for one call");
    asked.remove(0).into()
}

fn in_fragments(text: &str, size: usize) -> Incoming {
    let mut stream = openai_chat::Stream::default();
    let mut push = |function: Value, end: Value| {
        let delta = json!({"tool_calls": [{"index": 0, "id": "c", "function": function}]});
        stream.push(&json!({"choices": [{"delta": delta, "finish_reason": end}]}))
    };
    let mut rest = text;
    while !rest.is_empty() {
        let (part, after) = rest.split_at(rest.ceil_char_boundary(size.min(rest.len())));
        assert!(push(json!({"arguments": part}), Value::Null).is_empty());
        rest = after;
    }
    only(push(json!({"name": "any"}), json!("tool_calls")))
}

/// Arguments are let through or refused with words.
fn check(call: ToolCall) {
    match GATE.check(call) {
        Ok((_, verdict)) => assert_eq!(verdict.decision, Decision::Allow),
        Err(Stop::InvalidArgs(why)) => assert!(!why.is_empty()),
        Err(stop) => panic!("{stop:?}"),
    }
}

struct Any;

impl Tool for Any {
    fn name(&self) -> &str {
        "any"
    }
    fn description(&self, _: &Scene) -> String {
        String::new()
    }
    fn input_schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "path": {"type": "string", "pattern": "^[a-z/]*$", "maxLength": 64},
                "n": {"type": "integer", "minimum": 0, "default": 3, "multipleOf": 3},
                "list": {"type": "array", "items": {"$ref": "#/$defs/item"}, "uniqueItems": true},
                "choice": {"enum": ["a", 1, null, {"b": []}]},
                "nested": {"type": "object", "properties": {"deep": {"default": {"x": 1}}}},
                "secret": {"type": "string", "format": "date-time"},
            },
            "$defs": {"item": {"anyOf": [
                {"type": "number"}, {"type": "array", "items": {"$ref": "#/$defs/item"}},
            ]}},
        })
    }
    fn touches(&self, args: &Value) -> Vec<Touch> {
        assert!(args.is_object() && args.get("n").is_some() && args.get("secret").is_none());
        Vec::new()
    }
    fn run<'a>(&'a self, _: &'a Job) -> BoxFuture<'a, Result<Output, ToolError>> {
        Box::pin(async { Ok(Output::default()) })
    }
}

struct Open;

impl Policy for Open {
    fn judge(&self, _: &CallView<'_>) -> Verdict {
        let (decision, source) = (Decision::Allow, Source::Rule);
        Verdict::from_reasons(vec![Reason { decision, source, origin: "fuzz".into(), text: "open".into() }])
    }
}
