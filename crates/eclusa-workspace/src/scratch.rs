//! A workspace that is covered by a scratch layer: what is applied there is applied to the layer.

use std::{io, os::fd::AsFd};

use crate::Workspace;

/// A workspace whose directory is covered: proof that what is applied to it reaches the layer and not the
/// directory itself. There is no other way to one than to show both.
#[derive(Debug, Clone)]
pub struct ScratchWorkspace(Workspace);

impl ScratchWorkspace {
    /// The workspace, if its directory is another one by now than this, which it was before it was covered.
    pub fn new(workspace: Workspace, before: impl AsFd) -> io::Result<ScratchWorkspace> {
        let (before, now) = (rustix::fs::fstat(before)?, rustix::fs::stat(workspace.root())?);
        match (before.st_dev, before.st_ino) == (now.st_dev, now.st_ino) {
            true => Err(io::Error::other("no scratch layer covers the workspace")),
            false => Ok(ScratchWorkspace(workspace)),
        }
    }

    /// The workspace, as everybody in this process sees it.
    pub fn workspace(&self) -> &Workspace {
        &self.0
    }
}

#[cfg(test)]
mod tests;
