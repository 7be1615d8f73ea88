//! Files of other agents: what is read of them, and that every call has exactly one answer.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{ImportFormat, import};
use crate::item::ItemBody;

fn outline(format: ImportFormat, lines: &[Value]) -> Vec<String> {
    let items = import(format, lines).items;
    let one = |body: &ItemBody| match body {
        ItemBody::Person { text, .. } => format!("person {text}"),
        ItemBody::Model { text, thoughts } => {
            format!(
                "model {text}{}",
                thoughts.as_deref().map(|it| format!(" ({it})")).unwrap_or_default()
            )
        }
        ItemBody::Call { id, name, args, .. } => format!("call {id} {name} {args}"),
        ItemBody::Answer(it) => format!("answer {} {} {}", it.id, it.code, it.output),
        other => other.kind().to_owned(),
    };
    items.iter().map(|it| format!("{} {}", it.turn, one(&it.body))).collect()
}

#[test]
fn a_session_of_claude_code() {
    let line = |kind: &str, id: &str, parent: Value, content: Value| {
        json!({"type": kind, "uuid": id, "parentUuid": parent, "isSidechain": false,
            "timestamp": "2026-11-15T19:25:40.123Z", "message": {"role": kind, "content": content}})
    };
    let lines = [
        json!({"type": "summary", "summary": "a talk", "leafUuid": "f"}),
        line("user", "a", Value::Null, json!("fix it")),
        line("assistant", "x", json!("a"), json!([{"type": "text", "text": "another branch"}])),
        line(
            "assistant",
            "b",
            json!("a"),
            json!([{"type": "thinking", "thinking": "hm", "signature": "s"}]),
        ),
        line("assistant", "c", json!("b"), json!([{"type": "text", "text": "I look."}])),
        line(
            "assistant",
            "d",
            json!("c"),
            json!([
                {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "a"}},
                {"type": "tool_use", "id": "t2", "name": "Bash", "input": {"command": "make"}},
            ]),
        ),
        line(
            "user",
            "e",
            json!("d"),
            json!([
                {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "one"}]},
                {"type": "tool_result", "tool_use_id": "nobody", "content": "lost"},
            ]),
        ),
        line("user", "f", json!("e"), json!([{"type": "text", "text": "go on"}])),
        json!("not an object"),
    ];
    assert_eq!(
        outline(ImportFormat::ClaudeCode, &lines),
        [
            "1 person fix it",
            "1 model I look. (hm)",
            "1 call t1 Read {\"file_path\":\"a\"}",
            "1 call t2 Bash {\"command\":\"make\"}",
            "1 answer t1 ok one",
            "1 answer t2 interrupted ",
            "2 person go on",
        ]
    );
    let left_out = import(ImportFormat::ClaudeCode, &lines).left_out;
    let left_out: Vec<(&str, u64)> = left_out.iter().map(|(name, n)| (name.as_str(), *n)).collect();
    assert_eq!(
        left_out,
        [
            ("answer without its call", 1),
            ("message of another branch", 1),
            ("summary", 1),
            ("unreadable", 1)
        ]
    );
}

#[test]
fn a_rollout_of_codex() {
    let item = |payload: Value| json!({"timestamp": "2026-11-15T19:25:40Z", "type": "response_item", "payload": payload});
    let says = |role: &str, kind: &str, text: &str| {
        item(json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]}))
    };
    let lines = [
        json!({"type": "session_meta", "payload": {"id": "x"}}),
        says("user", "input_text", "<environment_context>here</environment_context>"),
        says("user", "input_text", "fix it"),
        item(
            json!({"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}], "encrypted_content": "e"}),
        ),
        item(
            json!({"type": "function_call", "name": "shell", "arguments": "{\"command\":[\"ls\"]}", "call_id": "c1"}),
        ),
        item(json!({"type": "function_call_output", "call_id": "c1", "output": "a\nb"})),
        item(
            json!({"type": "custom_tool_call", "name": "apply_patch", "input": "*** Begin", "call_id": "c2"}),
        ),
        item(
            json!({"type": "custom_tool_call_output", "call_id": "c2", "output": {"content": "no", "success": false}}),
        ),
        says("assistant", "output_text", "Done."),
        json!({"type": "event_msg", "payload": {}}),
        json!({"type": "something_new", "payload": {}}),
    ];
    assert_eq!(
        outline(ImportFormat::Codex, &lines),
        [
            "1 person fix it",
            "1 model  (hm)",
            "1 call c1 shell {\"command\":[\"ls\"]}",
            "1 answer c1 ok a\nb",
            "1 model ",
            "1 call c2 apply_patch {\"input\":\"*** Begin\"}",
            "1 answer c2 tool_failed no",
            "1 model Done.",
        ]
    );
    assert_eq!(import(ImportFormat::Codex, &lines).left_out.get("something_new"), Some(&1));
}

/// Lines as both write them, with names from a few, so that they meet: also in circles and twice.
fn line() -> impl Strategy<Value = Value> {
    let name = || prop::sample::select(vec!["a", "b", "c", "", "zz"]);
    let kind = prop::sample::select(vec![
        "text",
        "thinking",
        "tool_use",
        "tool_result",
        "function_call",
        "function_call_output",
        "message",
        "compacted",
        "session_meta",
        "response_item",
        "user",
        "assistant",
        "odd",
    ]);
    let odd = prop::sample::select(vec![
        Value::Null,
        json!(1),
        json!([]),
        json!({}),
        json!("text"),
        json!([null, {"type": 7}]),
    ]);
    (kind.clone(), kind, name(), name(), name(), odd).prop_map(
        |(kind, inner, id, parent, call, odd)| {
            let block = json!({"type": inner, "id": call, "tool_use_id": call, "call_id": call,
                "name": "read", "input": odd, "arguments": "{}", "output": odd, "content": odd,
                "text": "words", "role": kind});
            json!({"type": kind, "uuid": id, "parentUuid": parent, "timestamp": odd, "payload": block,
                "message": {"role": kind, "content": [block]}})
        },
    )
}

proptest! {
    /// Whatever the lines are: there is an end, and every call has exactly one answer.
    #[test]
    fn any_lines_give_calls_with_one_answer_each(lines in prop::collection::vec(line(), 0..12)) {
        for format in [ImportFormat::ClaudeCode, ImportFormat::Codex] {
            let (mut open, mut answered) = (Vec::new(), 0);
            for item in import(format, &lines).items {
                match item.body {
                    ItemBody::Call { id, .. } => open.push(id),
                    ItemBody::Answer(answer) => {
                        let place = open.iter().position(|it| *it == answer.id);
                        prop_assert!(place.is_some(), "{:?}", answer);
                        open.swap_remove(place.unwrap());
                        answered += 1;
                    }
                    _ => {}
                }
            }
            prop_assert!(open.is_empty(), "{:?} of {}", open, answered + open.len());
        }
    }
}
