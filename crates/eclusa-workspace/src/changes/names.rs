//! Paths, spelt as git spells them and as a person can read them.

use std::{fmt::Write, path::Path};

use eclusa_text::one_line;

/// A path with a prefix, in quotes and escapes where git would use them.
pub(super) fn quoted(prefix: &str, path: &Path) -> String {
    let bytes = path.as_os_str().as_encoded_bytes();
    let strange = |byte: &u8| matches!(byte, 0..32 | b'"' | b'\\' | 127..);
    let mut text = String::with_capacity(prefix.len() + bytes.len() + 2);
    if !bytes.iter().any(strange) {
        text.push_str(prefix);
        text.extend(bytes.iter().map(|byte| char::from(*byte)));
        return text;
    }
    text.push('"');
    text.push_str(prefix);
    for byte in bytes {
        match byte {
            7 => text.push_str("\\a"),
            8 => text.push_str("\\b"),
            9 => text.push_str("\\t"),
            10 => text.push_str("\\n"),
            11 => text.push_str("\\v"),
            12 => text.push_str("\\f"),
            13 => text.push_str("\\r"),
            b'"' => text.push_str("\\\""),
            b'\\' => text.push_str("\\\\"),
            32..127 => text.push(char::from(*byte)),
            _ => {
                let _ = write!(text, "\\{byte:03o}");
            }
        }
    }
    text.push('"');
    text
}

/// A path for a person: nothing hidden, no two alike, and in quotes where the end of it could be
/// taken for what follows.
pub(super) fn readable(path: &Path) -> String {
    match path.to_str() {
        Some(text) if text.contains(['"', '\\']) => one_line(&quoted("", path)),
        Some(text) if text.contains([',', '>']) => format!("\"{}\"", one_line(text)),
        Some(text) => one_line(text),
        None => one_line(&quoted("", path)),
    }
}

/// The bytes of a path in hexadecimal, if they are no UTF-8 and text would not do.
pub(super) fn hex(path: &Path) -> Option<String> {
    if path.to_str().is_some() {
        return None;
    }
    let bytes = path.as_os_str().as_encoded_bytes();
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    Some(text)
}
