//! The arguments of a call, as typed on the command line or read from stdin.

use std::io::Read;

use serde_json::{Map, Value};

use crate::failure::Failure;

/// The longest arguments that are read from stdin.
const MAX_STDIN: u64 = 64 * 1024 * 1024;

/// Reads arguments: none is `{}`, `-` is stdin.
pub(super) fn read(typed: Option<&str>) -> Result<Value, Failure> {
    let mut piped = String::new();
    let text = match typed {
        None => return Ok(Value::Object(Map::new())),
        Some("-") => {
            let stdin = std::io::stdin().lock();
            stdin.take(MAX_STDIN).read_to_string(&mut piped)?;
            piped.as_str()
        }
        Some(text) => text,
    };
    let value: Value = serde_json::from_str(text).map_err(|err| {
        Failure::usage(format!("the arguments are not JSON: {err}"))
            .hint("write an object in single quotes: '{\"text\": \"hello\"}'")
    })?;
    match value {
        Value::Object(_) => Ok(value),
        _ => Err(Failure::usage("the arguments must be a JSON object")
            .hint("write an object in single quotes: '{\"text\": \"hello\"}'")),
    }
}
