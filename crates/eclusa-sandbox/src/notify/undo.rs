//! A command on the real workspace, with everything it changes saved first.
//!
//! A call that changes something in the workspace is not let go on: it is made here, on the
//! handles that were looked at, so that what is saved is what is changed. Calls about anything
//! else go on, held by the namespaces of the sandbox. What this does not see: times, owners and extended
//! attributes; and a program that changes a path in its memory, from another thread, between our
//! look at a path outside the workspace and the kernel's.

use std::{
    io,
    os::fd::{AsRawFd, OwnedFd},
    path::{Path, PathBuf},
};

use rustix::{
    fs::{AtFlags, FileType, Mode, OFlags, RenameFlags},
    io::Errno,
};

use super::{
    Answer, Observer, Watching,
    caller::{Caller, Place},
    kernel::{self, Call},
    watch,
};
pub use log::UndoLog;
use op::Op;
pub(super) use op::Spot;
pub use withdraw::Withdrawn;

mod back;
mod log;
mod op;
mod open;
mod withdraw;

/// Answers the calls of a command that was started with the filter of [`writes`](super::writes),
/// and saves what it changes beneath `workspace` in `store`, an empty directory. When more than
/// `most` bytes would have to be saved, calls fail as they do on a full disk. What lies beneath
/// `live`, directories relative to the workspace, is changed and not recorded.
pub fn keep_undo_log(
    listener: OwnedFd,
    workspace: &Path,
    store: &Path,
    most: u64,
    live: &[PathBuf],
) -> io::Result<Watching<UndoLog>> {
    let log = UndoLog::begin(workspace, store, most, live)?;
    watch(listener, Keeper { log })
}

struct Keeper {
    log: UndoLog,
}

impl Observer for Keeper {
    type Found = UndoLog;

    fn answer(&mut self, call: &Call, listener: &OwnedFd) -> Answer {
        let Some(op) = op::read(call) else { return Answer::GoOn };
        // Without a hold on the caller nothing can be saved, and nothing unsaved is changed.
        let Some(caller) = Caller::of(call, listener) else { return Answer::Fail(Errno::ACCESS) };
        match self.perform(&op, &caller, call, listener) {
            Ok(answer) => answer,
            Err(errno) => Answer::Fail(errno),
        }
    }

    fn finish(self) -> UndoLog {
        self.log
    }
}

impl Keeper {
    fn perform(
        &mut self,
        op: &Op,
        caller: &Caller,
        call: &Call,
        listener: &OwnedFd,
    ) -> rustix::io::Result<Answer> {
        let done = |()| Answer::Done;
        match *op {
            Op::Open { at, flags, mode } => self.open(at, flags, mode, (caller, call, listener)),
            Op::Unlink { at, flags } => self.with(caller, at, |log, place, path| {
                log.save(path)?;
                rustix::fs::unlinkat(&place.dir, place.raw(), flags).map(done)
            }),
            Op::Mkdir { at, mode } => self.with(caller, at, |log, place, path| {
                let mode = Mode::from_raw_mode(mode & !caller.umask()?);
                log.save(path)?;
                rustix::fs::mkdirat(&place.dir, place.raw(), mode)?;
                rustix::fs::chmodat(&place.dir, &place.name, mode, AtFlags::empty()).map(done)
            }),
            Op::Mknod { at, mode } => self.with(caller, at, |log, place, path| {
                let bits = Mode::from_raw_mode(mode & 0o7777 & !caller.umask()?);
                let sort = FileType::from_raw_mode(mode);
                let sort = if mode & 0o170_000 == 0 { FileType::RegularFile } else { sort };
                log.save(path)?;
                rustix::fs::mknodat(&place.dir, place.raw(), sort, bits, 0)?;
                rustix::fs::chmodat(&place.dir, &place.name, bits, AtFlags::empty()).map(done)
            }),
            Op::Symlink { target, at } => self.with(caller, at, |log, place, path| {
                let target = caller.path(target).ok_or(Errno::FAULT)?;
                log.save(path)?;
                rustix::fs::symlinkat(target, &place.dir, place.raw()).map(done)
            }),
            Op::Link { from, to, flags } => self.link(caller, from, to, flags),
            Op::Chmod { at, mode, follow } => {
                let place = if follow { caller.followed(at) } else { caller.spot(at) };
                if place.as_ref().err() == Some(&Errno::BUSY) {
                    return self.chmod_open(caller.unnamed(at)?, mode);
                }
                self.at(place?, |log, place, path| {
                    log.save(path)?;
                    let flags = if follow { AtFlags::empty() } else { AtFlags::SYMLINK_NOFOLLOW };
                    let mode = Mode::from_raw_mode(mode);
                    rustix::fs::chmodat(&place.dir, &place.name, mode, flags).map(done)
                })
            }
            Op::ChmodOpen { fd, mode } => self.chmod_open(caller.opened(fd)?, mode),
            Op::Truncate { at, length } => {
                let place = caller.followed(at)?;
                self.at(place, |log, place, path| {
                    let flags =
                        OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
                    log.save(path)?;
                    let file = rustix::fs::openat(&place.dir, place.raw(), flags, Mode::empty())?;
                    rustix::fs::ftruncate(file, length).map(done)
                })
            }
            Op::Rename { from, to, flags } => self.rename(caller, from, to, flags),
        }
    }

