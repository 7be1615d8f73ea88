//! Every file beneath a directory, on several threads, without what is blocked or ignored.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use eclusa::{
    Files,
    policy::HiddenPaths,
    workspace::{FileError, files::Kind},
};
use ignore::{DirEntry, WalkBuilder, WalkState, types::Types};

use super::{cancel::Cancel, ignores::Ignores};

/// More threads than this gain nothing, and each holds something.
const THREADS: usize = 6;
/// So many files wait for a worker; further ones are worked on at once, because a directory of
/// 200,000 of them would take 70 MB to wait. Tests have few files, and are to get there too.
const WAITING: usize = if cfg!(test) { 64 } else { 1 << 15 };

/// Where to walk, and what to leave out.
#[derive(Debug, Clone)]
pub(super) struct Ground {
    pub(super) files: Files,
    /// The directory, relative to the workspace; empty for the workspace.
    pub(super) from: PathBuf,
    /// What rules keep from this call.
    pub(super) hidden: HiddenPaths,
    /// Also what `.gitignore` hides.
    pub(super) ignored: bool,
    /// Only files of these types.
    pub(super) types: Option<Types>,
}

/// How many names were left out, and why.
#[derive(Debug, Default)]
pub(super) struct LeftOut {
    pub(super) blocked: AtomicUsize,
    /// Rules keep them from this call.
    pub(super) kept_back: AtomicUsize,
    pub(super) ignored: AtomicUsize,
    pub(super) unreadable: AtomicUsize,
}

/// What is done with the names that are found. Paths are relative to the workspace.
pub(super) trait Visit: Send + Sync + 'static {
    /// Told of every name, on the thread that reads its directory. True: enter the directory, or
    /// give the file to a [worker](Visit::worker). A name that needs no more is done here, because
    /// what waits for a worker takes memory.
    fn see(&self, path: &Path, kind: Kind) -> bool;

    /// Does the long work on files, one for each thread.
    fn worker(&self) -> Box<dyn FnMut(&Path) + Send + '_> {
        Box::new(|_| {})
    }
}

impl Ground {
    /// The directory that is asked for, which is there.
    pub(super) fn new(
        files: &Files,
        hidden: HiddenPaths,
        path: &str,
        ignored: bool,
    ) -> Result<Ground, FileError> {
        files.still_there()?;
        let from = files.directory(path)?.path;
        Ok(Ground { files: files.clone(), from, hidden, ignored, types: None })
    }

    /// Shows every name to the visitor, in any order.
    pub(super) fn walk<V: Visit>(&self, visit: &Arc<V>, cancel: &Cancel) -> LeftOut {
        let left_out = Arc::new(LeftOut::default());
        let waiting = Arc::new(AtomicUsize::new(0));
        let mut builder = WalkBuilder::new(self.files.root().join(&self.from));
        let threads = std::thread::available_parallelism().map_or(1, |it| it.get().min(THREADS));
        // What is ignored is judged below: the walker would open what it finds by name, and would
        // listen to the directories above the workspace and to the machine's own settings.
        builder.standard_filters(false).follow_links(false).threads(threads);
        if let Some(types) = &self.types {
            builder.types(types.clone());
        }
        let sieve = Sieve {
            files: self.files.clone(),
            hidden: self.hidden.clone(),
            ignores: (!self.ignored).then(|| Ignores::new(self.files.clone())),
            left_out: Arc::clone(&left_out),
            waiting: Arc::clone(&waiting),
            visit: Arc::clone(visit),
            cancel: cancel.clone(),
        };
        builder.filter_entry(move |entry| sieve.lets_through(entry));
        let root = self.files.root();
        builder.build_parallel().run(|| {
            let (mut work, left_out, waiting) = (visit.worker(), &left_out, &waiting);
            Box::new(move |found| {
                if cancel.is_called() {
                    return WalkState::Quit;
                }
                match found {
                    Ok(entry) if entry.file_type().is_some_and(|it| it.is_file()) => {
                        waiting.fetch_sub(1, Relaxed);
                        if let Ok(path) = entry.path().strip_prefix(root) {
                            work(path);
                        }
                    }
                    Ok(_) => {}
                    Err(_) => {
                        left_out.unreadable.fetch_add(1, Relaxed);
                    }
                }
                WalkState::Continue
            })
        });
        // The walker's threads are done, and with them the sieve.
        Arc::try_unwrap(left_out).unwrap_or_else(|shared| LeftOut {
            blocked: shared.blocked.load(Relaxed).into(),
            kept_back: shared.kept_back.load(Relaxed).into(),
            ignored: shared.ignored.load(Relaxed).into(),
            unreadable: shared.unreadable.load(Relaxed).into(),
        })
    }
}

/// Judges every name before the walker keeps it.
struct Sieve<V> {
    files: Files,
    hidden: HiddenPaths,
    ignores: Option<Ignores>,
    left_out: Arc<LeftOut>,
    /// How many files wait for a worker.
    waiting: Arc<AtomicUsize>,
    visit: Arc<V>,
    cancel: Cancel,
}

impl<V: Visit> Sieve<V> {
    fn lets_through(&self, entry: &DirEntry) -> bool {
        if entry.depth() == 0 {
            return true;
        }
        let Ok(path) = entry.path().strip_prefix(self.files.root()) else { return false };
        if self.cancel.is_called() {
            return false;
        }
        let kind = kind(entry);
        let blocked = match kind {
            Kind::Directory => self.files.blocked().by_directory(path),
            _ => self.files.is_blocked(path),
        };
        if blocked.is_some() {
            self.left_out.blocked.fetch_add(1, Relaxed);
            return false;
        }
        if is_store(path) {
            return false;
        }
        if self.hidden.hides(path) {
            self.left_out.kept_back.fetch_add(1, Relaxed);
            return false;
        }
        let hides = |it: &Ignores| it.hide(path, kind == Kind::Directory);
        if self.ignores.as_ref().is_some_and(hides) {
            self.left_out.ignored.fetch_add(1, Relaxed);
            return false;
        }
        if !self.visit.see(path, kind) {
            return false;
        }
        if kind == Kind::File && self.waiting.fetch_add(1, Relaxed) >= WAITING {
            self.waiting.fetch_sub(1, Relaxed);
            self.visit.worker()(path);
            return false;
        }
        true
    }
}

/// True for git's own store, which is searched only by whoever asks for a path in it.
pub(super) fn is_store(path: &Path) -> bool {
    path.file_name().is_some_and(|it| it == ".git")
}

fn kind(entry: &DirEntry) -> Kind {
    match entry.file_type() {
        Some(it) if it.is_file() => Kind::File,
        Some(it) if it.is_dir() => Kind::Directory,
        Some(it) if it.is_symlink() => Kind::Link,
        _ => Kind::Unknown,
    }
}
