//! Files that are gone and still to be read: several at once. What a build has left is large, and
//! nothing but its digest is wanted of it.

use std::{
    fs::File,
    io,
    num::NonZeroUsize,
    sync::atomic::{AtomicUsize, Ordering},
    thread::{self, ScopedJoinHandle},
};

use eclusa_workspace::ContentDigest;

use super::handle;

/// Smaller files are read at once.
pub(super) const LARGE: u64 = 128 << 10;
/// The most files that are held open.
const MAX_OPEN: usize = 64;
/// More threads than this do not read any faster.
const MAX_THREADS: usize = 8;

/// Files to read, each for an entry of a walk.
#[derive(Debug, Default)]
pub(super) struct Later(Vec<Unread>);

#[derive(Debug)]
struct Unread {
    entry: usize,
    file: File,
    size: u64,
}

/// What became of an entry.
pub(super) type DigestedEntry = (usize, io::Result<ContentDigest>);

impl Later {
    pub(super) fn add(&mut self, entry: usize, file: File, size: u64) {
        self.0.push(Unread { entry, file, size });
    }

    pub(super) fn is_full(&self) -> bool {
        self.0.len() >= MAX_OPEN
    }

    /// Reads all of them.
    pub(super) fn read(&mut self) -> Vec<DigestedEntry> {
        let mut files = std::mem::take(&mut self.0);
        // The largest first, so that no thread is left alone with it at the end.
        files.sort_by_key(|it| std::cmp::Reverse(it.size));
        let next = AtomicUsize::new(0);
        let some = || {
            let taken = std::iter::from_fn(|| files.get(next.fetch_add(1, Ordering::Relaxed)));
            taken
                .map(|it| (it.entry, handle::digest(&it.file, it.size)))
                .collect::<Vec<DigestedEntry>>()
        };
        let threads = thread::available_parallelism().map_or(1, NonZeroUsize::get).min(MAX_THREADS);
        thread::scope(|scope| {
            let others: Vec<ScopedJoinHandle<'_, Vec<DigestedEntry>>> = (1..threads
                .min(files.len()))
                .map_while(|_| thread::Builder::new().spawn_scoped(scope, some).ok())
                .collect();
            let mut all = some();
            for other in others {
                match other.join() {
                    Ok(read) => all.extend(read),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            all
        })
    }
}
