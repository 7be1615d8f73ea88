//! One result in every shape: C17, S1.6, S1.7.

use serde_json::{Value, json};

use super::{CallResult, ResultShape};
use crate::{
    Reply, ToolCall,
    parse::tests::{echoed, passed},
};

fn shaped(reply: &Reply, shape: ResultShape) -> Value {
    CallResult::new(reply).json(shape)
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn c17_s1_6_s1_7_timed() {
    let good = shaped(&echoed(json!({"text": "hi"})), ResultShape::Timed);
    assert!(good["execution_time_ms"].is_u64(), "S1.7: whole milliseconds");
    assert!(good["execution_time_ms"].as_u64().unwrap() < 30_000, "not nanoseconds");
    let mut rest = good.clone();
    rest.as_object_mut().unwrap().remove("execution_time_ms");
    let expected = json!({"tool": "echo", "success": true, "output": "hi", "truncated": false});
    assert_eq!(rest, expected, "no `error` when there is none");
    let bad = shaped(&echoed(json!({"text": "half", "fail": "it broke"})), ResultShape::Timed);
    assert_eq!(
        (&bad["success"], &bad["output"], &bad["error"]),
        (&json!(false), &json!("half"), &json!("it broke"))
    );
    let long = shaped(&echoed(json!({"text": "x".repeat(5000)})), ResultShape::Timed);
    assert_eq!(long["truncated"], true);
}

#[test]
fn c17_a_refusal_is_an_error_and_no_output() {
    let reply = passed(vec![ToolCall::new("c1", "nobody", json!({})).into()]).remove(0);
    let error = reply.error().unwrap();
    assert_eq!(
        shaped(&reply, ResultShape::Brief),
        json!({"success": false, "output": "", "error": error})
    );
    assert_eq!(
        shaped(&reply, ResultShape::Named),
        json!({"id": "c1", "name": "nobody", "result": null, "error": error})
    );
    assert_eq!(
        shaped(&reply, ResultShape::Undoable),
        json!({"Output": error, "IsError": true, "Data": null, "UndoInfo": null})
    );
    assert_eq!(
        shaped(&reply, ResultShape::Mcp),
        json!({"content": [{"type": "text", "text": error}], "isError": true})
    );
    let full = shaped(&reply, ResultShape::Full);
    assert_eq!((&full["refused"], &full["code"]), (&json!(true), &json!("unknown_tool")));
}

#[test]
fn c17_named_brief_and_undoable() {
    let args = json!({"text": "hi", "data": [1], "undo": true});
    let reply = echoed(args.clone());
    assert_eq!(
        CallResult::new(&reply).with_args(&args).json(ResultShape::Named),
        json!({
            "id": "c1", "name": "echo", "parameters": args, "result": [1], "error": null,
        })
    );
    assert_eq!(
        shaped(&reply, ResultShape::Brief),
        json!({"success": true, "output": "hi", "error": null})
    );
    assert_eq!(
        shaped(&reply, ResultShape::Undoable),
        json!({
            "Output": "hi", "IsError": false, "Data": [1],
            "UndoInfo": {"description": "unsay it", "data": {"n": 1}},
        })
    );
    let plain = shaped(&echoed(json!({"text": "hi"})), ResultShape::Named);
    assert_eq!(plain, json!({"id": "c1", "name": "echo", "result": "hi", "error": null}));
}

#[test]
fn c17_mcp() {
    let object = shaped(&echoed(json!({"text": "hi", "data": {"n": 1}})), ResultShape::Mcp);
    assert_eq!(
        object,
        json!({
            "content": [{"type": "text", "text": "hi"}], "structuredContent": {"n": 1}, "isError": false,
        })
    );
    let list = shaped(&echoed(json!({"data": [1]})), ResultShape::Mcp);
    assert_eq!(list["structuredContent"], json!({"result": [1]}), "MCP wants an object");
    let failed = shaped(&echoed(json!({"text": "half", "fail": "it broke"})), ResultShape::Mcp);
    assert_eq!(
        (&failed["isError"], &failed["content"][0]["text"]),
        (&json!(true), &json!("it broke\nhalf"))
    );
}

#[test]
fn c17_full_holds_what_every_other_shape_holds() {
    let args = json!({"text": "hi", "data": {"n": 1}, "undo": true});
    let reply = echoed(args.clone());
    let full = CallResult::new(&reply).with_args(&args).json(ResultShape::Full);
    assert_eq!(
        keys(&full),
        [
            "args",
            "code",
            "data",
            "execution_time_ms",
            "id",
            "number",
            "output",
            "refused",
            "success",
            "tool",
            "total_time_ms",
            "truncated",
            "undo",
            "v",
        ]
    );
    assert_eq!((&full["v"], &full["args"], &full["data"]), (&json!(1), &args, &json!({"n": 1})));
    assert_eq!(full["undo"]["description"], "unsay it");
}
