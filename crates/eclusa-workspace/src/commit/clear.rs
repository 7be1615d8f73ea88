//! Clears away what a transaction leaves behind, and rescues what must not be cleared.

use std::{os::fd::OwnedFd, path::PathBuf};

use rustix::fs::AtFlags;

use super::{
    Dirs, IoFailure, prepare,
    stat::{self, Stat},
    transaction::Transaction,
};

impl Transaction<'_> {
    /// Puts everything that is aside where nobody deletes it, and says where.
    pub(super) fn rescue(&self) -> Result<PathBuf, IoFailure> {
        let rescued = self.workspace.state().join("rescued");
        let moved = std::fs::create_dir_all(&rescued).and_then(|()| {
            let to = stat::open_dir(&self.dirs.state, "rescued".as_ref())?;
            if let Some(stage) = &self.stage {
                for name in stat::names(stage)? {
                    let name = name.to_string_lossy().into_owned();
                    let Some(stat) = Stat::at(stage, name.as_ref())? else { continue };
                    let _ = rustix::fs::unlinkat(&self.own, &name, AtFlags::empty());
                    prepare::carry(stage, &name, &stat, &self.own, false)?;
                }
            }
            rustix::fs::renameat(&self.dirs.open, &self.name, &to, &self.name)?;
            Ok(())
        });
        moved.map_err(IoFailure::at("rescue", &rescued))?;
        self.remove_stage();
        Ok(rescued.join(&self.name))
    }

    /// Nothing of it shall remain. With `finished`, only what it left in the workspace goes.
    pub(super) fn discard(&self, finished: bool) {
        self.workspace.step("discard");
        self.remove_stage();
        if !finished {
            self.remove();
        }
    }

    /// What cannot be removed is tried again when the workspace is next opened.
    pub(super) fn remove(&self) {
        empty(&self.own);
        let _ = rustix::fs::unlinkat(&self.dirs.open, &self.name, AtFlags::REMOVEDIR);
    }

    pub(super) fn remove_stage(&self) {
        if let Some(stage) = &self.stage {
            empty(stage);
            let _ = rustix::fs::unlinkat(&self.dirs.root, self.stage_name(), AtFlags::REMOVEDIR);
        }
        self.shut_root();
    }

    /// Removes the directory in the workspace that a finished transaction left behind.
    pub(super) fn sweep(dirs: &Dirs, name: &str) {
        let stage = format!(".eclusa-{name}");
        if let Ok(handle) = stat::open_dir(&dirs.root, stage.as_ref()) {
            empty(&handle);
            let _ = rustix::fs::unlinkat(&dirs.root, stage, AtFlags::REMOVEDIR);
        }
    }
}

/// Removes the files and empty directories in a directory, the journal first: without it, nothing
/// that is gone will be missed.
fn empty(dir: &OwnedFd) {
    let _ = rustix::fs::unlinkat(dir, "journal", AtFlags::empty());
    for name in stat::names(dir).unwrap_or_default() {
        if rustix::fs::unlinkat(dir, &name, AtFlags::empty()).is_err() {
            let _ = rustix::fs::unlinkat(dir, &name, AtFlags::REMOVEDIR);
        }
    }
}
