//! A layer over the workspace for a whole rehearsal, and what was written to it.

use std::path::PathBuf;

use eclusa::{Changes, Staged};

use super::{RunError, Sandboxes, WriteTracking, stage::Stage};
use crate::read_back::ReadBack;

/// A layer that nothing was written to yet.
#[derive(Debug)]
pub struct ScratchLayer {
    stage: Stage,
    root: PathBuf,
}

/// What was written to a layer.
#[derive(Debug)]
pub struct ScratchChanges {
    /// What would change in the workspace.
    pub changes: Changes,
    /// What holds the new contents.
    pub staged: Option<Staged>,
    /// What the changes do not say.
    pub notes: Vec<String>,
}

impl Sandboxes {
    /// A layer for a rehearsal; `None` where this machine has none.
    pub fn scratch_layer(&self) -> Result<Option<ScratchLayer>, RunError> {
        if self.write_tracking() != WriteTracking::Overlay {
            return Ok(None);
        }
        let pool = self.0.pools.on(self.capabilities());
        let root = self.settings().root.clone();
        let made = |source| RunError::Layer { path: pool.place().to_owned(), source };
        Ok(Some(ScratchLayer { stage: Stage::new(pool, &root).map_err(made)?, root }))
    }
}

impl ScratchLayer {
    /// Its two directories: where changes go, and what the overlay keeps for itself.
    pub fn directories(&self) -> (PathBuf, PathBuf) {
        let staging = self.stage.over(&self.root, &[]);
        (staging.upper, staging.work)
    }

    /// What was written to it, once everybody who could write has ended.
    pub fn read_back(self) -> Result<ScratchChanges, RunError> {
        let read = self.stage.read_back(&self.root);
        let ReadBack { changes, staged, notes } =
            read.map_err(|err| RunError::Effects(err.to_string()))?;
        Ok(ScratchChanges { changes, staged, notes })
    }
}
