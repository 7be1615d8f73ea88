//! Replacing text by text: exactly, uniquely, all edits or none.
//!
//! Models write `\n`. A line end of `old_string` therefore matches whatever the file ends its
//! lines with, and those of `new_string` are written as the file's. Everything else is literal.

use std::{borrow::Cow, fmt, ops::Range};

use memchr::{memchr, memmem, memrchr};

use super::{
    encoding::{Format, Undecodable, Unencodable, decode},
    newline::{Folded, Newline, fold},
    not_found::TextNotFound,
};

/// One replacement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edit<'a> {
    /// What is there. Empty: nothing is there, and the file is made.
    pub old_string: &'a str,
    /// What shall be there.
    pub new_string: &'a str,
    /// Everywhere, not in one place only.
    pub replace_all: bool,
}

/// What edits made of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edited<T> {
    /// The new content.
    pub content: T,
    /// For each edit, in how many places it was made.
    pub replaced: Vec<usize>,
}

/// Why edits were not made; none of them was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditError {
    /// Which edit, from 0, where it is the fault of one.
    pub index: Option<usize>,
    /// How many there are.
    pub of: usize,
    /// What is wrong.
    pub fault: EditFault,
}

/// What is wrong with an edit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditFault {
    /// The list is empty.
    #[error("there are no edits; give at least one `old_string` and `new_string`")]
    NoEdits,
    /// Nothing would be changed by this edit.
    #[error(
        "`old_string` and `new_string` are the same but for line ends, which an edit keeps; nothing would change"
    )]
    Same,
    /// All edits together change nothing.
    #[error("the edits cancel each other out; nothing would change")]
    Undone,
    /// There is nothing to edit.
    #[error(
        "the file does not exist; an empty `old_string` creates it with `new_string` as its content"
    )]
    NoFile,
    /// An empty `old_string`, but there is something.
    #[error(
        "`old_string` is empty, which creates a file, but the file is not empty; give the text to replace"
    )]
    NotEmpty,
    /// `old_string` is not there.
    #[error("{0}")]
    Missing(Box<TextNotFound>),
    /// `old_string` is there more than once.
    #[error("`old_string` is there {count} times, at {}; give more lines around it so that it is unique, or set `replace_all`", places(.lines, *.count))]
    Several {
        /// How often.
        count: usize,
        /// The lines where the first of them begin, from 1.
        lines: Vec<usize>,
    },
    /// Replacing everything would make too much of it.
    #[error(
        "the edit would make the file {grows} bytes longer, more than the {limit} bytes that one edit may add"
    )]
    TooLarge {
        /// By how much.
        grows: usize,
        /// How much is allowed.
        limit: usize,
    },
    /// The file is not text.
    #[error(transparent)]
    Undecodable(#[from] Undecodable),
    /// The new text does not fit the file's encoding.
    #[error(transparent)]
    Unencodable(#[from] Unencodable),
}

/// What one edit may add to a file: a short `old_string` and a long `new_string` multiply.
const GROWTH: usize = 16 << 20;

/// How many places are named when there are too many.
const MAX_NAMED_LINES: usize = 10;

/// Edits a file, keeping its encoding, byte order mark and line ends. `None`: there is no file.
pub fn edit_bytes(file: Option<&[u8]>, edits: &[Edit<'_>]) -> Result<Edited<Vec<u8>>, EditError> {
    let whole = |fault: EditFault| EditError { index: None, of: edits.len(), fault };
    let Some(bytes) = file else {
        let Edited { content, replaced } = edit(None, edits)?;
        return Ok(Edited { content: content.into_bytes(), replaced });
    };
    let decoded = decode(bytes).map_err(|err| whole(err.into()))?;
    let Edited { content, replaced } = edit(Some(&decoded.text), edits)?;
    let format = if bytes.is_empty() { Format::NEW } else { decoded.format };
    let content = format.encode_owned(content).map_err(|err| whole(err.into()))?;
    Ok(Edited { content, replaced })
}

/// Makes the edits one after the other, each in what the ones before it made: all or none.
/// `None`: there is no file.
pub fn edit(text: Option<&str>, edits: &[Edit<'_>]) -> Result<Edited<String>, EditError> {
    let of = edits.len();
    let whole = |fault| EditError { index: None, of, fault };
    if edits.is_empty() {
        return Err(whole(EditFault::NoEdits));
    }
    let mut now = text.map(Cow::Borrowed);
    let mut style = Newline::detect(text.unwrap_or_default());
    let mut replaced = Vec::with_capacity(of);
    for (index, edit) in edits.iter().enumerate() {
        let made = apply_edit(now.as_deref(), style, edit);
        let (next, count) = made.map_err(|fault| EditError { index: Some(index), of, fault })?;
        // A text that has lost its last line end still remembers what it had.
        style = Some(Newline::detect(&next)).filter(|it| *it != Newline::None).unwrap_or(style);
        replaced.push(count);
        now = Some(Cow::Owned(next));
    }
    let content = now.unwrap_or_default().into_owned();
    if text == Some(content.as_str()) {
        return Err(whole(EditFault::Undone));
    }
    Ok(Edited { content, replaced })
}

fn apply_edit(
    text: Option<&str>,
    style: Newline,
    edit: &Edit<'_>,
) -> Result<(String, usize), EditFault> {
    let Edit { old_string: old, new_string: new, replace_all } = *edit;
    match text {
        None | Some("") if old.is_empty() && !(new.is_empty() && text.is_some()) => {
            return Ok((style.dress(new).into_owned(), 1));
        }
        None => return Err(EditFault::NoFile),
        Some(_) if style.dress(old) == style.dress(new) => return Err(EditFault::Same),
        Some(_) if old.is_empty() => return Err(EditFault::NotEmpty),
        Some(_) => {}
    }
    let text = text.unwrap_or_default();
    let hay = Hay::new(text, style, old);
    let mut starts = hay.starts();
    let Some(first) = starts.next() else {
        return Err(EditFault::Missing(Box::new(TextNotFound::new(text, old))));
    };
    let count = match replace_all {
        true => 1 + starts.count(),
        false if starts.next().is_some() || hay.again(first).is_some() => {
            return Err(hay.several(first));
        }
        false => 1,
    };
    let grows = count.saturating_mul(new.len().saturating_sub(old.len()));
    if grows > GROWTH {
        return Err(EditFault::TooLarge { grows, limit: GROWTH });
    }
    Ok((hay.replace(new, count, grows), count))
}

/// A text in which something is looked for.
struct Hay<'a> {
    text: &'a str,
    style: Newline,
    /// The text with all line ends alike, where they are not alike already.
    folded: Option<Folded>,
    needle: Cow<'a, str>,
}

impl<'a> Hay<'a> {
    fn new(text: &'a str, style: Newline, old: &'a str) -> Hay<'a> {
        let plain = fold(old);
        // A lone `\r` must not match half of a line end.
        let half = style == Newline::CrLf && memchr(b'\r', plain.as_bytes()).is_some();
        let (folded, needle) = match style {
            Newline::Mixed => (Some(Folded::new(text)), plain),
            Newline::CrLf if half => (Some(Folded::new(text)), plain),
            _ => (None, style.dress(old)),
        };
        Hay { text, style, folded, needle }
    }

    fn searched(&self) -> &[u8] {
        self.folded.as_ref().map_or(self.text, |it| &it.text).as_bytes()
    }

    /// Where it begins, in the text that is searched, each after the end of the one before.
    fn starts(&self) -> impl Iterator<Item = usize> {
        memmem::find_iter(self.searched(), self.needle.as_bytes())
    }

    /// Where it begins again before the first one has ended, as `aa` does in `aaa`.
    fn again(&self, first: usize) -> Option<usize> {
        let end = first + 2 * self.needle.len() - 1;
        let searched = self.searched();
        let rest = searched.get(first + 1..end.min(searched.len()))?;
        memmem::find(rest, self.needle.as_bytes()).map(|at| first + 1 + at)
    }

    fn several(&self, first: usize) -> EditFault {
        let apart = self.starts().count();
        let again = if apart == 1 { self.again(first) } else { None };
        let searched = self.searched();
        let (mut from, mut line) = (0, 1);
        let mut line_of = |at: usize| {
            let end = if self.style == Newline::Cr { b'\r' } else { b'\n' };
            let between = searched.get(from..at).unwrap_or_default();
            line += memchr::memchr_iter(end, between).count();
            from = at;
            line
        };
        let lines = self.starts().take(MAX_NAMED_LINES).chain(again).map(&mut line_of).collect();
        EditFault::Several { count: apart + usize::from(again.is_some()), lines }
    }

    fn replace(&self, new: &str, count: usize, grows: usize) -> String {
        let dressed = self.style.dress(new);
        let breaks = self.style == Newline::Mixed && dressed.contains('\n');
        let windows = if breaks { dressed.replace('\n', "\r\n") } else { String::new() };
        let mut ends = LineEnds { bytes: self.text.as_bytes(), next: None };

        let mut out = String::with_capacity(self.text.len() + grows);
        let mut done = 0;
        for range in self.starts().take(count).map(|at| self.range(at)) {
            out.push_str(self.text.get(done..range.start).unwrap_or_default());
            let crlf = breaks && ends.crlf_at(range.start);
            out.push_str(if crlf { &windows } else { &dressed });
            done = range.end;
        }
        out.push_str(self.text.get(done..).unwrap_or_default());
        out
    }

    /// Where a match is in the text as it is.
    fn range(&self, start: usize) -> Range<usize> {
        let end = start + self.needle.len();
        self.folded.as_ref().map_or(start..end, |it| it.unfold(start)..it.unfold(end))
    }
}

/// How lines end around a place, asked for places in ascending order.
struct LineEnds<'a> {
    bytes: &'a [u8],
    /// The next line end that was seen, and whether it is `\r\n`.
    next: Option<(usize, bool)>,
}

