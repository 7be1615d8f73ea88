//! What a session has read and written, so that nobody edits what they have not seen.
//!
//! A tool cannot know whether what it proposes becomes real: the gate decides later. So both are
//! kept, what was there and what was proposed, and the next look tells which of them it is.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use eclusa::{
    FileNode,
    workspace::{ContentDigest, Stamp},
};

#[cfg(test)]
mod tests;

/// So many files are remembered, all sessions together. What is forgotten counts as never
/// read, and exact matches still protect it.
const REMEMBERED: usize = 4096;

/// What sessions have read and written. A clone is the same memory.
#[derive(Debug, Clone, Default)]
pub struct ReadTracker(Arc<Mutex<Memory>>);

#[derive(Debug, Default)]
struct Memory {
    sessions: HashMap<String, HashMap<PathBuf, ReadState>>,
    count: usize,
    /// Counts looks, to tell the older from the newer.
    looks: u64,
}

#[derive(Debug)]
struct ReadState {
    was: KnownContent,
    /// What the session wanted there instead.
    proposed: Option<ContentDigest>,
    look: u64,
}

/// How a session knows a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KnownContent {
    /// By all of its content.
    Content(ContentDigest),
    /// By parts of it: too large to be read whole.
    State(Stamp),
    /// There was none.
    Nothing,
}

impl ReadTracker {
    /// The session has read this file.
    pub(crate) fn read(&self, session: &str, path: &Path, was: KnownContent) {
        self.memory().keep(session, path, was, None);
    }

    /// The session knows that this was there, and proposes something else.
    pub(crate) fn proposed(
        &self,
        session: &str,
        path: &Path,
        before: Option<&FileNode>,
        after: ContentDigest,
    ) {
        let was = before.map_or(KnownContent::Nothing, |it| KnownContent::Content(it.digest));
        self.memory().keep(session, path, was, Some(after));
    }

    /// True when the session has read or written this file, and it is something else now.
    pub(crate) fn is_stale(&self, session: &str, path: &Path, now: &FileNode) -> bool {
        let memory = self.memory();
        let known = memory.sessions.get(session).and_then(|it| it.get(path));
        known.is_some_and(|it| !it.is(now))
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ReadState {
    fn is(&self, now: &FileNode) -> bool {
        let was = match self.was {
            KnownContent::Content(digest) => digest == now.digest,
            KnownContent::State(stamp) => now.stamp.is_some_and(|it| same_content(stamp, it)),
            KnownContent::Nothing => false,
        };
        was || self.proposed == Some(now.digest)
    }
}

/// A change of name or mode is none of the content.
fn same_content(was: Stamp, is: Stamp) -> bool {
    Stamp { changed: is.changed, ..was } == is
}

impl Memory {
    fn keep(
        &mut self,
        session: &str,
        path: &Path,
        was: KnownContent,
        proposed: Option<ContentDigest>,
    ) {
        if self.count >= REMEMBERED {
            self.forget_the_older_half();
        }
        self.looks += 1;
        let glance = ReadState { was, proposed, look: self.looks };
        if !self.sessions.contains_key(session) {
            self.sessions.insert(session.to_owned(), HashMap::new());
        }
        let known = self.sessions.get_mut(session);
        let new = known.is_some_and(|it| it.insert(path.to_owned(), glance).is_none());
        self.count += usize::from(new);
    }

    fn forget_the_older_half(&mut self) {
        let glances = self.sessions.values().flat_map(HashMap::values);
        let mut looks: Vec<u64> = glances.map(|it| it.look).collect();
        let middle = looks.len() / 2;
        if middle >= looks.len() {
            return;
        }
        let (_, oldest_kept, _) = looks.select_nth_unstable(middle);
        let oldest_kept = *oldest_kept;
        for files in self.sessions.values_mut() {
            files.retain(|_, it| it.look >= oldest_kept);
        }
        self.sessions.retain(|_, files| !files.is_empty());
        self.count = self.sessions.values().map(HashMap::len).sum();
    }
}