    /// Does something at a name of the workspace; anywhere else the call goes on.
    fn with(
        &mut self,
        caller: &Caller,
        at: Spot,
        act: impl FnOnce(&mut UndoLog, &Place, &Path) -> rustix::io::Result<Answer>,
    ) -> rustix::io::Result<Answer> {
        self.at(caller.spot(at)?, act)
    }

    fn at(
        &mut self,
        place: Place,
        act: impl FnOnce(&mut UndoLog, &Place, &Path) -> rustix::io::Result<Answer>,
    ) -> rustix::io::Result<Answer> {
        match self.path(&place)? {
            Some(path) => act(&mut self.log, &place, &path),
            None => Ok(Answer::GoOn),
        }
    }

    /// The path of a place in the workspace. `None`: it is not there.
    fn path(&self, place: &Place) -> rustix::io::Result<Option<PathBuf>> {
        let path = place.path()?;
        Ok(self.log.inside(&path).filter(|it| !it.as_os_str().is_empty()))
    }

    /// Changes the mode of something that is open here.
    fn chmod_open(
        &mut self,
        (handle, path): (OwnedFd, PathBuf),
        mode: u32,
    ) -> rustix::io::Result<Answer> {
        match self.log.inside(&path) {
            None => return Ok(Answer::GoOn),
            // The workspace itself has no path, by which it could be told or taken back.
            Some(path) if path.as_os_str().is_empty() => return Err(Errno::PERM),
            Some(path) => self.log.save(&path)?,
        }
        let through = format!("/proc/self/fd/{}", handle.as_raw_fd());
        rustix::fs::chmod(through, Mode::from_raw_mode(mode))?;
        Ok(Answer::Done)
    }

    fn link(
        &mut self,
        caller: &Caller,
        from: Spot,
        to: Spot,
        flags: AtFlags,
    ) -> rustix::io::Result<Answer> {
        let to = caller.spot(to)?;
        if let Some(path) = self.path(&to)? {
            self.log.save(&path)?;
        }
        if flags.contains(AtFlags::EMPTY_PATH)
            && let Ok((_, path)) = caller.opened(from.dir)
            && let Some(path) = self.log.inside(&path)
        {
            self.log.save(&path)?;
        }
        let follow = flags.contains(AtFlags::SYMLINK_FOLLOW);
        let found = if follow { caller.followed(from) } else { caller.spot(from) };
        // A file without a name cannot be reached from here.
        let Ok(from) = found else { return Ok(Answer::GoOn) };
        let Some(path) = self.path(&from)? else { return Ok(Answer::GoOn) };
        // From now on it can be changed by its other name.
        self.log.save(&path)?;
        let none = AtFlags::empty();
        rustix::fs::linkat(&from.dir, from.raw(), &to.dir, to.raw(), none)?;
        Ok(Answer::Done)
    }

    fn rename(
        &mut self,
        caller: &Caller,
        from: Spot,
        to: Spot,
        flags: RenameFlags,
    ) -> rustix::io::Result<Answer> {
        // Not every filesystem can exchange, and no program relies on it.
        if !(flags - RenameFlags::NOREPLACE).is_empty() {
            return Err(Errno::INVAL);
        }
        let (from, to) = (caller.spot(from)?, caller.spot(to)?);
        let (source, target) = (self.path(&from)?, self.path(&to)?);
        if source.is_none() && target.is_none() {
            return Ok(Answer::GoOn);
        }
        let directory = from
            .look()?
            .is_some_and(|it| FileType::from_raw_mode(it.st_mode) == FileType::Directory);
        let act = || rustix::fs::renameat_with(&from.dir, from.raw(), &to.dir, to.raw(), flags);
        match (directory, &source, &target) {
            (true, Some(source), Some(target)) if source != target => {
                self.log.move_tree(source, target, act)?;
            }
            (true, Some(source), None) => {
                self.log.save_tree(source)?;
                act()?;
            }
            (true, None, Some(target)) => {
                self.log.save(target)?;
                act()?;
                self.log.arrived(target)?;
            }
            _ => {
                for path in [&source, &target].into_iter().flatten() {
                    self.log.save(path)?;
                }
                act()?;
            }
        }
        Ok(Answer::Done)
    }

    fn open(
        &mut self,
        at: Spot,
        flags: OFlags,
        mode: u32,
        (caller, call, listener): (&Caller, &Call, &OwnedFd),
    ) -> rustix::io::Result<Answer> {
        let Some(opening) = open::look(self, at, flags, caller)? else { return Ok(Answer::GoOn) };
        self.log.save(&opening.path)?;
        let file = opening.open(flags, mode, caller)?;
        let closes = flags.contains(OFlags::CLOEXEC);
        match kernel::hand_over(listener, call.id, &file, closes) {
            Ok(()) => Ok(Answer::Given),
            Err(err) => Err(err),
        }
    }
}
