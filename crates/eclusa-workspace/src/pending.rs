//! Pending runs: what a call has done in the sandbox and nobody has applied yet, kept so that a yes
//! applies exactly what was shown, whoever says it and whenever. Nothing is run again.
//!
//! ```text
//! STATE/pending/17/head.json     until when it is kept, and whether a question names it
//! STATE/pending/17/run.json      what call 17 would change, and what the gate says of the call
//! STATE/pending/17/0, 1, 2 …     the new contents, by the place of their change
//! STATE/pending/17/taking        the call that applies it, written before that begins
//! STATE/pending/17/told          there once whoever made the call knows what became of it
//! STATE/pending/17/outcome.json  what became of it; the contents are gone if they were applied
//! ```
//!
//! INVARIANT: the directory is there under its name only once it is complete. Whoever applies it has
//! locked it, and an outcome is written once.

use std::{
    fs::{self, File, TryLockError},
    io::{self, Write as _},
    os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use eclusa_git::read_small;
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Change, Changes, Content, Contents as _, Durability, GitRun, Hash, Node, Side, Workspace,
    commit::stat, git, private_file,
};
use room::unix_now;
use wire::{FORM, Head, KeptRun};

mod room;
mod wire;

/// The longest list of changes that is read, in bytes.
const MAX_LIST: u64 = 1 << 30;

/// How a run is kept.
#[derive(Debug, Clone, Copy)]
pub struct PendingTerms {
    /// Whether a question names it: what nobody is asked about goes first.
    pub asked: bool,
    /// For how long.
    pub keep: Duration,
    /// What the new contents survive. The list of changes survives a loss of power either way.
    pub survives: Durability,
}

impl PendingTerms {
    /// Changes that were discarded: for a day.
    pub const DISCARDED: PendingTerms = PendingTerms {
        asked: false,
        keep: Duration::from_secs(24 * 60 * 60),
        survives: Durability::Crash,
    };
}

/// A run that waits to be applied.
#[derive(Debug)]
pub struct PendingRun {
    /// The number of the call.
    pub call: u64,
    /// What the gate says of the call.
    pub about: Value,
    /// What it would change.
    pub changes: Changes,
    /// The digest of all that is written of it.
    pub sha256: Hash,
    /// The number of the last transaction of the workspace when it was kept.
    pub sequence: u64,
    /// What it did to repositories.
    pub git: Vec<GitRun>,
    /// The calls whose runs were dropped to make room for it.
    pub dropped: Vec<u64>,
    directory: PathBuf,
    /// Held while it is applied.
    lock: Option<File>,
}

/// What became of a pending run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "became", rename_all = "lowercase")]
pub enum PendingOutcome {
    /// It was applied, by this call.
    Applied {
        /// The call.
        by: u64,
    },
    /// It was not, and this is why.
    Refused {
        /// Why.
        why: String,
    },
}

/// Why a pending run cannot be kept or had.
#[derive(Debug, thiserror::Error)]
pub enum PendingError {
    /// Nothing of it is kept.
    #[error("nothing is kept of what call {0} would change: it expired, or was never pending")]
    Unknown(u64),
    /// It was applied already.
    #[error("what call {call} did is applied already, as call {by}")]
    Applied {
        /// The call that ran.
        call: u64,
        /// The call that applied it.
        by: u64,
    },
    /// Somebody else applies it at this moment.
    #[error("the changes of call {0} are being applied by another program right now")]
    Busy(u64),
    /// It is not what was written.
    #[error("the kept changes of call {call} are damaged: {why}")]
    Damaged {
        /// The call.
        call: u64,
        /// How that shows.
        why: String,
    },
    /// There is no room for it.
    #[error(
        "there is no room to keep {0} bytes of changes until they are approved; answer the pending ones \
        (`eclusa approvals`), or add a rule that allows them"
    )]
    Full(u64),
    /// The disk or the kernel refused.
    #[error("its changes cannot be kept: {0}")]
    Io(#[from] io::Error),
}

impl Workspace {
    fn pending_directory(&self) -> PathBuf {
        self.state().join("pending")
    }

