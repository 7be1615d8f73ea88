//! A rollout of Codex: what was sent to the model and what it sent back, a line each.

use serde_json::{Value, json};

use super::{ItemBuilder, text_at, text_of};

/// What Codex itself says in the person's name.
const FROM_CODEX: [&str; 3] =
    ["<environment_context>", "<user_instructions>", "# AGENTS.md instructions"];

pub(super) fn read(lines: &[Value], builder: &mut ItemBuilder) {
    for line in lines {
        builder.set_time(line);
        let empty = Value::Null;
        let payload = line.get("payload").unwrap_or(&empty);
        match text_at(line, "type") {
            "response_item" => item(payload, builder),
            "compacted" => {
                let summary = text_at(payload, "message");
                builder.person(&format!("[summary of the session so far]\n{summary}"));
            }
            // The same as the items, for a screen; and settings.
            "event_msg" | "session_meta" | "turn_context" => {}
            "" => builder.leave_out("unreadable"),
            other => builder.leave_out(other),
        }
    }
}

fn item(item: &Value, builder: &mut ItemBuilder) {
    let id = text_at(item, "call_id");
    match text_at(item, "type") {
        "message" => {
            let text = text_of(item.get("content"));
            match text_at(item, "role") {
                "assistant" => builder.model(&text),
                "user" if !FROM_CODEX.iter().any(|it| text.starts_with(it)) => {
                    builder.person(&text);
                }
                _ => builder.leave_out("settings"),
            }
        }
        "reasoning" => {
            for part in item.get("summary").and_then(Value::as_array).into_iter().flatten() {
                builder.thought(text_at(part, "text"));
            }
        }
        "function_call" => {
            let args = text_at(item, "arguments");
            let args = serde_json::from_str(args).unwrap_or_else(|_| json!(args));
            builder.call(id, text_at(item, "name"), args);
        }
        "custom_tool_call" => {
            builder.call(id, text_at(item, "name"), json!({"input": text_at(item, "input")}));
        }
        "local_shell_call" => {
            let action = item.get("action").cloned().unwrap_or_default();
            builder.call(id, "local_shell", action);
        }
        "function_call_output" | "custom_tool_call_output" => {
            let output = item.get("output");
            let failed = output.and_then(|it| it.get("success")).and_then(Value::as_bool);
            let text = match output {
                Some(Value::Object(fields)) => text_of(fields.get("content")),
                output => text_of(output),
            };
            builder.answer(id, text, failed == Some(false));
        }
        "" => builder.leave_out("unreadable"),
        other => builder.leave_out(other),
    }
}
