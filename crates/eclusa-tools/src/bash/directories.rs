//! Where the commands of each session start.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

/// Sessions that are remembered; beyond that all start over in the workspace.
const MAX_CONVERSATIONS: usize = 1024;

/// A directory for each session that has named one.
#[derive(Debug, Default)]
pub(super) struct Directories(Mutex<HashMap<String, PathBuf>>);

impl Directories {
    /// The directory that a session named last, if it has named one.
    pub(super) fn of(&self, session: &str) -> Option<PathBuf> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(session).cloned()
    }

    pub(super) fn forget(&self, session: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(session);
    }

    pub(super) fn set(&self, session: &str, path: &Path) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MAX_CONVERSATIONS {
            all.clear();
        }
        all.insert(session.to_owned(), path.to_owned());
    }
}
