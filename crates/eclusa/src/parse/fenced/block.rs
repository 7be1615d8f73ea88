//! The content of one `tool` block: one JSON object with `name`, `args`, `reason` and `id`.

use memchr::memrchr2;
use serde_json::{Map, Value};

use super::Block;
use crate::{
    Origin, ToolCall,
    json::{self, TextPosition, brief, kind},
    parse::ids::IdGenerator,
};

/// What a block should look like, for a model that did not know.
const HINT: &str = r#"write one JSON object such as {"name": "tool_name", "args": {}, "reason": "why"} between the fences"#;

/// The keys that a block may have.
const KEYS: [&str; 4] = ["name", "args", "reason", "id"];

/// A block that is not a call, with what could be read of it.
pub(super) struct Bad {
    pub(super) id: Option<String>,
    pub(super) tool: Option<String>,
    pub(super) problem: String,
}

impl Bad {
    fn unread(problem: String) -> Bad {
        Bad { id: None, tool: None, problem }
    }
}

/// A block that the text ended in.
pub(super) fn unclosed(line: u64) -> Bad {
    Bad::unread(format!(
        "the fence of the `tool` block at line {line} was never closed, so it was not run; end the block with a line that holds the same fence and nothing else"
    ))
}

/// A block over the limit.
pub(super) fn too_large(line: u64, limit: usize) -> Bad {
    Bad::unread(format!(
        "the `tool` block at line {line} is larger than {limit} bytes, so it was not read; send less in one call"
    ))
}

/// Reads the call in a block, fences included.
pub(super) fn read(held: &str, block: Block, ids: &mut IdGenerator) -> Result<ToolCall, Bad> {
    let value = json::read(content(held, block)).map_err(|fault| {
        let mut place = TextPosition::of_byte(held, block.content + fault.at);
        place.line += block.line - 1;
        let line = block.line;
        Bad::unread(format!(
            "the `tool` block at line {line} is not valid JSON at {place}: {}; {HINT}",
            fault.what
        ))
    })?;
    let Value::Object(mut fields) = value else {
        let it = kind(&value);
        return Err(Bad::unread(format!(
            "the `tool` block at line {} holds {it}; {HINT}",
            block.line
        )));
    };
    let text = |key: &str| fields.get(key).and_then(Value::as_str).map(str::to_owned);
    let (id, tool, reason) = (text("id"), text("name"), text("reason"));
    if let Some(problem) = misfit(&fields) {
        let problem = format!("in the `tool` block at line {}, {problem}; {HINT}", block.line);
        return Err(Bad { id, tool, problem });
    }
    Ok(ToolCall {
        id: ids.or_next(id.as_deref()),
        tool: tool.unwrap_or_default(),
        args: fields.remove("args").unwrap_or_default(),
        reason: reason.filter(|it| !it.is_empty()),
        origin: Origin::Fenced,
        time: None,
    })
}

/// What is between the fences.
fn content(held: &str, block: Block) -> &str {
    let closing = held.trim_end_matches(['\n', '\r']);
    let end = memrchr2(b'\n', b'\r', closing.as_bytes()).map_or(0, |at| at + 1);
    held.get(block.content..end).unwrap_or_default().trim_end_matches([' ', '\t', '\n', '\r'])
}

/// What keeps an object from being a call. Arguments that come as text, or not at all, are the
/// gate's affair: it knows the tool (V4, V5).
fn misfit(fields: &Map<String, Value>) -> Option<String> {
    match fields.get("name") {
        None => return Some("`name` is missing".to_owned()),
        Some(Value::String(name)) if !name.is_empty() => {}
        Some(Value::String(_)) => return Some("`name` is empty".to_owned()),
        Some(other) => return Some(format!("`name` must be a string, not {}", kind(other))),
    }
    match fields.get("args") {
        None => return Some("`args` is missing; write {} if there are none".to_owned()),
        Some(Value::Object(_) | Value::String(_) | Value::Null) => {}
        Some(other) => return Some(format!("`args` must be an object, not {}", kind(other))),
    }
    for key in ["reason", "id"] {
        match fields.get(key) {
            None | Some(Value::String(_) | Value::Null) => {}
            Some(other) => return Some(format!("`{key}` must be a string, not {}", kind(other))),
        }
    }
    // Left out, it would change what the model meant without anybody knowing.
    let stray = fields.keys().find(|key| !KEYS.contains(&key.as_str()))?;
    Some(format!("`{}` is not one of `name`, `args`, `reason` and `id`", brief(stray)))
}
