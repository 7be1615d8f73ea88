//! Makes changes real, all or none of them, and keeps what was there before.
//!
//! A commit copies nothing that it replaces: the new file waits in a directory of its own, and the
//! two change places by one rename, so that a reader sees the old or the new content and the old
//! one is kept aside for an undo. A file that only moves is renamed out of one place and into the
//! other, through one slot. What is about to happen is in a journal before it happens; a
//! transaction that died is taken back when the workspace is next opened or changed.
//!
//! ```text
//! STATE/lock               one transaction at a time; the last sequence number
//! STATE/open/17-42/        a transaction that is going on: journal, and slots 0, 1, 2 …
//! STATE/done/17-42/        the same, finished: the slots hold what was replaced or removed
//! STATE/store/             contents of old transactions, compressed, each kept once
//! STATE/rescued/           what could not be put back because somebody changed its place
//! ```

use std::{
    fmt, io,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use rustix::{
    fs::{Mode, OFlags, RenameFlags},
    io::Errno,
};

use crate::{Changes, git, places::Places};

mod adopt;
mod after;
mod apply;
pub(crate) mod attributes;
mod before;
mod check;
mod clear;
pub(crate) mod conflict;
mod contents;
mod git_note;
pub(crate) mod journal;
pub(crate) mod lock;
pub(crate) mod op;
mod open_up;
pub(crate) mod packed;
pub(crate) mod parents;
mod perform;
mod prepare;
mod recover;
mod rename;
pub(crate) mod stat;
mod transaction;

pub use before::{ComingNode, ComingStep};
pub(crate) use check::contents;
pub use conflict::{Clash, Conflict};
pub(crate) use lock::{KeptTally, LockGuard};
pub use recover::{Recovered, Rescued, Unrestored};
pub(crate) use recover::{call, names, sequence};
pub(crate) use transaction::{Intent, transaction_name};

/// A workspace, and where the state of its transactions is kept.
#[derive(Clone)]
pub struct Workspace {
    root: PathBuf,
    state: PathBuf,
    ready: Arc<OnceLock<Ready>>,
    watch: Option<Arc<dyn Fn(&'static str) + Send + Sync>>,
    excludes: Option<Arc<str>>,
    after: Option<after::AfterChange>,
    before: Option<before::BeforeChange>,
}

/// What is known once the state is there.
struct Ready {
    /// Where it is, resolved.
    state: PathBuf,
    aside: KeepStrategy,
    lock: lock::Lock,
    /// Its directories, open: whoever holds the lock works where the lock is.
    handle: Arc<OwnedFd>,
    open: Arc<OwnedFd>,
    done: Arc<OwnedFd>,
}

/// How old contents are kept when they are replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeepStrategy {
    /// Renamed: the state is on the filesystem of the workspace, and nothing is copied.
    Renamed,
    /// Copied, because the state is on another filesystem. While a commit goes on, its files wait
    /// in a directory `.eclusa-…` of the workspace.
    Copied,
}

/// Changes that are now real.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Committed {
    /// The call that they belong to.
    pub call: u64,
    /// How many paths changed.
    pub paths: usize,
    /// How what was there before is kept.
    pub aside: KeepStrategy,
}

/// Why changes were not made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CommitError {
    /// What the changes rest on has changed. Nothing was written.
    #[error(
        "nothing was written, because files have changed meanwhile: {}; \
         read them again and repeat the call",
        conflict::list(.0)
    )]
    Conflicts(Vec<Conflict>),
    /// A change that no workspace could take. Nothing was written.
    #[error("nothing was written, because `{}` cannot be changed: {why}", conflict::display(path))]
    Unfit {
        /// Where.
        path: PathBuf,
        /// Why not.
        why: String,
    },
    /// This call has committed already. Nothing was written.
    #[error("nothing was written, because call {0} has made its changes already")]
    Twice(u64),
    /// The disk or the kernel refused. Nothing has changed.
    #[error("nothing has changed, because of an error: {0}")]
    Failed(#[source] IoFailure),
    /// The commit failed, and so did taking it back. The journal is kept, and it is tried again
    /// before the next commit and when the workspace is next opened.
    #[error(
        "call {call} was only partly applied ({because}) and could not be rolled back: {fault}; \
         this is tried again before the next change"
    )]
    Stuck {
        /// The call.
        call: u64,
        /// Why it was to be taken back.
        because: String,
        /// Why that failed.
        fault: IoFailure,
    },
    /// The commit was taken back, except where somebody changed a path in the middle of it.
    #[error(
        "{because}; it was rolled back, except for {}, which another program changed meanwhile; the old \
        content is kept in `{}`",
        conflict::quoted(left),
        kept.display()
    )]
    Disturbed {
        /// Why it was to be taken back.
        because: String,
        /// What was not put back.
        left: Vec<PathBuf>,
        /// Where everything is that was aside.
        kept: PathBuf,
    },
    /// The changes are made, and may be lost with the power.
    #[error("the changes are made, but may not survive a power failure: {0}")]
    Unsafe(#[source] IoFailure),
}

