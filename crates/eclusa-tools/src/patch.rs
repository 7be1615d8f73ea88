//! Patches as models write them: unified diffs with git's headers, and the `*** Begin Patch` form.
//!
//! Both forms are read into the same [`FilePatch`]es. [`apply_all`] makes all of them or none, and
//! says of every hunk that did not lie exactly where the patch said how it was made to fit.

mod begin;
mod file;
mod hunk;
mod locate;
mod name;
mod reject;
mod set;
mod unified;

pub use file::{Applied, FilePatch, Kind};
pub use hunk::HunkNote;
pub use reject::{HunkFault, Rejected, RejectedHunk};
pub use set::{Outcome, SetError, apply_all};

/// Why a text is not a patch.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the patch: {what}")]
pub struct PatchError {
    /// The line of the patch, from 1.
    pub line: usize,
    /// What is wrong with it and how to fix it.
    pub what: String,
}

impl PatchError {
    fn new(line: usize, what: impl Into<String>) -> PatchError {
        PatchError { line, what: what.into() }
    }
}

/// Reads a patch of either form.
pub fn parse(patch: &str) -> Result<Vec<FilePatch>, PatchError> {
    let begins = patch.lines().any(|line| line.trim_end() == begin::BEGIN);
    let headed = patch.lines().any(|line| line.starts_with("*** ") && begin::is_header(line));
    let unified = patch.lines().any(unified::is_header);
    if begins || (headed && !unified) { begin::parse(patch) } else { unified::parse(patch) }
}

#[cfg(test)]
mod tests;
