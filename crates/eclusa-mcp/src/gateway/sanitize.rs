//! Words of a server, as people are shown them: nothing that nobody sees, and no more than fits.

use serde_json::Value;

/// The longest text that a person is shown, in bytes.
pub(super) const MAX_TEXT_BYTES: usize = 4 << 10;

/// As much of a text as a person is shown, without what nobody sees.
pub(super) fn sanitize(text: &str) -> String {
    let mut text = strip_hidden(text);
    if text.len() > MAX_TEXT_BYTES {
        text.truncate(text.floor_char_boundary(MAX_TEXT_BYTES));
        text.push_str(" […]");
    }
    text
}

/// The text without what nobody sees.
pub(super) fn strip_hidden(text: &str) -> String {
    text.chars().filter(|it| !is_hidden(*it)).collect()
}

/// The text with control characters and those that turn the direction of others written out, so
/// that nothing of a server steers a terminal or shows what is not there.
pub(super) fn visible(text: String) -> String {
    if !text.contains(is_steering) {
        return text;
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for it in text.chars() {
        match is_steering(it) {
            true => shown.extend(it.escape_unicode()),
            false => shown.push(it),
        }
    }
    shown
}

/// The same for every text in a structure.
pub(super) fn visible_value(value: &mut Value) {
    match value {
        Value::String(text) => *text = visible(std::mem::take(text)),
        Value::Array(items) => items.iter_mut().for_each(visible_value),
        Value::Object(fields) => fields.values_mut().for_each(visible_value),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn is_steering(it: char) -> bool {
    match it {
        '\n' | '\t' | '\r' => false,
        '\u{61C}' | '\u{200E}' | '\u{200F}' => true,
        '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' => true,
        it => it.is_control(),
    }
}

/// Characters that take no room, turn the direction of others, or are control characters; line
/// breaks and tabs are none of them.
pub(super) fn is_hidden(it: char) -> bool {
    match it {
        '\n' | '\t' | '\r' => false,
        // An emoji has it behind it.
        '\u{FE0F}' => false,
        '\u{FFF9}'..='\u{FFFB}' => true,
        it => it.is_control() || eclusa::workspace::is_ignorable(it),
    }
}

#[cfg(test)]
mod tests;
