//! A text without its secrets while it comes, word by word.

use super::Redactor;

/// How a key that goes over several lines begins and ends.
const KEY_BEGINS: &str = "-----BEGIN";
const KEY_ENDS: &str = "-----END";
/// No such key is longer: what only looks like the beginning of one is shown after so many bytes.
const LONGEST_KEY: usize = 32 << 10;

/// Words that come in pieces, of which a secret may have come in part only. Whatever may still turn out to be
/// part of one is held back: a word until it has ended, a line in which rules may find something until it has.
#[derive(Debug, Clone)]
pub struct RedactedStream {
    redactor: Redactor,
    /// What was shown of the line that is not at its end.
    shown: String,
    /// What came after that.
    held: String,
}

impl RedactedStream {
    /// A stream of which nothing has come.
    pub fn new(redactor: Redactor) -> RedactedStream {
        RedactedStream { redactor, shown: String::new(), held: String::new() }
    }

    /// Takes the next piece, and returns what can be shown now.
    pub fn push(&mut self, piece: &str) -> String {
        self.held.push_str(piece);
        let mut out = String::new();
        if let Some(end) = self.held.rfind('\n')
            && !self.is_in_key()
        {
            let rest = self.held.split_off(end + 1);
            out.push_str(&self.release());
            self.shown.clear();
            self.held = rest;
        }
        if self.is_in_key() || self.line_may_hold_secret() {
            return out;
        }
        // A word that has not ended may be the beginning of a keyword or of a secret.
        if let Some(end) = self.held.rfind(char::is_whitespace) {
            let width =
                self.held.get(end..).and_then(|it| it.chars().next()).map_or(1, char::len_utf8);
            let rest = self.held.split_off(end + width);
            out.push_str(&self.held);
            self.shown.push_str(&self.held);
            self.held = rest;
        }
        out
    }

    /// Nothing more comes: what was held back.
    pub fn finish(&mut self) -> String {
        let out = self.release();
        self.shown.clear();
        out
    }

    /// What is held back, without its secrets, which what was shown before it may tell.
    fn release(&mut self) -> String {
        let held = std::mem::take(&mut self.held);
        let whole = format!("{}{held}", self.shown);
        let (clean, _) = self.redactor.text(&whole);
        match clean.strip_prefix(self.shown.as_str()) {
            Some(rest) => rest.to_owned(),
            None => self.redactor.text(&held).0.into_owned(),
        }
    }

    fn is_in_key(&self) -> bool {
        let begun = self.held.rfind(KEY_BEGINS).and_then(|at| self.held.get(at..));
        begun.is_some_and(|it| it.len() < LONGEST_KEY && !ends(it))
    }

    fn line_may_hold_secret(&self) -> bool {
        self.redactor
            .engine()
            .is_some_and(|engine| engine.may_find(&format!("{}{}", self.shown, self.held)))
    }
}

/// Whether the last line of a key has ended.
fn ends(key: &str) -> bool {
    key.rfind(KEY_ENDS).and_then(|at| key.get(at..)).is_some_and(|it| it.contains('\n'))
}

#[cfg(test)]
mod tests;
