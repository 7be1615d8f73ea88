//! Makes what lies in the upper layer ready to be taken into the workspace.

use std::{
    ffi::OsStr,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

use rustix::{fs::AtFlags, io::Errno};

use super::{
    Effects, LayerScan, ScanError, ScannedFile, ScannedNode,
    handle::{self, Look, Marks},
};

impl LayerScan {
    /// Frees the new files of these effects from the marks of the overlay, so that they can be
    /// renamed or linked into the workspace, and opens the directories that they lie in. Their
    /// stamps in `effects` follow.
    ///
    /// What is not as it was read back is an error, and then nothing may be committed. Afterwards
    /// the layer can be taken from and discarded, but not read back again: moves and the modes of
    /// directories are known to `effects` only.
    pub fn release(&self, effects: &mut Effects) -> Result<(), ScanError> {
        let mut last = None;
        for entry in &mut effects.entries {
            let path = &entry.path;
            match &mut entry.after {
                Some(ScannedNode::File(file)) => self.free(path, file, &mut last)?,
                Some(ScannedNode::Directory { .. }) => {
                    self.open_up(path).map_err(ScanError::at("open", path))?;
                }
                Some(ScannedNode::Link { .. } | ScannedNode::Other(_)) | None => {}
            }
        }
        Ok(())
    }

    fn free(
        &self,
        path: &Path,
        file: &mut ScannedFile,
        last: &mut Option<(PathBuf, OwnedFd)>,
    ) -> Result<(), ScanError> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(ScanError::Disturbed(path.to_owned()));
        };
        // Files of a directory come one after another.
        let (_, dir) = match last.take().filter(|(at, _)| at == parent) {
            Some(open) => last.insert(open),
            None => {
                let dir = self.open_parents(parent).map_err(ScanError::at("open", parent))?;
                last.insert((parent.to_owned(), dir))
            }
        };
        let look = Look::at(&*dir, name).map_err(ScanError::at("look at", path))?;
        let Some(look) = look.filter(|it| is_still(it, file)) else {
            return Err(ScanError::Disturbed(path.to_owned()));
        };
        let failed = ScanError::at("remove an attribute of", path);
        let now = strip(dir, name, &look).map_err(failed)?;
        file.stamp = now.stamp;
        Ok(())
    }

    /// Opens a directory that things will be taken out of. It and its parents may be shut, whether
    /// or not the command has made them so.
    fn open_parents(&self, path: &Path) -> rustix::io::Result<OwnedFd> {
        match handle::beneath(&self.upper, path, handle::SEARCH) {
            Ok(dir) if Look::of(&dir)?.mode & 0o300 == 0o300 => Ok(dir),
            Ok(_) | Err(Errno::ACCESS) => {
                let above: Vec<&Path> = path.ancestors().collect();
                above.iter().rev().try_for_each(|it| self.open_up(it))?;
                handle::beneath(&self.upper, path, handle::SEARCH)
            }
            Err(err) => Err(err),
        }
    }

    /// Lets the owner of a directory take things out of it.
    fn open_up(&self, path: &Path) -> rustix::io::Result<()> {
        let dir = match handle::beneath(&self.upper, path, handle::SEARCH) {
            Err(Errno::ACCESS) => {
                path.parent().map_or(Ok(()), |parent| self.open_up(parent))?;
                handle::beneath(&self.upper, path, handle::SEARCH)?
            }
            opened => opened?,
        };
        let mode = Look::of(&dir)?.mode;
        if mode & 0o700 == 0o700 {
            return Ok(());
        }
        let through = handle::through(&dir, OsStr::new(""));
        rustix::fs::chmod(through, handle::mode(mode | 0o700))
    }
}

/// True when this is what was read. Its last change may be younger: shared files are freed at each
/// of their names, and a directory that was shut had to be opened.
fn is_still(look: &Look, file: &ScannedFile) -> bool {
    let (now, then) = (look.stamp, file.stamp);
    let same = (now.device, now.inode, now.size) == (then.device, then.inode, then.size);
    same && now.modified == then.modified && look.mode == file.mode
}

/// Removes the overlay's attributes from a file. Attributes of users can be removed only by those
/// who may write to it.
fn strip(dir: &OwnedFd, name: &OsStr, look: &Look) -> rustix::io::Result<Look> {
    let marks = Marks::read(dir, name)?;
    if marks.overlays().next().is_none() {
        return Ok(*look);
    }
    let path = handle::through(dir, name);
    let set = |mode| rustix::fs::chmodat(dir, name, handle::mode(mode), AtFlags::empty());
    let locked = look.mode & 0o200 == 0;
    if locked {
        set(look.mode | 0o200)?;
    }
    let removed =
        marks.overlays().try_for_each(|mark| match rustix::fs::lremovexattr(&path, &**mark) {
            Ok(()) | Err(Errno::NODATA) => Ok(()),
            Err(err) => Err(err),
        });
    if locked {
        set(look.mode)?;
    }
    removed?;
    Look::at(dir, name)?.ok_or(Errno::NOENT)
}