/// What the kernel refused to do.
#[derive(Debug, thiserror::Error)]
#[error("cannot {doing} `{}`: {source}", conflict::display(path))]
pub struct IoFailure {
    /// What was tried, as a verb.
    doing: &'static str,
    /// With what.
    path: PathBuf,
    /// What the kernel said.
    source: io::Error,
}

impl IoFailure {
    /// Says what was being done, and where.
    pub(crate) fn at(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> IoFailure {
        move |source| IoFailure { doing, path: path.to_owned(), source }
    }

    /// What the kernel said.
    pub fn kind(&self) -> io::ErrorKind {
        self.source.kind()
    }
}

impl From<IoFailure> for CommitError {
    fn from(fault: IoFailure) -> CommitError {
        CommitError::Failed(fault)
    }
}

impl fmt::Debug for Workspace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Workspace({}, state {})", self.root().display(), self.state().display())
    }
}

/// The directories of a transaction, open.
pub(crate) struct Dirs {
    pub(crate) root: parents::RootDirs,
    pub(crate) state: Arc<OwnedFd>,
    pub(crate) open: Arc<OwnedFd>,
    pub(crate) done: Arc<OwnedFd>,
}

impl Workspace {
    /// Opens a workspace whose transactions are kept in `state`, which is made if need be, and
    /// puts right what died in the middle.
    pub fn open(
        root: impl Into<PathBuf>,
        state: impl Into<PathBuf>,
    ) -> Result<(Workspace, Recovered), IoFailure> {
        let workspace = Workspace::attach(root, state)?;
        let recovered = workspace.recover()?;
        Ok((workspace, recovered))
    }

    /// The same, but what died in the middle is put right only by [`Workspace::recover`] or by
    /// the next transaction.
    pub fn attach(
        root: impl Into<PathBuf>,
        state: impl Into<PathBuf>,
    ) -> Result<Workspace, IoFailure> {
        let workspace = Workspace::named(root, state)?;
        workspace.ready()?;
        Ok(workspace)
    }

    /// The same, but the state is made only when the first change is: whoever only looks or
    /// judges leaves nothing behind.
    pub fn named(
        root: impl Into<PathBuf>,
        state: impl Into<PathBuf>,
    ) -> Result<Workspace, IoFailure> {
        let (root, state) = (root.into(), state.into());
        let root = root.canonicalize().map_err(IoFailure::at("open the workspace", &root))?;
        Ok(Workspace {
            root,
            state,
            ready: Arc::default(),
            watch: None,
            excludes: None,
            after: None,
            before: None,
        })
    }

    /// Makes the state, if need be.
    fn ready(&self) -> Result<&Ready, IoFailure> {
        match self.ready.get() {
            Some(ready) => Ok(ready),
            // Should two threads make it at once, one of them has made it for both.
            None => self.make_ready().map(|made| self.ready.get_or_init(|| made)),
        }
    }

    fn make_ready(&self) -> Result<Ready, IoFailure> {
        let state = &self.state;
        std::fs::create_dir_all(state).map_err(IoFailure::at("make", state))?;
        let state = state.canonicalize().map_err(IoFailure::at("open", state))?;
        let handle = directory(&state)?;
        for name in ["open", "done", "store"] {
            match rustix::fs::mkdirat(&handle, name, Mode::from_raw_mode(0o700)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(err) => return Err(IoFailure::at("make", &state.join(name))(err.into())),
            }
        }
        let lock = lock::Lock::open(&handle).map_err(IoFailure::at("open", &state.join("lock")))?;
        let aside = probe(&self.root_dirs()?, &handle);
        let below = |name: &str| {
            let opened = stat::open_dir(&handle, name.as_ref());
            opened.map(Arc::new).map_err(IoFailure::at("open", &state.join(name)))
        };
        let (open, done) = (below("open")?, below("done")?);
        Ok(Ready { state, aside, lock, handle: Arc::new(handle), open, done })
    }

