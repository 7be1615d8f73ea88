//! Answers of models that somebody else fetched: calls in on stdin, results out in the same shape.

use serde_json::{Value, json};

use crate::world::World;

fn world() -> World {
    let world = World::new();
    world.write("workspace/a.txt", "one\ntwo\n");
    world
}

/// S1.65: the text comes from elsewhere, and so did the instruction.
/// Shows S1.36.
#[test]
fn fenced_calls_pass_and_their_results_come_back_as_blocks() {
    let world = world();
    let answer = "I look.\n```tool\n{\"name\": \"read\", \"args\": {\"path\": \"a.txt\"}}\n```\n";
    let ran = world.piped(&["feed"], answer);
    assert_eq!(ran.code, 0, "{ran:?}");
    let line = ran.out.strip_prefix("```tool_result\n").unwrap().lines().next().unwrap();
    let result: Value = serde_json::from_str(line).unwrap();
    assert_eq!((&result["tool"], &result["success"]), (&"read".into(), &true.into()));
    assert!(result["output"].as_str().unwrap().contains("two"));
    let records = world.records();
    assert_eq!(
        (&records[0]["origin"], &records[0]["conversation"]),
        (&"fenced".into(), &"feed".into())
    );
}

/// One answer of a model says nothing of the next, unless both are named as one session.
#[test]
fn a_budget_lasts_from_one_answer_to_the_next_where_the_session_is_named() {
    let config = "[effects.budget]\nfiles = 1\n[[rules]]\ndecision = \"allow\"\ntool = \"write\"\n";
    let fed = |options: &[&str]| {
        let world = World::with(config);
        ["a.txt", "b.txt"].map(|path| {
            let call = json!({"name": "write", "args": {"path": path, "content": "x"}});
            let answer = format!("```tool\n{call}\n```\n");
            world.piped(&[&["feed"], options].concat(), &answer).code
        })
    };
    assert_eq!(fed(&[]), [0, 0]);
    let [first, second] = fed(&["--session", "one"]);
    assert_eq!(first, 0);
    assert_ne!(second, 0, "the budget is spent");
}

/// C17: one reply, and each model's shape of it.
#[test]
fn every_shape_goes_in_whole_and_comes_back_under_its_id() {
    let world = world();
    let args = json!({"path": "a.txt"});
    let text = args.to_string();
    let shapes = [
        (
            "anthropic",
            json!({"content": [{"type": "tool_use", "id": "c1", "name": "read", "input": args}]}),
            "/0/content/0/tool_use_id",
        ),
        (
            "openai",
            json!({"output": [{"type": "function_call", "call_id": "c1", "name": "read", "arguments": text}]}),
            "/0/call_id",
        ),
        (
            "openai-chat",
            json!({"choices": [{"message": {"tool_calls": [{"id": "c1", "function": {"name": "read", "arguments": text}}]}}]}),
            "/0/tool_call_id",
        ),
        (
            "gemini",
            json!({"candidates": [{"content": {"parts": [{"functionCall": {"id": "c1", "name": "read", "args": args}}]}}]}),
            "/0/parts/0/functionResponse/id",
        ),
    ];
    for (shape, answer, id) in shapes {
        let ran = world.piped(&["feed", "--shape", shape], &answer.to_string());
        assert_eq!(ran.code, 0, "{shape}: {ran:?}");
        assert_eq!(ran.json().pointer(id), Some(&"c1".into()), "{shape}: {ran:?}");
        assert!(ran.out.contains("two"), "{shape}: {ran:?}");
    }
}

#[test]
fn a_stream_of_events_is_read_too() {
    let world = world();
    let events = [
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "t1", "name": "read", "input": {}}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": "{\"path\": \"a.txt\"}"}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_stop"}),
    ];
    let stream: String = events.iter().map(|it| format!("event: x\ndata: {it}\n\n")).collect();
    let ran = world.piped(&["feed", "--shape", "anthropic"], &stream);
    assert_eq!(ran.json()[0]["content"][0]["tool_use_id"], "t1", "{ran:?}");
}

#[test]
fn what_is_refused_is_told_to_the_model_and_to_the_caller() {
    let world = world();
    let answer = "```tool\n{\"name\": \"read\", \"args\": {\"path\": \".env\"}}\n```\n";
    let ran = world.piped(&["--json", "feed"], answer);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert_eq!(ran.json()["replies"][0]["success"], false);
    assert!(ran.json()["results"].as_str().unwrap().contains("\"success\":false"));
    let ran = world.piped(&["feed", "--shape", "gemini"], "no JSON");
    assert_eq!(ran.code, 2, "{ran:?}");
    let ran = world.piped(&["feed", "--shape", "openai"], "{}");
    assert_eq!((ran.code, ran.out.trim()), (0, "[]"));
    let ran = world.piped(&["feed"], "Nothing to do.\n");
    assert_eq!((ran.code, ran.out.as_str()), (0, ""));
}

/// Shows S1.4, S1.5.
#[test]
fn declarations_and_instruction_are_printed() {
    let world = world();
    let names = |shape: &str, name: &str| {
        let declared = world.eclusa(&["tools", "--shape", shape]).json();
        declared.pointer(name).unwrap().as_str().unwrap().to_owned()
    };
    for (shape, name) in [
        ("anthropic", "/0/name"),
        ("openai", "/0/name"),
        ("openai-chat", "/0/function/name"),
        ("gemini", "/0/functionDeclarations/0/name"),
    ] {
        assert!(!names(shape, name).is_empty(), "{shape}");
    }
    let text = world.eclusa(&["tools", "--shape", "fenced"]).out;
    for how in [
        "EXACTLY with one JSON block",
        "```tool\n{\"name\": ",
        "wait for the result",
        "one after the other",
    ] {
        assert!(text.contains(how), "`{how}` is not in {text}");
    }
    for which in ["- `read` (runs at once): ", "- `bash` (may require confirmation): "] {
        assert!(text.contains(which), "`{which}` is not in {text}");
    }
}
