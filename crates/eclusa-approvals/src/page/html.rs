//! Markup with nothing of anybody's text left as markup.

use std::fmt::{self, Write as _};

/// A piece of a page.
#[derive(Debug, Default)]
pub struct Html(String);

impl Html {
    /// Our own markup.
    pub fn raw(&mut self, markup: &str) -> &mut Html {
        self.0.push_str(markup);
        self
    }

    /// Text that may be anybody's, also inside an attribute in double quotes.
    pub fn text(&mut self, text: impl fmt::Display) -> &mut Html {
        // Writing to a string does not fail.
        let _ = write!(Escaped(&mut self.0), "{text}");
        self
    }

    /// An element around a text.
    pub fn element(&mut self, open: &str, text: impl fmt::Display, close: &str) -> &mut Html {
        self.raw(open).text(text).raw(close)
    }

    /// The whole of it.
    pub fn into_string(self) -> String {
        self.0
    }

    /// The same, to be put into another one.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

struct Escaped<'a>(&'a mut String);

impl fmt::Write for Escaped<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for c in text.chars() {
            match c {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                _ => self.0.push(c),
            }
        }
        Ok(())
    }
}

/// A time span for people: `12 s`, `4 min`, `3 h`, `2 d`.
pub fn span(ms: u64) -> String {
    match ms / 1_000 {
        0 => format!("{ms} ms"),
        seconds @ 1..=119 => format!("{seconds} s"),
        seconds @ 120..=7_199 => format!("{} min", seconds / 60),
        seconds @ 7_200..=172_799 => format!("{} h", seconds / 3_600),
        seconds => format!("{} d", seconds / 86_400),
    }
}

/// How long ago something was.
pub fn ago(at: u64, now: u64) -> String {
    match now.saturating_sub(at) {
        0..=1_999 => "just now".to_owned(),
        passed => format!("{} ago", span(passed)),
    }
}
