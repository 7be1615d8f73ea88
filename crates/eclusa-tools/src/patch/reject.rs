//! Why a patch was not applied, hunk by hunk: what it expected, what is there, and where it
//! would nearly fit.

use std::fmt::{self, Write as _};

use super::hunk::Hunk;
use crate::text::{Nearest, Side, listing, short, side_by_side};

/// A file that a patch was not applied to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejected {
    /// The file, as the patch names it.
    pub path: String,
    /// What is wrong with the file as a whole.
    pub why: Option<String>,
    /// The hunks that do not fit.
    pub hunks: Vec<RejectedHunk>,
}

/// A hunk that does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RejectedHunk {
    /// Which, from 0.
    pub index: usize,
    /// How many hunks the patch has for this file.
    pub of: usize,
    /// How the patch introduces it.
    pub header: String,
    /// Where it is in the patch, from 1.
    pub patch_line: usize,
    /// What is wrong with it.
    pub fault: HunkFault,
}

/// What is wrong with a hunk.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HunkFault {
    /// Its old lines are not in the file.
    #[error("{shown}")]
    NotFound {
        /// The line where the patch puts it, from 1.
        expected: Option<usize>,
        /// The line where it would nearly fit, from 1.
        nearest: Option<usize>,
        /// The line where the file has its new lines already, from 1.
        applied: Option<usize>,
        /// All this in words, with the lines side by side.
        shown: String,
    },
    /// Its old lines are in the file more than once.
    #[error("its lines are in the file {count} times, at lines {}; add context that is only in one place", .lines.iter().map(usize::to_string).collect::<Vec<_>>().join(", "))]
    Several {
        /// Where the first of them are, from 1.
        lines: Vec<usize>,
        /// How often.
        count: usize,
    },
    /// A line that it names before it is not in the file.
    #[error("the line `{anchor}` after `@@` is not in the file{}", .nearest.as_ref().map(|it| format!("; the nearest is line {}: `{}`", it.0, it.1)).unwrap_or_default())]
    NoAnchor {
        /// The line.
        anchor: String,
        /// The most similar line, from 1.
        nearest: Option<(usize, String)>,
    },
    /// It only adds lines and does not say where.
    #[error("it only adds lines and says nothing of where; add some lines of context")]
    NoContext,
    /// It adds lines after a line that is not there.
    #[error("it adds lines after line {line}, but the file has {lines}; add some lines of context")]
    BeyondEnd {
        /// The line.
        line: usize,
        /// How many lines there are.
        lines: usize,
    },
    /// File and patch repeat themselves so much that finding a place would take too long.
    #[error(
        "finding its place takes too long, because file and patch repeat the same lines; make smaller edits"
    )]
    TooMuch,
}

/// What is there instead of the old lines of a hunk.
pub(super) fn not_found(
    text: &str,
    hunk: &Hunk,
    expected: Option<usize>,
    applied: Option<usize>,
) -> HunkFault {
    let old: Vec<&str> = hunk.old().map(|it| it.text.as_str()).collect();
    let wanted = old.join("\n");
    let near = Nearest::find(text, &wanted);
    let mut shown = "its lines are not in the file".to_owned();
    if hunk.at_end {
        shown.push_str(" at its end");
    }
    if !hunk.anchors.is_empty() {
        shown.push_str(" after the line that `@@` names");
    }
    if let Some(at) = applied {
        let _ = write!(
            shown,
            "; line {} has what it would make, so it seems to be applied already",
            at + 1
        );
    }
    let nearest = near.map(|near| {
        let (line, lines) = side_by_side(text, near.first, near.count, &wanted, Side::Patch);
        let _ = write!(shown, "; it nearly fits at line {} {lines}", line + 1);
        line
    });
    if let Some(at) = expected.filter(|it| nearest.is_none_or(|near| near.abs_diff(*it) > 3)) {
        let there = listing(text, at, old.len());
        let there = if there.is_empty() { "      (the end)" } else { &there };
        let _ =
            write!(shown, "\nthe patch puts it at line {}, where the file has\n{there}", at + 1);
    }
    let from_one = |it: Option<usize>| it.map(|it| it + 1);
    HunkFault::NotFound {
        expected: from_one(expected),
        nearest: from_one(nearest),
        applied: from_one(applied),
        shown,
    }
}

pub(super) fn no_anchor(text: &str, anchor: &str) -> HunkFault {
    let near = Nearest::find(text, anchor);
    let line =
        near.and_then(|it| Some((it.first + 1, short(text.split('\n').nth(it.first)?.trim()))));
    HunkFault::NoAnchor { anchor: short(anchor), nearest: line }
}

impl fmt::Display for RejectedHunk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (number, of, line) = (self.index + 1, self.of, self.patch_line);
        write!(
            f,
            "hunk {number} of {of} (`{}`, line {line} of the patch): {}",
            short(&self.header),
            self.fault
        )
    }
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: ", self.path)?;
        if let Some(why) = &self.why {
            return f.write_str(why);
        }
        let hunks: Vec<String> = self.hunks.iter().map(RejectedHunk::to_string).collect();
        f.write_str(&hunks.join("\n"))
    }
}

impl std::error::Error for Rejected {}
