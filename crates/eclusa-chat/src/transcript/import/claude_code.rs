//! A session of Claude Code: messages that name the one before them, so that branches can be told
//! apart. The branch that ends last is the conversation.

use std::collections::HashMap;

use serde_json::Value;

use super::{ItemBuilder, text_at, text_of};

pub(super) fn read(lines: &[Value], builder: &mut ItemBuilder) {
    let mut by_id: HashMap<&str, &Value> = HashMap::new();
    let mut last = None;
    for line in lines {
        let (id, kind) = (text_at(line, "uuid"), text_at(line, "type"));
        let is = |name: &str| line.get(name).and_then(Value::as_bool).unwrap_or_default();
        match kind {
            "user" | "assistant" if !id.is_empty() && !is("isSidechain") => {
                by_id.insert(id, line);
                last = Some(id);
            }
            // Something between two messages, which the next one names.
            _ if !id.is_empty() && !is("isSidechain") => {
                by_id.insert(id, line);
            }
            "user" | "assistant" => builder.leave_out("message of a task"),
            "" => builder.leave_out("unreadable"),
            other => builder.leave_out(other),
        }
    }
    let mut branch = Vec::new();
    while let Some(line) = last.and_then(|id| by_id.remove(id)) {
        branch.push(line);
        last = line.get("parentUuid").and_then(Value::as_str);
    }
    for line in by_id.into_values() {
        match text_at(line, "type") {
            "user" | "assistant" => builder.leave_out("message of another branch"),
            other => builder.leave_out(other),
        }
    }
    for line in branch.into_iter().rev() {
        message(line, builder);
    }
}

fn message(line: &Value, builder: &mut ItemBuilder) {
    builder.set_time(line);
    let content = line.pointer("/message/content");
    let blocks = content.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    match text_at(line, "type") {
        "user" if line.get("isMeta").and_then(Value::as_bool) == Some(true) => {
            builder.leave_out("meta");
        }
        "user" => {
            for block in blocks.iter().filter(|it| text_at(it, "type") == "tool_result") {
                let failed = block.get("is_error").and_then(Value::as_bool).unwrap_or_default();
                let output = text_of(block.get("content"));
                builder.answer(text_at(block, "tool_use_id"), output, failed);
            }
            builder.person(&text_of(content));
        }
        "assistant" => {
            for block in blocks {
                match text_at(block, "type") {
                    "text" => builder.model(text_at(block, "text")),
                    "thinking" => builder.thought(text_at(block, "thinking")),
                    "tool_use" => builder.call(
                        text_at(block, "id"),
                        text_at(block, "name"),
                        block.get("input").cloned().unwrap_or_default(),
                    ),
                    other => builder.leave_out(other),
                }
            }
        }
        other => builder.leave_out(other),
    }
}
