//! Reads JSON that a model wrote: strictly, and with the place where it goes wrong.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Where and why a text is not JSON.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct JsonError {
    /// Byte in the text.
    pub(crate) at: usize,
    /// What is wrong there, without the place.
    pub(crate) what: String,
}

/// A place in a text, as people count: from 1, in lines and characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TextPosition {
    pub(crate) line: u64,
    pub(crate) column: usize,
}

impl fmt::Display for TextPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

impl TextPosition {
    /// The place of a byte in a text. Lines end with LF, CRLF or CR.
    pub(crate) fn of_byte(text: &str, at: usize) -> TextPosition {
        let before = text.get(..text.floor_char_boundary(at)).unwrap_or(text);
        let mut place = TextPosition { line: 1, column: 1 };
        let mut after_cr = false;
        for it in before.chars() {
            match it {
                '\n' if after_cr => {}
                '\n' | '\r' => place = TextPosition { line: place.line + 1, column: 1 },
                _ => place.column += 1,
            }
            after_cr = it == '\r';
        }
        place
    }
}

/// Reads exactly one value. A key that an object has twice is an error, because readers differ
/// on which of the two counts, and so a person could approve one and a tool run the other.
/// Nesting is limited, so that no text can exhaust the stack.
pub(crate) fn read(text: &str) -> Result<Value, JsonError> {
    match serde_json::from_str::<Strict>(text) {
        Ok(Strict(value)) => Ok(value),
        Err(err) => Err(fault(text, &err)),
    }
}

fn fault(text: &str, err: &serde_json::Error) -> JsonError {
    let said = err.to_string();
    let what = match said.rsplit_once(" at line ") {
        Some((what, _)) => what,
        None => &said,
    };
    let what = match what {
        _ if text.trim().is_empty() => "there is nothing in it",
        _ if err.is_eof() => "it ends before the JSON is complete",
        "trailing characters" => "there is something after the JSON",
        "recursion limit exceeded" => "it is nested too deeply",
        "key must be a string" => "a key must be a string in double quotes",
        "control character (\\u0000-\\u001F) found while parsing a string" => {
            "a string holds a raw line break or control character; write it as an escape like \\n"
        }
        what => what,
    };
    JsonError { at: offset(text, err), what: what.to_owned() }
}

/// The byte that an error points at. The JSON reader counts lines by LF and columns in bytes.
fn offset(text: &str, err: &serde_json::Error) -> usize {
    let line = match err.line().checked_sub(2) {
        None => 0,
        Some(before) => {
            memchr::memchr_iter(b'\n', text.as_bytes()).nth(before).map_or(0, |at| at + 1)
        }
    };
    (line + err.column().saturating_sub(1)).min(text.len())
}

/// A value in which no object has a key twice.
struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Strict, D::Error> {
        from.deserialize_any(StrictVisitor).map(Strict)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, it: bool) -> Result<Value, E> {
        Ok(Value::Bool(it))
    }

    fn visit_i64<E>(self, it: i64) -> Result<Value, E> {
        Ok(Value::Number(it.into()))
    }

    fn visit_u64<E>(self, it: u64) -> Result<Value, E> {
        Ok(Value::Number(it.into()))
    }

    fn visit_f64<E: serde::de::Error>(self, it: f64) -> Result<Value, E> {
        Number::from_f64(it).map(Value::Number).ok_or_else(|| E::custom("number out of range"))
    }

    fn visit_str<E>(self, it: &str) -> Result<Value, E> {
        Ok(Value::String(it.to_owned()))
    }

    fn visit_string<E>(self, it: String) -> Result<Value, E> {
        Ok(Value::String(it))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Strict(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = fields.next_key::<String>()? {
            if object.contains_key(&key) {
                return Err(A::Error::custom(format!("the key `{}` is there twice", brief(&key))));
            }
            let Strict(value) = fields.next_value()?;
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}

/// What a model wrote, short enough for a message, and without control characters.
pub(crate) fn brief(text: &str) -> String {
    const MAX_QUOTED: usize = 60;
    let mut short: String = text
        .chars()
        .take(MAX_QUOTED)
        .map(|it| if it.is_control() { char::REPLACEMENT_CHARACTER } else { it })
        .collect();
    if text.chars().nth(MAX_QUOTED).is_some() {
        short.push('…');
    }
    short
}

/// What kind of value it is, in words.
pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests;