    /// What git ignores for this person in every repository: the text of their own excludes.
    #[must_use]
    pub fn with_excludes(mut self, patterns: &str) -> Workspace {
        self.excludes = Some(patterns.into());
        self
    }

    /// What git ignores for this person in every repository.
    pub fn excludes(&self) -> Option<&str> {
        self.excludes.as_deref()
    }

    /// Calls this before every step that touches the disk, with the name of what comes next: for
    /// tests that interrupt or disturb a transaction anywhere.
    pub fn watched(mut self, watch: impl Fn(&'static str) + Send + Sync + 'static) -> Workspace {
        self.watch = Some(Arc::new(watch));
        self
    }

    /// Where the workspace is.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where the state of its transactions is.
    pub fn state(&self) -> &Path {
        self.ready.get().map_or(&self.state, |it| &it.state)
    }

    /// How old contents are kept. Where the state cannot be made, nothing can be renamed either.
    pub fn aside(&self) -> KeepStrategy {
        self.ready().map_or(KeepStrategy::Copied, |it| it.aside)
    }

    /// No change may touch the state, should that be inside the workspace.
    fn keep_out(&self, changes: &Changes) -> Result<(), CommitError> {
        let Ok(state) = self.state().strip_prefix(&self.root) else { return Ok(()) };
        let inside = changes.iter().find(|it| it.path.starts_with(state));
        match inside {
            None => Ok(()),
            Some(change) => Err(CommitError::Unfit {
                path: change.path.clone(),
                why: "what is kept for undo is there".to_owned(),
            }),
        }
    }

    /// Waits for the lock, and first takes back what somebody left unfinished.
    pub(crate) fn hold(&self) -> Result<LockGuard<'_>, IoFailure> {
        let lock = &self.ready()?.lock;
        let held = lock.hold(&self.places().repository());
        let held = held.map_err(IoFailure::at("lock", self.state()))?;
        git::locks::recover(self.state());
        if held.is_busy().map_err(IoFailure::at("read the lock of", self.state()))? {
            let recovered = self.recover_held(&held)?;
            tracing::warn!(?recovered, "a transaction had died and was put right");
        }
        Ok(held)
    }

    /// The number of the last transaction; 0 where there was none or nobody can tell.
    pub fn last_sequence(&self) -> u64 {
        self.ready().ok().and_then(|it| it.lock.last_number().ok()).unwrap_or_default()
    }

    pub(crate) fn step(&self, next: &'static str) {
        if let Some(watch) = &self.watch {
            watch(next);
        }
    }

    /// Where the paths of changes lie now.
    pub fn places(&self) -> Places {
        Places::of(&self.root)
    }

    /// The workspace, open, with the repository that its `.git` names.
    fn root_dirs(&self) -> Result<parents::RootDirs, IoFailure> {
        let linked = self.places().linked().map(|it| directory(&it.common)).transpose()?;
        let root = Arc::new(directory(&self.root)?);
        Ok(parents::RootDirs { root, linked: linked.map(Arc::new) })
    }

    pub(crate) fn dirs(&self) -> Result<Dirs, IoFailure> {
        let Ready { handle, open, done, .. } = self.ready()?;
        let root = self.root_dirs()?;
        Ok(Dirs { root, state: handle.clone(), open: open.clone(), done: done.clone() })
    }
}

/// Opens a directory by its path.
fn directory(path: &Path) -> Result<OwnedFd, IoFailure> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::empty())
        .map_err(|err| IoFailure::at("open", path)(err.into()))
}

/// Whether files can be renamed between the state and what can change: a rename of nothing tells, and
/// writes nothing.
fn probe(dirs: &parents::RootDirs, state: &OwnedFd) -> KeepStrategy {
    let renamed = |it: &Arc<OwnedFd>| can_rename(it, state);
    match renamed(&dirs.root) && dirs.linked.iter().all(renamed) {
        true => KeepStrategy::Renamed,
        false => KeepStrategy::Copied,
    }
}

fn can_rename(root: &OwnedFd, state: &OwnedFd) -> bool {
    let devices = (rustix::fs::fstat(root), rustix::fs::fstat(state));
    let same = matches!(&devices, (Ok(root), Ok(state)) if root.st_dev == state.st_dev);
    let nothing = "eclusa-probe-of-nothing";
    let renamed = rustix::fs::renameat_with(state, nothing, root, nothing, RenameFlags::NOREPLACE);
    same && renamed != Err(Errno::XDEV)
}
