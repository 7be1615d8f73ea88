//! Where the commands of each conversation start.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

/// Conversations that are remembered; beyond that all start over in the workspace.
const MAX_CONVERSATIONS: usize = 1024;

/// A directory for each conversation that has named one.
#[derive(Debug, Default)]
pub(super) struct Directories(Mutex<HashMap<String, PathBuf>>);

impl Directories {
    /// The directory that a conversation named last, if it has named one.
    pub(super) fn of(&self, conversation: &str) -> Option<PathBuf> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(conversation).cloned()
    }

    pub(super) fn forget(&self, conversation: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(conversation);
    }

    pub(super) fn set(&self, conversation: &str, path: &Path) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MAX_CONVERSATIONS {
            all.clear();
        }
        all.insert(conversation.to_owned(), path.to_owned());
    }
}
