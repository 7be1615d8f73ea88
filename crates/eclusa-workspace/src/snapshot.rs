//! Commands that run on the real files, where nothing can be staged in an overlay: what was there is
//! copied first, and put back before anybody judges what the command did.
//!
//! What a command changed is moved aside, and comes back as the same [`Changes`] that an overlay
//! gives. A snapshot that died is put back by whoever next changes the workspace, or opens it.
//!
//! ```text
//! STATE/snapshot/manifest  every name of the workspace, with what tells its state
//! STATE/snapshot/pack      the contents of files, one after the other
//! STATE/snapshot/links/    large objects of git, as further names of the same files
//! STATE/snapshot/journal   a command runs, or has died: which snapshot, which processes
//! STATE/snapshot/taken/    what the command changed, while it is moved aside
//! ```

use std::{
    fs::File,
    io,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use rustix::{fs::Mode, io::Errno};

use crate::{
    Changes,
    commit::{IoFailure, Rescued, Workspace, lock, parents::RootDirs, stat},
};

mod compare;
mod foreign;
mod journal;
mod live;
mod make;
mod manifest;
mod outcome;
mod pack;
mod restore;
mod take;
mod walk;

pub use live::{LiveDirectories, is_build_output};

use journal::Journal;
use manifest::{Manifest, What};
use restore::Restorer;

/// What a snapshot covers, and how much at most.
#[derive(Debug, Clone)]
pub struct SnapshotOptions {
    /// Directories of the workspace that are neither copied nor put back, besides build output that
    /// git does not track.
    pub live: Vec<PathBuf>,
    /// How many names are covered.
    pub max_names: usize,
    /// How many bytes are copied.
    pub max_bytes: u64,
    /// How long to wait for another command.
    pub patience: Duration,
    /// Whether all contents are compared, whatever times say. On filesystems whose times need not tell of
    /// every change they are anyway.
    pub compares_all: bool,
}

impl Default for SnapshotOptions {
    fn default() -> SnapshotOptions {
        SnapshotOptions {
            live: Vec::new(),
            max_names: 200_000,
            max_bytes: 4 << 30,
            patience: Duration::from_secs(30),
            compares_all: false,
        }
    }
}

/// A workspace as it was before a command that runs on it. Dropping it puts the workspace back.
#[derive(Debug)]
pub struct Snapshot {
    workspace: Workspace,
    lock: File,
    manifest: Manifest,
    journal: Journal,
    /// Whether the workspace is as it was, or cannot be put back now.
    is_over: bool,
}

/// What a command did to a workspace that is as it was before.
#[derive(Debug, Default)]
pub struct PutBack {
    /// What it would change. New contents are staged.
    pub changes: Changes,
    /// What a person must know besides the changes.
    pub notes: Vec<String>,
}

/// Why there is no snapshot, or why it was not put back.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// Another command runs on the same files.
    #[error("another command is changing this workspace, and one runs at a time here; try again")]
    Busy,
    /// There is too much to copy.
    #[error(
        "the workspace has more than {0}, which is the most that is copied before a command runs; \
         name large directories that need no undo in `commands.live`"
    )]
    TooLarge(String),
    /// Something could be removed and not be put back.
    #[error(
        "`{}` cannot be put back should the command change it: {why}",
        crate::visible(&path.to_string_lossy())
    )]
    Uncovered {
        /// Which.
        path: PathBuf,
        /// Why not.
        why: &'static str,
    },
    /// The disk or the kernel refused. The command has not run.
    #[error("the workspace cannot be copied before the command runs: {0}")]
    Failed(#[from] IoFailure),
    /// The workspace is as it was, but there was no room for what the command changed.
    #[error("the disk is full; the workspace was restored to its state before the command")]
    Dropped,
    /// The workspace is not as it was.
    #[error("the workspace could not be put back: {0}; this is tried again before the next change")]
    Stuck(#[source] IoFailure),
}

/// How often somebody who waits for another command looks again.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// The directories of a snapshot.
#[derive(Debug, Clone)]
struct SnapshotDirs {
    path: PathBuf,
    dir: Arc<OwnedFd>,
    root: RootDirs,
}

impl Workspace {
    /// Copies what is there, and keeps everybody else from changing the workspace until it is put
    /// back.
    pub fn snapshot(&self, options: &SnapshotOptions) -> Result<Snapshot, SnapshotError> {
        self.step("lock of the snapshot");
        let lock = self.lock_for_snapshot(options.patience)?;
        let place = self.snapshot_place()?;
        self.step("snapshot");
        let manifest = take::take(self, &place, options)?;
        let journal = Journal::new(&manifest);
        self.step("journal of the snapshot");
        let at = place.path.join("journal");
        clear(&place.path.join("taken"));
        let begun = journal.write(&place.dir).and_then(|()| lock::mark(&lock, true));
        if let Err(err) = begun {
            let _ = Journal::remove(&place.dir);
            return Err(IoFailure::at("write", &at)(err).into());
        }
        let workspace = self.clone();
        Ok(Snapshot { workspace, lock, manifest, journal, is_over: false })
    }

    /// Waits for the lock of the workspace, and first puts right what died.
    fn lock_for_snapshot(&self, patience: Duration) -> Result<File, SnapshotError> {
        let path = self.state().join("lock");
        let failed = |err| SnapshotError::Failed(IoFailure::at("lock", &path)(err));
        let until = Instant::now() + patience;
        // Makes the state, if need be.
        self.dirs()?;
        loop {
            match lock::try_hold(&path).map_err(failed)? {
                Some((lock, false)) => return Ok(lock),
                Some((lock, true)) => {
                    drop(lock);
                    drop(self.hold()?);
                }
                None if Instant::now() >= until => return Err(SnapshotError::Busy),
                None => std::thread::sleep(LOOK_AGAIN),
            }
        }
    }

    fn snapshot_place(&self) -> Result<SnapshotDirs, IoFailure> {
        let dirs = self.dirs()?;
        let path = self.state().join("snapshot");
        let made = match rustix::fs::mkdirat(&dirs.state, "snapshot", Mode::from_raw_mode(0o700)) {
            Ok(()) | Err(Errno::EXIST) => stat::open_dir(&dirs.state, "snapshot".as_ref()),
            Err(err) => Err(err.into()),
        };
        let dir = Arc::new(made.map_err(IoFailure::at("make", &path))?);
        // Of a repository elsewhere nothing is copied, and nothing can be written to it.
        let root = RootDirs { linked: None, ..dirs.root };
        Ok(SnapshotDirs { path, dir, root })
    }

    /// Puts back what a command changed that died with its program. The lock is held.
    pub(crate) fn recover_snapshot(&self) -> Result<Option<Rescued>, IoFailure> {
        let path = self.state().join("snapshot");
        if !path.join("journal").exists() {
            return Ok(None);
        }
        let place = self.snapshot_place()?;
        let damaged = |why: &str| {
            let why = format!("{why}; to keep the workspace as it is now, remove this directory");
            IoFailure::at("put the workspace back from", &path)(io::Error::other(why))
        };
        let journal = Journal::read(&place.dir).map_err(|_| damaged("its journal is damaged"))?;
        journal.end_processes().map_err(IoFailure::at("end the processes named in", &path))?;
        let manifest = Manifest::load(&place.dir).filter(|it| journal.is_of(it));
        let manifest = manifest.ok_or_else(|| damaged("its list of files is damaged"))?;
        let mut restorer = Restorer::new(self, &place);
        let paths = restorer.put_back(&manifest, &journal)?.len();
        let kept = restorer.rescue(journal.began)?;
        self.step("end of the snapshot");
        Journal::remove(&place.dir).map_err(IoFailure::at("remove the journal of", &path))?;
        Ok(Some(Rescued { paths, kept }))
    }
}

impl Snapshot {
    /// The command runs, with everything that it starts in this process group. Should the program
    /// die, whoever puts the workspace back ends these processes first.
    pub fn started(&mut self, group: i32) -> Result<(), SnapshotError> {
        let place = self.workspace.snapshot_place()?;
        self.journal.note_group(group);
        self.workspace.step("group in the journal");
        let written = self.journal.write(&place.dir);
        Ok(written.map_err(IoFailure::at("write a journal in", &place.path))?)
    }

    /// Puts the workspace back, once nobody of the command runs any more. What it changed is moved
    /// to `layer`, an empty directory beneath the state of the workspace.
    pub fn put_back(mut self, layer: &Path) -> Result<PutBack, SnapshotError> {
        self.is_over = true;
        self.restore(Some(layer))
    }

    fn restore(&self, layer: Option<&Path>) -> Result<PutBack, SnapshotError> {
        let put_back = || {
            let place = self.workspace.snapshot_place()?;
            let mut restorer = Restorer::new(&self.workspace, &place);
            let differences = restorer.put_back(&self.manifest, &self.journal)?;
            let outcome = match layer {
                Some(layer) => restorer.hand_over(&differences, layer)?,
                None => PutBack::default(),
            };
            self.workspace.step("end of the snapshot");
            let at = &place.path;
            Journal::remove(&place.dir).map_err(IoFailure::at("remove the journal of", at))?;
            lock::mark(&self.lock, false).map_err(IoFailure::at("unlock", at))?;
            clear(&at.join("taken"));
            Ok((outcome, restorer.is_dropped()))
        };
        match put_back().map_err(SnapshotError::Stuck)? {
            (_, true) => Err(SnapshotError::Dropped),
            (outcome, false) => Ok(outcome),
        }
    }
}

impl Drop for Snapshot {
    fn drop(&mut self) {
        if !self.is_over
            && let Err(err) = self.restore(None)
        {
            tracing::warn!("a snapshot was dropped: {err}");
        }
    }
}

/// Removes a directory of the snapshot with everything in it. What cannot be removed is removed with
/// the next one.
#[expect(clippy::disallowed_methods, reason = "the workspace's own state")]
fn clear(directory: &Path) {
    let _ = std::fs::remove_dir_all(directory);
}