    /// Keeps a run, complete and on the disk, and gives it back as it is kept. Staged contents are
    /// moved where that can be done, and copied otherwise.
    pub fn keep_pending(
        &self,
        call: u64,
        about: Value,
        changes: &Changes,
        terms: PendingTerms,
    ) -> Result<PendingRun, PendingError> {
        self.step("keep");
        let all = self.pending_directory();
        private_file::make_directory(&all)?;
        // What somebody else keeps at this moment is no rest of one who died.
        let _alone = room::lock(&all)?;
        let size = |it: &Change| it.after.as_ref().and_then(Node::file).map_or(0, |it| it.size);
        let bytes = changes.iter().map(size).sum::<u64>();
        let dropped = self.make_room(bytes)?;
        let part = all.join(format!("{call}.part"));
        remove(&part);
        private_file::make_directory(&part)?;
        let until = unix_now().saturating_add(terms.keep.as_secs());
        let head = Head { v: FORM, asked: terms.asked, until, bytes };
        let kept = self.write_pending(&part, about, changes, (&head, terms.survives));
        let named = kept.and_then(|()| {
            self.step("name the pending run");
            rename(&part, &all.join(call.to_string()))
        });
        if let Err(err) = named {
            remove(&part);
            return Err(err.into());
        }
        File::open(&all)?.sync_all()?;
        self.step("kept");
        Ok(PendingRun { dropped, ..self.pending_run(call)? })
    }

    fn write_pending(
        &self,
        to: &Path,
        about: Value,
        changes: &Changes,
        (head, survives): (&Head, Durability),
    ) -> io::Result<()> {
        let git = git::runs(&self.places(), changes, self);
        let run = KeptRun::new(about, self.last_sequence(), changes, git);
        for (place, change) in changes.iter().enumerate() {
            let Some(file) = change.after.as_ref().and_then(Node::file) else { continue };
            let place = to.join(place.to_string());
            if let Content::Staged(from) = &file.content
                && rename(from, &place).is_ok()
            {
                // The rights that it shall have are written in the list.
                fs::set_permissions(&place, fs::Permissions::from_mode(0o600))?;
                continue;
            }
            new_file(&place, &self.content(change, Side::After)?)?;
        }
        if survives == Durability::PowerLoss {
            stat::sync_filesystem(&File::open(to)?)?;
        }
        // Nobody looks into it under this name: what is written needs no second name first, and what
        // is known of it besides is on the disk no later than the list.
        let head = new_file(&to.join("head.json"), &serde_json::to_vec(head)?)?;
        let list = new_file(&to.join("run.json"), &serde_json::to_vec(&run)?)?;
        thread::scope(|scope| {
            let other = scope.spawn(|| head.sync_all());
            list.sync_all()?;
            other.join().unwrap_or_else(|_panic| Err(io::Error::other("syncing it crashed")))
        })
    }

    /// The calls that wait to be applied, in order.
    pub fn pending_calls(&self) -> Vec<u64> {
        let mut calls: Vec<u64> = self.kept_heads().into_iter().map(|it| it.0).collect();
        calls.retain(|it| {
            !matches!(self.pending_outcome(*it), Some(PendingOutcome::Applied { .. }))
        });
        calls
    }

    /// What call `call` would change, to be looked at.
    pub fn pending_run(&self, call: u64) -> Result<PendingRun, PendingError> {
        if let Some(PendingOutcome::Applied { by }) = self.pending_outcome(call) {
            return Err(PendingError::Applied { call, by });
        }
        if self.kept_head(call).is_none() {
            return Err(PendingError::Unknown(call));
        }
        let directory = self.pending_directory().join(call.to_string());
        let damaged = |why: String| PendingError::Damaged { call, why };
        let text = read(&directory.join("run.json"))
            .ok_or_else(|| damaged("its list cannot be read".to_owned()))?;
        let run: KeptRun = serde_json::from_slice(&text).map_err(|it| damaged(it.to_string()))?;
        if run.v != FORM {
            return Err(damaged(format!("its form {} is not known", run.v)));
        }
        let (sequence, about) = (run.sequence, run.about.clone());
        Ok(PendingRun {
            call,
            about,
            sha256: Hash::sha256(&text),
            sequence,
            git: run.git.clone(),
            dropped: Vec::new(),
            changes: run.changes(&directory),
            directory,
            lock: None,
        })
    }

