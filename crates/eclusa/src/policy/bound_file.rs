//! A file that a yes is bound to.

use std::sync::Arc;

/// A file that a shell text names, with what was in it when a person said yes to running the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoundFile {
    /// Its name, from the workspace or from the root.
    pub name: String,
    /// What was in it.
    pub bytes: Arc<[u8]>,
}
