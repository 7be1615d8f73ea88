//! Other people's text inside the sentences of reasons.

/// How many characters of a command reasons quote.
#[cfg(feature = "shell")]
const MAX_QUOTED: usize = 80;

/// Text that somebody else wrote, for one line: what cannot be seen is escaped, a line break is
/// marked, and quotes and backslashes stand as they were written.
pub(crate) fn plainly(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for it in text.chars() {
        match it {
            '\'' | '"' | '\\' => out.push(it),
            '\n' => out.push('⏎'),
            _ => out.extend(it.escape_debug()),
        }
    }
    out
}

/// The same in backticks, and not too long.
#[cfg(feature = "shell")]
pub(super) fn quoted(text: &str) -> String {
    format!("`{}`", shortened(text))
}

/// The same, not too long.
#[cfg(feature = "shell")]
pub(super) fn shortened(text: &str) -> String {
    let text = plainly(text);
    match text.char_indices().nth(MAX_QUOTED) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text,
    }
}
