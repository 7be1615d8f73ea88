//! What a transaction does to repositories, noted beside its journal for its undo.

use std::{
    fs::File,
    io::{self, Write as _},
};

use rustix::fs::{Mode, OFlags};

use super::{CommitError, IoFailure, transaction::Transaction};
use crate::GitRun;

impl Transaction<'_> {
    /// Notes what it does to repositories.
    pub(super) fn note_git(&self, git: &[GitRun]) -> Result<(), CommitError> {
        if git.is_empty() {
            return Ok(());
        }
        let noted = serde_json::to_vec(git).map_err(io::Error::from).and_then(|text| {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
            let mode = Mode::from_raw_mode(0o600);
            let file = rustix::fs::openat(&self.own, "git.json", flags, mode)?;
            File::from(file).write_all(&text)
        });
        noted.map_err(|err| {
            self.discard(false);
            IoFailure::at("note", &self.workspace.state().join("open"))(err).into()
        })
    }
}
