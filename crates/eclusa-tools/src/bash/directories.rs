//! Where the commands of each conversation start.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

/// Conversations that are remembered; beyond that all start over in the workspace.
const KEPT: usize = 1024;

/// A directory for each conversation that has named one.
#[derive(Debug, Default)]
pub(super) struct Directories(Mutex<HashMap<String, PathBuf>>);

impl Directories {
    /// The directory that a conversation named last and that is still there, or the workspace.
    pub(super) fn of(&self, conversation: &str, root: &Path) -> PathBuf {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = all.get(conversation).filter(|it| it.is_dir());
        found.cloned().unwrap_or_else(|| root.to_owned())
    }

    pub(super) fn set(&self, conversation: &str, path: &Path) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= KEPT {
            all.clear();
        }
        all.insert(conversation.to_owned(), path.to_owned());
    }
}