    /// The same, to be applied: nobody else can while it is held. One whose taker died is finished
    /// where its changes are applied already, and given out again where they are not.
    pub fn claim_pending(&self, call: u64) -> Result<PendingRun, PendingError> {
        let directory = self.pending_directory().join(call.to_string());
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW;
        let opened =
            File::options().read(true).custom_flags(flags.bits().cast_signed()).open(&directory);
        let lock = match opened {
            Ok(lock) => lock,
            Err(err) if err.kind() == io::ErrorKind::NotFound => {
                return Err(PendingError::Unknown(call));
            }
            Err(err) => return Err(err.into()),
        };
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(PendingError::Busy(call)),
            Err(TryLockError::Error(err)) => return Err(err.into()),
        }
        let mut run = self.pending_run(call)?;
        run.lock = Some(lock);
        let taking = read(&directory.join("taking"));
        let taking = taking.and_then(|it| String::from_utf8(it).ok());
        if let Some(by) = taking.and_then(|it| it.trim().parse::<u64>().ok()) {
            self.recover().map_err(io::Error::other)?;
            if self.entry(by).map_err(io::Error::other)?.is_some() {
                run.finish(&PendingOutcome::Applied { by })?;
                return Err(PendingError::Applied { call, by });
            }
        }
        Ok(run)
    }

    /// What became of a run, once that is decided.
    pub fn pending_outcome(&self, call: u64) -> Option<PendingOutcome> {
        let file = self.pending_directory().join(call.to_string()).join("outcome.json");
        serde_json::from_slice(&read(&file)?).ok()
    }

    /// Notes that a run is not applied, and why. It stays: a person may apply it after all.
    pub fn refuse_pending(&self, call: u64, why: &str) {
        let Ok(run) = self.claim_pending(call) else { return };
        if let Err(err) = run.finish(&PendingOutcome::Refused { why: why.to_owned() }) {
            tracing::warn!(%err, "what became of pending changes cannot be noted");
        }
    }

    /// Notes that whoever made the call knows what became of its run.
    pub fn note_told(&self, call: u64) {
        let file = self.pending_directory().join(call.to_string()).join("told");
        if let Err(err) = private_file::write(&file, b"", Durability::Crash) {
            tracing::debug!(%err, call, "that somebody was told cannot be noted");
        }
    }

    /// Runs that were refused, and why, of which whoever made the call knows nothing yet.
    pub fn untold_refusals(&self) -> Vec<(PendingRun, String)> {
        let all = self.pending_directory();
        let refused = |(call, _): (u64, Head)| match self.pending_outcome(call)? {
            PendingOutcome::Refused { why }
                if !all.join(call.to_string()).join("told").exists() =>
            {
                Some((self.pending_run(call).ok()?, why))
            }
            _ => None,
        };
        self.kept_heads().into_iter().filter_map(refused).collect()
    }

    /// Forgets what a call would have changed.
    pub fn forget_pending(&self, call: u64) {
        remove(&self.pending_directory().join(call.to_string()));
    }
}

impl PendingRun {
    /// Notes that this call is about to apply it. INVARIANT: it is claimed.
    pub fn begin(&self, by: u64) -> io::Result<()> {
        private_file::write(&self.directory.join("taking"), by.to_string(), Durability::PowerLoss)
    }

    /// Notes what became of it. What is applied needs no contents any more.
    pub fn finish(&self, outcome: &PendingOutcome) -> io::Result<()> {
        let text = serde_json::to_vec(outcome)?;
        private_file::write(&self.directory.join("outcome.json"), text, Durability::PowerLoss)?;
        if matches!(outcome, PendingOutcome::Applied { .. }) {
            for entry in fs::read_dir(&self.directory)?.flatten() {
                let kept = entry.file_name() == "outcome.json" || entry.file_name() == "head.json";
                if !kept {
                    remove_file(&entry.path());
                }
            }
        }
        Ok(())
    }
}

/// What a file says that is kept: pipes, links and devices say nothing.
fn read(file: &Path) -> Option<Vec<u8>> {
    read_small(file, MAX_LIST)
}

/// A file that only its owner reads, in a directory that nobody else knows.
fn new_file(path: &Path, content: &[u8]) -> io::Result<File> {
    let mut file = File::options().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(content)?;
    Ok(file)
}

#[expect(clippy::disallowed_methods, reason = "the workspace's own state")]
fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)
}

#[expect(clippy::disallowed_methods, reason = "the workspace's own state")]
fn remove(directory: &Path) {
    let _ = fs::remove_dir_all(directory);
}

#[expect(clippy::disallowed_methods, reason = "the workspace's own state")]
fn remove_file(file: &Path) {
    let _ = fs::remove_file(file);
}

#[cfg(test)]
mod tests;
