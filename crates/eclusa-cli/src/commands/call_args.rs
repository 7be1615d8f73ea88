//! The arguments of a call, as typed on the command line or read from stdin.

use std::io::Read;

use serde_json::{Map, Value};

use crate::failure::Failure;

/// The longest arguments that are read from stdin, in bytes.
const MAX_STDIN: u64 = 64 * 1024 * 1024;

/// True when the arguments come from stdin.
pub(super) fn from_stdin(typed: &[String]) -> bool {
    matches!(typed, [only] if only == "-")
}

/// Reads arguments: none is `{}`, `-` is stdin, `{…}` is JSON, anything else `key=text` or
/// `key:=json`.
pub(super) fn read(typed: &[String]) -> Result<Value, Failure> {
    match typed {
        [] => Ok(Value::Object(Map::new())),
        [only] if only == "-" => {
            let mut piped = String::new();
            std::io::stdin().lock().take(MAX_STDIN).read_to_string(&mut piped)?;
            from_json(&piped)
        }
        [only] if is_json(only) => from_json(only),
        words => from_words(words),
    }
}

/// Whoever begins with a bracket or a quote, or wrote something without a key, meant JSON.
fn is_json(text: &str) -> bool {
    text.trim_start().starts_with(['{', '[', '"']) || !text.contains('=')
}

fn from_json(text: &str) -> Result<Value, Failure> {
    const HINT: &str = "write `key=text` and `key:=json` words, or one object in single quotes: \
                        '{\"path\": \"README.md\"}'";
    let value: Value = serde_json::from_str(text).map_err(|err| {
        Failure::usage(format!("the arguments are not valid JSON: {err}")).hint(HINT)
    })?;
    match value {
        Value::Object(_) => Ok(value),
        _ => Err(Failure::usage("the arguments must be a JSON object").hint(HINT)),
    }
}

fn from_words(words: &[String]) -> Result<Value, Failure> {
    let mut fields = Map::new();
    for word in words {
        let (key, value) = word.split_once('=').ok_or_else(|| {
            Failure::usage(format!("`{word}` is not an argument"))
                .hint("write `key=text`, or `key:=json` for numbers, booleans and lists")
        })?;
        let (key, value) = match key.strip_suffix(':') {
            Some(key) => {
                let value = serde_json::from_str(value).map_err(|err| {
                    Failure::usage(format!("the value of `{key}` is not valid JSON: {err}"))
                        .hint(format!("for text, write `{key}=…`"))
                })?;
                (key, value)
            }
            None => (key, Value::from(value)),
        };
        if key.is_empty() {
            return Err(Failure::usage(format!("`{word}` has no name before the `=`")));
        }
        if fields.insert(key.to_owned(), value).is_some() {
            return Err(Failure::usage(format!("the argument `{key}` is given twice")));
        }
    }
    Ok(Value::Object(fields))
}

#[cfg(test)]
mod tests;
