//! What a command has shut against its own owner: opened for the walk, and shut again.

use std::{
    ffi::OsStr,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

use rustix::fs::{AtFlags, OFlags};

use super::handle::{self, Look, Sort};

/// Directories of the upper layer that their owner may not enter, opened for the walk. They are
/// shut again when this is dropped, the deepest first.
pub(super) struct Shut<'a> {
    upper: &'a OwnedFd,
    opened: Vec<(PathBuf, u32)>,
}

impl<'a> Shut<'a> {
    /// None is open yet.
    pub(super) fn new(upper: &'a OwnedFd) -> Shut<'a> {
        Shut { upper, opened: Vec::new() }
    }

    /// Opens a directory of the upper layer. Those above it have been opened before.
    pub(super) fn open(&mut self, path: &Path) -> rustix::io::Result<OwnedFd> {
        let handle = handle::beneath(self.upper, path, handle::SEARCH)?;
        let mode = Look::of(&handle)?.mode;
        let shut = mode & 0o500 != 0o500 && !rustix::process::geteuid().is_root();
        if shut {
            let through = handle::through(&handle, OsStr::new(""));
            rustix::fs::chmod(through, handle::mode(mode | 0o700))?;
            self.opened.push((path.to_owned(), mode));
        }
        handle::beneath(self.upper, path, OFlags::RDONLY)
    }
}

impl Drop for Shut<'_> {
    fn drop(&mut self) {
        while let Some((path, mode)) = self.opened.pop() {
            // What cannot be shut again is discarded with the layer.
            let _ = handle::beneath(self.upper, &path, OFlags::RDONLY)
                .and_then(|dir| rustix::fs::fchmod(dir, handle::mode(mode)));
        }
    }
}

/// Something in the upper layer that its owner may not read, readable until this is dropped.
pub(super) struct Readable<'a>(Option<(&'a OwnedFd, &'a OsStr, u32)>);

impl<'a> Readable<'a> {
    /// If it cannot be made readable, it will be said to be unread.
    pub(super) fn make(upper: &'a OwnedFd, name: &'a OsStr, look: &Look) -> Readable<'a> {
        let shut = matches!(look.sort, Sort::File | Sort::Directory) && look.mode & 0o400 == 0;
        let done = shut && set_mode(upper, name, look.mode | 0o400).is_ok();
        Readable(done.then_some((upper, name, look.mode)))
    }
}

impl Drop for Readable<'_> {
    fn drop(&mut self) {
        if let Some((upper, name, mode)) = self.0 {
            // What stays readable is discarded with the layer; its mode is known.
            let _ = set_mode(upper, name, mode);
        }
    }
}

fn set_mode(dir: &OwnedFd, name: &OsStr, mode: u32) -> rustix::io::Result<()> {
    rustix::fs::chmodat(dir, name, handle::mode(mode), AtFlags::empty())
}
