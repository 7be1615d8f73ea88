//! One place of a file that a patch changes.

use std::fmt;

/// One place of a file that a patch changes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Hunk {
    /// How the patch introduces it, to name it by.
    pub(super) header: String,
    /// Its line in the patch, from 1.
    pub(super) line: usize,
    /// Where it begins in the old file, from 1, if the patch says so.
    pub(super) start: Option<usize>,
    /// Lines that come before it in the file, one after the other.
    pub(super) anchors: Vec<String>,
    /// True if it must lie at the end of the file.
    pub(super) at_end: bool,
    /// True if the numbers in its header do not fit its lines.
    pub(super) miscounted: bool,
    pub(super) lines: Vec<HunkLine>,
}

/// A line of a hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HunkLine {
    pub(super) role: LineRole,
    /// Without its `\n`. It may end in `\r`.
    pub(super) text: String,
    /// False if the patch says that no line end follows.
    pub(super) ended: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineRole {
    Context,
    Remove,
    Add,
}

impl HunkLine {
    pub(super) fn new(role: LineRole, text: &str) -> HunkLine {
        HunkLine { role, text: text.to_owned(), ended: true }
    }
}

impl Hunk {
    /// The lines that must be there.
    pub(super) fn old(&self) -> impl DoubleEndedIterator<Item = &HunkLine> + Clone {
        self.lines.iter().filter(|it| it.role != LineRole::Add)
    }

    /// The lines that will be there.
    pub(super) fn made(&self) -> impl DoubleEndedIterator<Item = &HunkLine> + Clone {
        self.lines.iter().filter(|it| it.role != LineRole::Remove)
    }

    pub(super) fn changes(&self) -> bool {
        self.lines.iter().any(|it| it.role != LineRole::Context)
    }

    /// True if the patch is particular about `\r`.
    pub(super) fn writes_carriage_returns(&self) -> bool {
        self.lines.iter().any(|it| it.text.contains('\r'))
    }

    /// How many lines of context are at its start and at its end.
    pub(super) fn margins(&self) -> (usize, usize) {
        let context = |it: &&HunkLine| it.role == LineRole::Context;
        let before = self.lines.iter().take_while(context).count();
        (before, self.lines.iter().rev().take_while(context).count())
    }
}

/// How a hunk was made to fit where it did not lie exactly as the patch says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HunkNote {
    /// Which hunk, from 0.
    pub hunk: usize,
    /// The line where it lies, from 1.
    pub line: usize,
    /// What was overlooked, in words.
    pub what: Vec<String>,
}

impl fmt::Display for HunkNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (hunk, line) = (self.hunk + 1, self.line);
        write!(f, "hunk {hunk} was applied at line {line}, {}", self.what.join(", "))
    }
}
