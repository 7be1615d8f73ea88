//! The gate before any parser: characters that people do not see, or see elsewhere than they are.

use eclusa_text::{is_hidden, is_selector};

use crate::Doubt;
use crate::limits::{MAX_BROKEN_BYTES, MAX_BYTES, MAX_OPEN};

/// Why the text is not read at all, if so.
pub(crate) fn refuse(script: &str) -> Option<Doubt> {
    if script.len() > MAX_BYTES {
        let what = format!("the text has more than {MAX_BYTES} bytes; put it into a file");
        return Some(Doubt::new(what, format!("{} bytes", script.len())));
    }
    if script.contains('\0') {
        let what = "a NUL character ends the text for some programs and not for others".to_owned();
        return Some(Doubt::new(what, "U+0000".to_owned()));
    }
    let open = if script.len() > MAX_BROKEN_BYTES { most_open(script) } else { 0 };
    (open > MAX_OPEN).then(|| {
        let what = format!("more than {MAX_OPEN} brackets are open at once in a long text");
        Doubt::new(what, format!("{open} brackets"))
    })
}

/// How many brackets are open at once, quotes not considered.
fn most_open(script: &str) -> usize {
    let mut open = 0_usize;
    let mut most = 0;
    for byte in script.bytes() {
        match byte {
            b'(' | b'{' | b'[' => open += 1,
            b')' | b'}' | b']' => open = open.saturating_sub(1),
            _ => {}
        }
        most = most.max(open);
    }
    most
}

/// The first character that has no business in a command.
pub(crate) fn find_invisible(script: &str) -> Option<Doubt> {
    if script.bytes().all(|it| matches!(it, b' '..=b'~' | b'\n' | b'\t')) {
        return None;
    }
    let found = script.chars().find(|it| !is_visible(*it)).or_else(|| selector(script))?;
    let what = match found {
        '\r' => "a carriage return is part of a word for the shell, and hides text on a screen",
        _ if found.is_control() => "a control character",
        _ => "an invisible or direction-changing character",
    };
    Some(Doubt::new(what, format!("U+{:04X}", u32::from(found))))
}

/// A selector of how an emoji looks, behind a letter that looks one way only.
fn selector(script: &str) -> Option<char> {
    let mut before = ' ';
    script.chars().find(|it| {
        let plain = before.is_ascii() && !matches!(before, '0'..='9' | '#' | '*');
        before = *it;
        plain && is_selector(*it)
    })
}

/// Whether a character is seen where it stands; the others have no business in a command. Blanks of
/// typography are text like any other, and selectors are looked at with what stands before them.
pub fn is_visible(c: char) -> bool {
    let is_typographic_blank =
        c.is_whitespace() && !c.is_control() && !matches!(c, '\u{2028}' | '\u{2029}');
    matches!(c, '\n' | '\t') || is_typographic_blank || is_selector(c) || !is_hidden(c)
}
