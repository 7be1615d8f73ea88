//! What a patch does to one file.

use super::{
    hunk::{Hunk, HunkLine, HunkNote, LineRole},
    locate::{Fit, LineIndex, Placed},
    reject::{HunkFault, Rejected, RejectedHunk},
};
use crate::text::Newline;

/// What a patch does to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePatch {
    /// The file, as the patch names it; after a move or copy, where it is then.
    pub path: String,
    /// Where it comes from, when it is moved or copied.
    pub from: Option<String>,
    /// What is done.
    pub kind: Kind,
    /// The permission bits that the file shall have, where the patch says.
    pub new_mode: Option<u32>,
    /// Where the patch begins to speak of the file, from 1.
    pub line: usize,
    pub(super) hunks: Vec<Hunk>,
    /// True if a deletion does not show the lines that it deletes.
    pub(super) unseen: bool,
}

/// What a patch does to a file as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The file is made.
    Add,
    /// The file stays where it is.
    Update,
    /// The file goes.
    Delete,
    /// The file goes elsewhere, changed or not.
    Move,
    /// The file stays, and there is another one, changed or not.
    Copy,
}

/// What became of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    /// The new text; `None` if the file is deleted.
    pub text: Option<String>,
    /// Where the patch did not fit exactly.
    pub notes: Vec<HunkNote>,
}

impl FilePatch {
    /// The file that must be read before the patch can be applied.
    pub fn source(&self) -> &str {
        self.from.as_deref().unwrap_or(&self.path)
    }

    /// Applies the patch to the text of its [source](FilePatch::source). `None`: there is no such
    /// file.
    pub fn apply(&self, old: Option<&str>) -> Result<Applied, Rejected> {
        match (self.kind, old) {
            (Kind::Add, Some(_)) => Err(self.refuse("the file exists already; update it instead")),
            (Kind::Add, None) => Ok(Applied { text: Some(self.added()), notes: Vec::new() }),
            (_, None) => Err(self.refuse("the file does not exist")),
            (Kind::Delete, Some(_)) if self.unseen => Ok(Applied { text: None, notes: Vec::new() }),
            (_, Some(old)) => self.change(old),
        }
    }

    pub(super) fn refuse(&self, why: impl Into<String>) -> Rejected {
        Rejected { path: self.source().to_owned(), why: Some(why.into()), hunks: Vec::new() }
    }

    /// The content of a new file.
    fn added(&self) -> String {
        let mut text = String::new();
        for line in self.hunks.iter().flat_map(Hunk::made) {
            text.push_str(&line.text);
            text.push_str(if line.ended { "\n" } else { "" });
        }
        text
    }

    fn change(&self, old: &str) -> Result<Applied, Rejected> {
        // Where `\r` alone ends lines, and the patch does not say otherwise, they are lines too.
        let particular = self.hunks.iter().any(Hunk::writes_carriage_returns);
        if Newline::detect(old) == Newline::Cr && !particular {
            let mut applied = self.change_lines(&old.replace('\r', "\n"))?;
            applied.text = applied.text.map(|it| it.replace('\n', "\r"));
            return Ok(applied);
        }
        self.change_lines(old)
    }

    fn change_lines(&self, old: &str) -> Result<Applied, Rejected> {
        let lines = LineIndex::new(old);
        let fits = lines.place(&self.hunks).map_err(|faults| self.reject(faults))?;
        let text = assemble(&lines, &self.hunks, &fits);
        let notes = fits.iter().filter_map(Placed::note).collect();
        match self.kind {
            Kind::Delete if text.is_empty() => Ok(Applied { text: None, notes }),
            Kind::Delete => Err(self.refuse("the patch deletes the file, but does not show all of its lines; the file may have changed since, so read it again")),
            Kind::Update if text == old && self.new_mode.is_none() => {
                Err(self.refuse("the patch changes nothing in the file"))
            }
            _ => Ok(Applied { text: Some(text), notes }),
        }
    }

    fn reject(&self, faults: Vec<(usize, HunkFault)>) -> Rejected {
        let hunks = faults.into_iter().map(|(index, fault)| RejectedHunk {
            index,
            of: self.hunks.len(),
            header: self.hunks.get(index).map(|it| it.header.clone()).unwrap_or_default(),
            patch_line: self.hunks.get(index).map(|it| it.line).unwrap_or_default(),
            fault,
        });
        Rejected { path: self.source().to_owned(), why: None, hunks: hunks.collect() }
    }
}

/// The file with its hunks in place.
fn assemble(lines: &LineIndex<'_>, hunks: &[Hunk], fits: &[Placed]) -> String {
    let mut splices: Vec<Splice<'_>> = Vec::new();
    for placed in fits {
        let Some(hunk) = hunks.get(placed.hunk) else { continue };
        splices.extend(splices_of(lines, hunk, &placed.fit));
    }
    // Stable: what is added at one place stays in the order of the patch.
    splices.sort_by_key(|it| (it.at, it.add.is_none()));
    let mut out = Out { text: String::with_capacity(lines.text.len()), crlf: false };
    let mut next = 0;
    for splice in splices {
        lines.range(next, splice.at).for_each(|it| out.push(it));
        next = next.max(splice.at);
        match splice.add {
            Some(line) => out.add(line, splice.crlf),
            None => next = splice.at + 1,
        }
    }
    lines.range(next, lines.len()).for_each(|it| out.push(it));
    out.text
}

/// A line that goes, or one that comes before it.
struct Splice<'a> {
    at: usize,
    add: Option<&'a HunkLine>,
    crlf: bool,
}

fn splices_of<'a>(lines: &LineIndex<'_>, hunk: &'a Hunk, fit: &Fit) -> Vec<Splice<'a>> {
    let literal = hunk.writes_carriage_returns();
    let end = hunk.lines.len().saturating_sub(fit.skipped_after);
    let (mut at, mut splices) = (fit.at, Vec::new());
    for line in hunk.lines.iter().take(end).skip(fit.skipped_before) {
        // What is added ends as the line before it does, or the one after it.
        let neighbour = if at > fit.at { at.checked_sub(1) } else { Some(at) };
        let neighbour = neighbour.and_then(|it| lines.get(it)).filter(|it| it.ends_with('\n'));
        let crlf = neighbour.map_or(lines.style == Newline::CrLf, |it| it.ends_with("\r\n"));
        let crlf = crlf && !literal;
        match line.role {
            LineRole::Context => at += 1,
            LineRole::Remove => {
                splices.push(Splice { at, add: None, crlf });
                at += 1;
            }
            LineRole::Add => splices.push(Splice { at, add: Some(line), crlf }),
        }
    }
    splices
}

struct Out {
    text: String,
    /// How the last line that ended did so.
    crlf: bool,
}

impl Out {
    /// A line as it is. If the one before it was the last of the file and had no end, it has now.
    fn push(&mut self, line: &str) {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push_str(if self.crlf { "\r\n" } else { "\n" });
        }
        self.text.push_str(line);
        self.crlf = line.ends_with("\r\n");
    }

    fn add(&mut self, line: &HunkLine, crlf: bool) {
        self.push(&line.text);
        match line.ended {
            true if crlf => self.text.push_str("\r\n"),
            true => self.text.push('\n'),
            false => {}
        }
        self.crlf = crlf || line.text.ends_with('\r');
    }
}
