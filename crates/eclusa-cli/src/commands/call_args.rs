//! The arguments of a call, as typed on the command line or read from stdin.

use std::io::Read;

use serde_json::{Map, Value};

use crate::failure::Failure;

pub(super) mod from_here;

/// The longest arguments that are read from stdin, in bytes.
const MAX_STDIN: u64 = 64 * 1024 * 1024;

/// True when the arguments come from stdin.
pub(super) fn from_stdin(typed: &[String]) -> bool {
    matches!(typed, [only] if only == "-")
}

/// Reads arguments: none is `{}`, `-` is stdin, `{…}` is JSON, anything else `key=text` or `key:=json`. By
/// the tool's schema a word without a key is its one required argument, and text is a number or a truth value
/// where nothing else fits.
pub(super) fn read(typed: &[String], schema: Option<&Value>) -> Result<Value, Failure> {
    match typed {
        [] => Ok(Value::Object(Map::new())),
        [only] if only == "-" => {
            let mut piped = String::new();
            std::io::stdin().lock().take(MAX_STDIN).read_to_string(&mut piped)?;
            from_json(&piped)
        }
        [only] if is_json(only) => from_json(only),
        words => from_words(words, schema),
    }
}

/// True when the arguments are words: whoever types those means paths as a shell does. JSON is what the tool gets.
pub(super) fn are_words(typed: &[String]) -> bool {
    !from_stdin(typed) && !matches!(typed, [only] if is_json(only))
}

/// Whoever begins with a bracket or a quote meant JSON.
fn is_json(text: &str) -> bool {
    text.trim_start().starts_with(['{', '[', '"'])
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

fn from_words(words: &[String], schema: Option<&Value>) -> Result<Value, Failure> {
    let mut fields = Map::new();
    for (place, word) in words.iter().enumerate() {
        let (key, value) = match word.split_once('=') {
            Some((key, value)) => read_pair(key, value, schema)?,
            None => match schema.and_then(one_required).filter(|_| place == 0) {
                Some(key) => (key, Value::from(word.as_str())),
                None => {
                    return Err(Failure::usage(format!("`{word}` is not an argument"))
                        .hint("write `key=text`, or `key:=json` for numbers, booleans and lists"));
                }
            },
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

fn read_pair<'a>(
    key: &'a str,
    value: &str,
    schema: Option<&Value>,
) -> Result<(&'a str, Value), Failure> {
    let Some(key) = key.strip_suffix(':') else {
        let plain = schema.and_then(|it| as_the_schema_wants(key, value, it));
        return Ok((key, plain.unwrap_or_else(|| Value::from(value))));
    };
    let value = serde_json::from_str(value).map_err(|err| {
        Failure::usage(format!("the value of `{key}` is not valid JSON: {err}"))
            .hint(format!("for text, write `{key}=…`"))
    })?;
    Ok((key, value))
}

/// The number or truth value that this text is, where the schema takes no text there.
fn as_the_schema_wants(key: &str, text: &str, schema: &Value) -> Option<Value> {
    let wanted = schema.get("properties")?.get(key)?.get("type")?;
    let wants = |name: &str| match wanted {
        Value::String(one) => one == name,
        Value::Array(several) => several.iter().any(|it| it == name),
        _ => false,
    };
    if wants("string") {
        return None;
    }
    let value: Value = serde_json::from_str(text).ok()?;
    let fits = match &value {
        Value::Number(_) => wants("integer") || wants("number"),
        Value::Bool(_) => wants("boolean"),
        _ => false,
    };
    fits.then_some(value)
}

/// The argument that the tool cannot do without, if there is one alone and it is text.
fn one_required(schema: &Value) -> Option<&str> {
    let [one] = schema.get("required")?.as_array()?.as_slice() else { return None };
    let name = one.as_str()?;
    let kind = schema.get("properties")?.get(name)?.get("type")?;
    (kind == "string").then_some(name)
}

#[cfg(test)]
mod tests;