impl LineEnds<'_> {
    fn crlf_at(&mut self, place: usize) -> bool {
        if let Some((_, crlf)) = self.next.filter(|(at, _)| *at >= place) {
            return crlf;
        }
        let after = memchr(b'\n', self.bytes.get(place..).unwrap_or_default());
        let at = after.map(|it| place + it);
        let last = || memrchr(b'\n', self.bytes);
        let crlf = at.or_else(last).and_then(|it| it.checked_sub(1));
        let crlf = crlf.and_then(|it| self.bytes.get(it)) == Some(&b'\r');
        self.next = Some((at.unwrap_or(usize::MAX), crlf));
        crlf
    }
}

fn places(lines: &[usize], count: usize) -> String {
    let named: Vec<String> = lines.iter().map(usize::to_string).collect();
    let more = if count > lines.len() { " and further" } else { "" };
    format!("lines {}{more}", named.join(", "))
}

impl fmt::Display for EditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.index {
            Some(index) if self.of > 1 => {
                let (number, of) = (index + 1, self.of);
                write!(f, "edit {number} of {of}: {}; none of the edits was made", self.fault)
            }
            _ => write!(f, "{}", self.fault),
        }
    }
}

impl std::error::Error for EditError {}

#[cfg(test)]
mod tests;
