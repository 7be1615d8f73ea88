//! Arguments as a person is asked about them: secrets masked, and nothing else.
//!
//! A person answers for the exact bytes that will run, and a mask over part of a command would be a
//! place to hide another command. So only plain words are masked: what a shell could act on (blanks,
//! quotes, `$`, `;`, `|` and the like) is shown whatever a rule takes it for.

use std::borrow::Cow;

use serde_json::Value;

use super::{Redactor, engine::Engine, names};

impl Redactor {
    /// The value with the secrets masked that are plain words; everything else is shown.
    pub fn masked_words<'a>(&self, value: &'a Value) -> Cow<'a, Value> {
        match self.engine().and_then(|engine| walk(engine, value, false)) {
            Some(masked) => Cow::Owned(masked),
            None => Cow::Borrowed(value),
        }
    }
}

/// The value with masks; `None` when there is nothing to mask.
fn walk(engine: &Engine, value: &Value, telling: bool) -> Option<Value> {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
        Value::String(text) if telling && is_plain_word(text) => {
            Some(Value::String(format!("[redacted:{}]", super::BY_NAME)))
        }
        Value::String(text) => match engine.masked(text, is_plain_word) {
            Cow::Owned(text) => Some(Value::String(text)),
            Cow::Borrowed(_) => None,
        },
        Value::Array(items) => {
            let masked: Vec<Option<Value>> =
                items.iter().map(|it| walk(engine, it, telling)).collect();
            masked.iter().any(Option::is_some).then(|| {
                let all = items.iter().zip(masked);
                all.map(|(item, masked)| masked.unwrap_or_else(|| item.clone())).collect()
            })
        }
        Value::Object(fields) => {
            let mut masked = fields.clone();
            let mut any = false;
            for (name, value) in &mut masked {
                if let Some(new) = walk(engine, value, names::is_telling(name)) {
                    (*value, any) = (new, true);
                }
            }
            any.then_some(Value::Object(masked))
        }
    }
}

/// True when no program takes any part of it for more than a letter.
fn is_plain_word(text: &str) -> bool {
    let plain = |it: char| it.is_ascii_alphanumeric() || "_-./+=:%@,~^#".contains(it);
    !text.is_empty() && text.len() <= 4096 && text.chars().all(plain)
}
