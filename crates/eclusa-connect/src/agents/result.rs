//! The text of a tool's result, and a result with another text in its place. Pictures, sound and
//! documents are no text: nobody looks for secrets in them, and they stay byte for byte.

use base64::{Engine as _, prelude::BASE64_STANDARD as BASE64};
use serde_json::{Map, Value, json};

use super::event::HookEvent;
use crate::answer::ResultNote;

/// How files begin that are no text.
const SIGNATURES: [&[u8]; 14] = [
    b"\x89PNG\r\n\x1a\n",
    b"\xff\xd8\xff",
    b"GIF87a",
    b"GIF89a",
    b"RIFF",
    b"II*\0",
    b"MM\0*",
    b"%PDF-",
    b"OggS",
    b"fLaC",
    b"ID3\x03",
    b"ID3\x04",
    b"\x1a\x45\xdf\xa3",
    b"PK\x03\x04",
];

/// Where a result says what sort of bytes it holds.
const MEDIA_TYPES: [&str; 5] = ["mimeType", "mime_type", "media_type", "mediaType", "type"];

/// The sorts that are no text.
const BINARY: [&str; 6] =
    ["image/", "audio/", "video/", "font/", "application/pdf", "application/octet-stream"];

/// Texts that say what a result is, and nothing of what is in it.
const SHAPE: [&str; 5] = ["type", "filePath", "mimeType", "media_type", "mode"];

/// Where the text of a result stands, first of all.
const MAIN: [&str; 6] = ["stdout", "text", "content", "output", "result", "file"];

/// The text of a result, as far as it has one.
pub(super) fn result_text(value: &Value) -> String {
    match without_media(value, None) {
        Some(value) => text_of(&value),
        None => String::new(),
    }
}

fn text_of(value: &Value) -> String {
    let text = |name: &str| value.get(name).and_then(Value::as_str).filter(|it| !it.is_empty());
    match value {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts: Vec<String> = blocks.iter().map(text_of).collect();
            texts.join("\n")
        }
        Value::Object(_) => match (text("stdout"), text("stderr")) {
            (Some(out), Some(err)) => format!("{out}\n{err}"),
            (Some(only), None) | (None, Some(only)) => only.to_owned(),
            (None, None) => {
                let named = ["llmContent", "text", "content", "output", "result", "file"];
                let found = named.iter().find_map(|it| value.get(*it)).map(text_of);
                found.unwrap_or_else(|| value.to_string())
            }
        },
        Value::Null => String::new(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

/// True when there is something in a result that is no text.
pub(super) fn holds_media(value: &Value) -> bool {
    without_media(value, None).as_ref() != Some(value)
}

/// A result without what is no text; `None` where nothing else is in it.
fn without_media(value: &Value, media_type: Option<&str>) -> Option<Value> {
    match value {
        Value::String(text) => (!is_media(text, media_type)).then(|| value.clone()),
        Value::Array(all) => {
            Some(all.iter().filter_map(|it| without_media(it, media_type)).collect())
        }
        Value::Object(fields) => {
            let said = said_type(fields);
            let left = fields.iter().filter_map(|(name, it)| {
                let it = without_media(it, said.filter(|_| it.is_string()))?;
                Some((name.clone(), it))
            });
            Some(Value::Object(left.collect()))
        }
        other => Some(other.clone()),
    }
}

fn said_type(fields: &Map<String, Value>) -> Option<&str> {
    let said = MEDIA_TYPES.iter().filter_map(|it| fields.get(*it)?.as_str());
    said.into_iter().find(|it| it.contains('/'))
}

/// True when a text stands for bytes that are no text: base64, alone or in a `data:` address, of
/// something that begins as such files do or is said to be one.
fn is_media(text: &str, media_type: Option<&str>) -> bool {
    let (media_type, data) = match text.strip_prefix("data:").and_then(|it| it.split_once(',')) {
        Some((head, data)) => match head.strip_suffix(";base64") {
            Some(media_type) => (Some(media_type), data),
            None => return false,
        },
        None => (media_type, text),
    };
    let is_said = media_type.is_some_and(|said| BINARY.iter().any(|it| said.starts_with(it)));
    // Enough for the longest signature, and whole groups of four.
    let head = data.get(..16).and_then(|it| BASE64.decode(it).ok());
    let begins = |head: &[u8]| {
        SIGNATURES.iter().any(|it| head.starts_with(it)) || head.get(4..8) == Some(b"ftyp")
    };
    let begins_so = head.is_some_and(|it| begins(&it));
    (is_said || begins_so) && data.len() > 16 && BASE64.decode(data).is_ok()
}

/// A result with this text in the place of all its own, in the same shape: one of another shape is no
/// answer for Claude Code, and the model sees what was there. What is no text stays.
pub(super) fn reshaped(response: Option<&Value>, text: &str) -> Value {
    let mut left = Some(text);
    let shaped = response.map(|it| filled("", it, None, &mut left));
    shaped.filter(|_| left.is_none()).unwrap_or_else(|| text.into())
}

/// A result of which nothing may be seen, with this text in its place.
pub(super) fn withheld(response: Option<&Value>, text: &str) -> Value {
    let hidden = response.filter(|it| holds_media(it)).map(|it| match it.get("file") {
        // A file that was read is a picture, a document or a text; a picture needs its bytes.
        Some(file) => {
            let path = file.get("filePath").cloned().unwrap_or_else(|| "".into());
            json!({"type": "text", "file": {
                "filePath": path, "content": text, "numLines": 1, "startLine": 1, "totalLines": 1,
            }})
        }
        None => match it.get("content") {
            Some(_) => json!({"content": [{"type": "text", "text": text}]}),
            None => json!([{"type": "text", "text": text}]),
        },
    });
    hidden.unwrap_or_else(|| reshaped(response, text))
}

/// What a model reads in the place of a whole result, where an agent takes nothing but a text: a
/// picture beside a text that was changed cannot come with it.
pub(super) fn replacement(event: &HookEvent, note: &ResultNote) -> Option<String> {
    let lost = !note.withheld && event.response.as_ref().is_some_and(holds_media);
    let text = note.replacement.as_ref()?;
    Some(match lost {
        true => format!("{text}\n[eclusa: what is not text in this result was left out]"),
        false => text.clone(),
    })
}

fn filled(name: &str, value: &Value, media_type: Option<&str>, left: &mut Option<&str>) -> Value {
    match value {
        Value::String(text) if is_media(text, media_type) => value.clone(),
        Value::String(_) if !SHAPE.contains(&name) => left.take().unwrap_or_default().into(),
        Value::Array(all) => {
            let all = all.iter().map(|it| filled("", it, media_type, left));
            // An empty block of text is refused by models.
            let empty = json!({"type": "text", "text": ""});
            all.filter(|it| *it != empty).collect()
        }
        Value::Object(fields) => {
            let (mut first, mut rest): (Vec<_>, Vec<_>) =
                fields.iter().partition(|it| MAIN.contains(&it.0.as_str()));
            first.sort_by_key(|it| MAIN.iter().position(|name| name == it.0));
            first.append(&mut rest);
            let said = said_type(fields);
            let filled = first.into_iter().map(|(name, it)| {
                let said = said.filter(|_| it.is_string());
                (name.clone(), filled(name, it, said, left))
            });
            Value::Object(filled.collect())
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests;
