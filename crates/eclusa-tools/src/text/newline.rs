//! How the lines of a text end, and how to speak of line ends as models do: `\n` everywhere.

use std::borrow::Cow;

use memchr::{memchr, memchr_iter};

/// How the lines of a text end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Newline {
    /// There is no line end at all.
    None,
    /// `\n`. A `\r` elsewhere is part of a line.
    Lf,
    /// `\r\n`, always.
    CrLf,
    /// `\r`, as it was once on one system: there is no `\n` at all.
    Cr,
    /// Some lines end in `\r\n`, others in `\n`.
    Mixed,
}

impl Newline {
    /// What the text shows.
    pub fn detect(text: &str) -> Newline {
        let bytes = text.as_bytes();
        if memchr(b'\r', bytes).is_none() {
            return if memchr(b'\n', bytes).is_some() { Newline::Lf } else { Newline::None };
        }
        let (mut with, mut without) = (false, false);
        for at in memchr_iter(b'\n', bytes) {
            let before = at.checked_sub(1).and_then(|it| bytes.get(it));
            *(if before == Some(&b'\r') { &mut with } else { &mut without }) = true;
            if with && without {
                return Newline::Mixed;
            }
        }
        match (with, without) {
            (true, _) => Newline::CrLf,
            (false, true) => Newline::Lf,
            (false, false) => Newline::Cr,
        }
    }

    /// The text with its line ends in this style. Where there is no style to keep, nothing is
    /// changed; among mixed lines, `\n` is what is added.
    pub fn dress(self, text: &str) -> Cow<'_, str> {
        match self {
            Newline::None => Cow::Borrowed(text),
            Newline::Lf | Newline::Mixed => fold(text),
            Newline::CrLf if memchr(b'\n', text.as_bytes()).is_none() => Cow::Borrowed(text),
            Newline::CrLf => Cow::Owned(fold(text).replace('\n', "\r\n")),
            Newline::Cr => Cow::Owned(fold(text).replace('\n', "\r")),
        }
    }
}

/// The text with `\r\n` as `\n`.
pub(crate) fn fold(text: &str) -> Cow<'_, str> {
    if memchr(b'\r', text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace("\r\n", "\n"))
}

/// A text with `\r\n` as `\n`, that remembers where each place was.
pub(super) struct Folded {
    pub(super) text: String,
    /// For each `\r` that was left out: the place of its `\n` in `text`.
    cuts: Vec<usize>,
}

impl Folded {
    pub(super) fn new(original: &str) -> Folded {
        // Counted first: what grows by doubling takes twice the room.
        let count = memchr::memmem::find_iter(original.as_bytes(), b"\r\n").count();
        let text = String::with_capacity(original.len() - count);
        let mut folded = Folded { text, cuts: Vec::with_capacity(count) };
        let mut parts = original.split("\r\n");
        folded.text.push_str(parts.next().unwrap_or_default());
        for part in parts {
            folded.cuts.push(folded.text.len());
            folded.text.push('\n');
            folded.text.push_str(part);
        }
        folded
    }

    /// Where a place of the folded text is in the original. A place before a `\n` is before its
    /// `\r` as well.
    pub(super) fn unfold(&self, at: usize) -> usize {
        at + self.cuts.partition_point(|cut| *cut < at)
    }
}

#[cfg(test)]
mod tests;
