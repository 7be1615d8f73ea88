//! JSON with comments and trailing commas, as agents' settings are written: read, and changed at
//! one place without touching the rest.

use std::fmt;

use serde_json::Value;

use parse::{JsonNode, Kind, Member, parse};

mod edit;
mod parse;

pub use edit::{like_lines_of, push, remove, remove_items, set, set_source};

/// What is wrong with a text, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsoncError {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// What is wrong.
    pub what: String,
}

impl fmt::Display for JsoncError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.what)
    }
}

impl std::error::Error for JsoncError {}

/// The value of a text. One that holds nothing but blanks and comments is an empty object.
pub fn read(text: &str) -> Result<Value, JsoncError> {
    Ok(parse(text)?.map_or_else(|| Value::Object(serde_json::Map::new()), |it| value(&it)))
}

/// The value at a path of keys.
pub fn value_at(text: &str, path: &[&str]) -> Result<Option<Value>, JsoncError> {
    let root = parse(text)?;
    Ok(root.as_ref().and_then(|it| find(it, path)).map(value))
}

/// The value at a path of keys as it is written, byte for byte.
pub fn source_at(text: &str, path: &[&str]) -> Result<Option<String>, JsoncError> {
    let root = parse(text)?;
    let node = root.as_ref().and_then(|it| find(it, path));
    Ok(node.and_then(|it| text.get(it.span.clone())).map(str::to_owned))
}

fn value(node: &JsonNode) -> Value {
    match &node.kind {
        Kind::Scalar(value) => value.clone(),
        Kind::Array(items) => Value::Array(items.iter().map(value).collect()),
        Kind::Object(members) => {
            Value::Object(members.iter().map(|it| (it.key.clone(), value(&it.value))).collect())
        }
    }
}

/// The node at a path of keys. Of two members of one name the later counts, as everywhere.
fn find<'a>(node: &'a JsonNode, path: &[&str]) -> Option<&'a JsonNode> {
    let Some((first, rest)) = path.split_first() else { return Some(node) };
    find(&member(node, first)?.value, rest)
}

fn member<'a>(node: &'a JsonNode, key: &str) -> Option<&'a Member> {
    match &node.kind {
        Kind::Object(members) => members.iter().rev().find(|it| it.key == key),
        Kind::Array(_) | Kind::Scalar(_) => None,
    }
}
