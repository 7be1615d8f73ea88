//! Opens a file of the workspace for a command, after it was saved.

use std::{os::fd::OwnedFd, path::PathBuf};

use rustix::{
    fs::{FileType, Mode, OFlags},
    io::Errno,
};

use super::{Keeper, op::Spot};
use crate::notify::caller::{Caller, Place};

/// A file that is about to be opened.
pub(super) struct Opening {
    place: Place,
    /// Where it is, relative to the workspace.
    pub(super) path: PathBuf,
    is_new: bool,
}

/// What an open leads to. `None`: nothing that an undo would have to do with.
pub(super) fn look(
    keeper: &Keeper,
    at: Spot,
    flags: OFlags,
    caller: &Caller,
) -> rustix::io::Result<Option<Opening>> {
    // A handle that only names, and a file that has no name.
    if flags.contains(OFlags::PATH) || flags.contains(OFlags::TMPFILE) {
        return Ok(None);
    }
    let exact = flags.contains(OFlags::NOFOLLOW) || flags.contains(OFlags::CREATE | OFlags::EXCL);
    let found = if exact { caller.spot(at) } else { caller.followed(at) };
    let place = match found {
        // A directory by one of its other names, which cannot be written.
        Err(Errno::BUSY) => return Ok(None),
        found => found?,
    };
    let Some(path) = keeper.path(&place)? else { return Ok(None) };
    let about = place.look()?;
    let sort = about.map(|it| FileType::from_raw_mode(it.st_mode));
    match sort {
        None if !flags.contains(OFlags::CREATE) => Err(Errno::NOENT),
        None | Some(FileType::RegularFile | FileType::Symlink) => {
            Ok(Some(Opening { place, path, is_new: about.is_none() }))
        }
        // Pipes and the like may wait for ever, and hold nothing.
        Some(_) => Ok(None),
    }
}

impl Opening {
    pub(super) fn open(
        &self,
        flags: OFlags,
        mode: u32,
        caller: &Caller,
    ) -> rustix::io::Result<OwnedFd> {
        let masked = if self.is_new { caller.umask()? } else { 0 };
        let mode = Mode::from_raw_mode(mode & 0o7777 & !masked);
        // Should somebody put a pipe in its place now, nobody waits for its other end.
        let hold = OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
        let file = rustix::fs::openat(&self.place.dir, self.place.raw(), flags | hold, mode)?;
        let about = rustix::fs::fstat(&file)?;
        if FileType::from_raw_mode(about.st_mode) != FileType::RegularFile {
            return Err(Errno::AGAIN);
        }
        if !flags.contains(OFlags::NONBLOCK) {
            let status = rustix::fs::fcntl_getfl(&file)?;
            rustix::fs::fcntl_setfl(&file, status - OFlags::NONBLOCK)?;
        }
        if self.is_new {
            // Our own mask has been at work, too.
            rustix::fs::fchmod(&file, mode)?;
        }
        Ok(file)
    }
}
