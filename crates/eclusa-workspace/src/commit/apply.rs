//! Takes steps and takes them back. Which steps were taken is told by what is in their slots,
//! where nobody else has business, so that a step can be taken back at any time, twice if need be.

use std::{
    collections::{HashMap, HashSet},
    ffi::OsStr,
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::PathBuf,
    sync::Arc,
};

use rustix::{
    fs::{AtFlags, Mode, OFlags, RenameFlags},
    io::Errno,
};

use super::{
    IoFailure,
    conflict::{Clash, Conflict},
    op::{Op, StepKind},
    parents::{self, Parents, RootDirs},
    stat::{self, Expected, Kind, NodeContent, Stat},
};
use crate::files::beneath::SEARCH;

/// Some filesystems in programs (FUSE) know no other rename than the one that replaces.
const NO_EXCHANGE: &str = "this filesystem cannot exchange or keep what has a name when it renames \
                           (`renameat2`), which is needed so that nothing is lost";

/// Where steps are taken.
pub(crate) struct Applier<'a> {
    pub(crate) parents: Parents<'a>,
    /// The slots of the transaction that is going on.
    own: BorrowedFd<'a>,
    /// Finished transactions, whose slots an undo uses.
    done: BorrowedFd<'a>,
    homes: HashMap<String, Arc<OwnedFd>>,
    /// The modes that steps give a path, where several do.
    modes: HashMap<PathBuf, HashSet<u32>>,
}

/// Why a step was not taken, or must be taken back.
pub(crate) enum StepError {
    Clash(Conflict),
    IoFailure(IoFailure),
}

impl From<IoFailure> for StepError {
    fn from(fault: IoFailure) -> StepError {
        StepError::IoFailure(fault)
    }
}

impl<'a> Applier<'a> {
    pub(crate) fn new(root: &'a RootDirs, own: &'a OwnedFd, done: &'a OwnedFd) -> Applier<'a> {
        let (own, done) = (own.as_fd(), done.as_fd());
        let (homes, modes) = (HashMap::new(), HashMap::new());
        Applier { parents: Parents::new(root), own, done, homes, modes }
    }

    /// Before several steps are taken back: notes what they made of modes, so that none takes
    /// another's for somebody else's.
    pub(crate) fn know<'b>(&mut self, ops: impl Iterator<Item = &'b Op>) {
        for op in ops.filter(|it| it.act == StepKind::Mode) {
            let modes = self.modes.entry(op.path.clone()).or_default();
            modes.extend(op.old.iter().chain(&op.new).map(|it| it.mode));
        }
    }

    /// Takes a step, and makes sure that what it moved out is what it should have.
    pub(crate) fn apply(&mut self, op: &Op) -> Result<(), StepError> {
        let clash = |clash| StepError::Clash(Conflict { path: op.path.clone(), clash });
        match self.attempt(op) {
            Ok(()) => {}
            Err(err) if parents::is_absent(&err) => {
                let absent =
                    if op.act == StepKind::Put { Clash::NoDirectory } else { Clash::Deleted };
                return Err(clash(absent));
            }
            Err(err) if err.kind() == io::ErrorKind::AlreadyExists => {
                return Err(clash(Clash::Appeared));
            }
            Err(err) => return Err(IoFailure::at("change", &op.path)(err).into()),
        }
        if op.moves_directory() {
            self.parents.forget();
        }
        if matches!(op.act, StepKind::Swap | StepKind::Take)
            && let Some(old) = &op.old
            && let Some(found) =
                self.came_out(op, old).map_err(IoFailure::at("look at", &op.path))?
        {
            return Err(clash(found));
        }
        Ok(())
    }

    fn attempt(&mut self, op: &Op) -> io::Result<()> {
        let dir = self.parents.of(&op.path)?;
        let name = parents::name(&op.path);
        let slot = op.slot.to_string();
        if op.act == StepKind::Mode {
            return set_mode(&dir, name, op.old.as_ref(), op.new.as_ref());
        }
        let slots = self.slots(op)?;
        let slots = slots.as_ref().map_or(self.own, |it| it.as_fd());
        let (only_new, exchange) = (RenameFlags::NOREPLACE, RenameFlags::EXCHANGE);
        let renamed = match op.act {
            StepKind::Put => rustix::fs::renameat_with(slots, &*slot, &*dir, name, only_new),
            StepKind::Swap => rustix::fs::renameat_with(slots, &*slot, &*dir, name, exchange),
            StepKind::Take => rustix::fs::renameat_with(&*dir, name, slots, &*slot, only_new),
            StepKind::Mode => Ok(()),
        };
        renamed.map_err(|err| match err {
            Errno::INVAL => io::Error::other(NO_EXCHANGE),
            err => err.into(),
        })
    }

    /// What is wrong with what a step moved out of the workspace.
    fn came_out(&mut self, op: &Op, old: &Expected) -> io::Result<Option<Clash>> {
        let Some(now) = self.aside(op)? else { return Ok(Some(Clash::Deleted)) };
        if now.kind != old.what.kind() {
            return Ok(Some(Clash::Replaced { by: now.kind.article() }));
        }
        if !now.is_still(old) {
            return Ok(Some(Clash::Altered));
        }
        if now.mode != old.mode && !matches!(old.what, NodeContent::Link(_)) {
            return Ok(Some(Clash::Mode { expected: old.mode, found: now.mode }));
        }
        if old.what == NodeContent::Directory {
            let slots = self.slots(op)?;
            let slots = slots.as_ref().map_or(self.own, |it| it.as_fd());
            let inside = stat::names(stat::open_dir(slots, op.slot.to_string().as_ref())?)?;
            return Ok(inside.first().map(|it| Clash::NotEmpty { holds: op.path.join(it) }));
        }
        Ok(None)
    }

    /// Takes a step back if it was taken. True: there was nothing to do, or it is done. False:
    /// somebody has changed the path meanwhile, and what they did stays.
    pub(crate) fn revert(&mut self, op: &Op) -> io::Result<bool> {
        let aside = if op.act == StepKind::Mode { None } else { self.aside(op)? };
        let taken = match (op.act, &aside, &op.new) {
            (StepKind::Put, aside, _) => aside.is_none() && !self.has_not_left(op)?,
            (StepKind::Take, aside, _) => aside.is_some(),
            (StepKind::Swap, Some(aside), Some(new)) => {
                new.id.is_none_or(|it| it.inode != aside.id.inode)
            }
            (StepKind::Swap, ..) => false,
            (StepKind::Mode, ..) => true,
        };
        if !taken {
            return Ok(true);
        }
        let dir = match self.parents.of(&op.path) {
            Ok(dir) => dir,
            // A step on the mode of what is in no directory was not taken yet.
            Err(err) if parents::is_absent(&err) => return Ok(op.act == StepKind::Mode),
            Err(err) => return Err(err),
        };
        let now = Stat::at(&*dir, parents::name(&op.path))?;
        let ours = match (&now, &op.new) {
            (Some(now), Some(new)) => now.is_still(new),
            (None, None) => true,
            _ => false,
        };
        if op.act == StepKind::Mode {
            return restore_mode(&dir, op, now, self.modes.get(&op.path));
        }
        if !ours || (op.moves_directory() && !self.is_bare(op, &dir)?) {
            return Ok(false);
        }
        self.shut_again(op, aside)?;
        let back = Op { home: op.home.clone(), ..op.inverse("") };
        match self.attempt(&back) {
            Ok(()) => {}
            Err(err) if err.kind() == io::ErrorKind::AlreadyExists => return Ok(false),
            Err(err) => return Err(err),
        }
        if op.moves_directory() {
            self.parents.forget();
        }
        // Whatever came out now would be thrown away, so it had better be ours.
        match &op.new {
            Some(new) => Ok(self.aside(op)?.is_some_and(|it| it.is_still(new))),
            None => Ok(true),
        }
    }

    /// What was made readable to be copied out of its slot goes back as it was.
    fn shut_again(&mut self, op: &Op, aside: Option<Stat>) -> io::Result<()> {
        let (Some(aside), Some(old)) = (aside, &op.old) else { return Ok(()) };
        if aside.kind == Kind::File && old.mode & 0o400 == 0 && aside.mode == old.mode | 0o400 {
            let slots = self.slots(op)?;
            let slots = slots.as_ref().map_or(self.own, |it| it.as_fd());
            let (name, mode) = (op.slot.to_string(), stat::mode(old.mode));
            rustix::fs::chmodat(slots, &*name, mode, AtFlags::empty())?;
        }
        Ok(())
    }

    /// True when what a step brings from another path is still there, so that its empty slot does
    /// not say that the step was taken.
    fn has_not_left(&mut self, op: &Op) -> io::Result<bool> {
        let (Some(other), Some(new)) = (&op.other, &op.new) else { return Ok(false) };
        let stat = match self.parents.of(other) {
            Ok(dir) => Stat::at(&*dir, parents::name(other))?,
            Err(err) if parents::is_absent(&err) => None,
            Err(err) => return Err(err),
        };
        Ok(stat.is_some_and(|it| new.id.is_some_and(|new| new.inode == it.id.inode)))
    }

    /// True unless what goes back is a directory in which somebody has put something.
    fn is_bare(&self, op: &Op, dir: &OwnedFd) -> io::Result<bool> {
        if !op.new.as_ref().is_some_and(|it| it.what == NodeContent::Directory) {
            return Ok(true);
        }
        Ok(stat::names(stat::open_dir(dir, parents::name(&op.path))?)?.is_empty())
    }

    /// What is in the slot of a step.
    pub(crate) fn aside(&mut self, op: &Op) -> io::Result<Option<Stat>> {
        let slots = self.slots(op)?;
        let slots = slots.as_ref().map_or(self.own, |it| it.as_fd());
        Stat::at(slots, op.slot.to_string().as_ref())
    }

    /// The directory that has the slot of a step. `None`: the transaction's own.
    fn slots(&mut self, op: &Op) -> io::Result<Option<Arc<OwnedFd>>> {
        let Some(home) = &op.home else { return Ok(None) };
        if let Some(handle) = self.homes.get(home) {
            return Ok(Some(handle.clone()));
        }
        let handle = Arc::new(stat::open_dir(self.done, home.as_ref())?);
        self.homes.insert(home.clone(), handle.clone());
        Ok(Some(handle))
    }

    /// Makes renames last, also through a power failure.
    pub(crate) fn sync(&mut self, ops: &[&Op], root: &RootDirs) -> io::Result<()> {
        const MANY: usize = 16;
        let dirs: HashSet<PathBuf> =
            ops.iter().filter_map(|it| it.path.parent()).map(PathBuf::from).collect();
        if dirs.len() > MANY {
            stat::sync_filesystem(root)?;
        } else {
            for dir in &dirs {
                match self.parents.of(&dir.join("_")) {
                    Ok(handle) => match rustix::fs::fsync(&*handle) {
                        // It may not be read, and there is no other handle of it.
                        Err(Errno::BADF) => stat::sync_filesystem(root)?,
                        synced => synced?,
                    },
                    // It went with this transaction, and its parent is among these.
                    Err(err) if parents::is_absent(&err) => {}
                    Err(err) if parents::is_shut(&err) => stat::sync_filesystem(root)?,
                    Err(err) => return Err(err),
                }
            }
        }
        self.homes.values().try_for_each(|it| Ok(rustix::fs::fsync(&**it)?))
    }
}

/// After the last step: notes when each path was last changed. What somebody changed right after
/// is their change, and an undo will see it; what cannot be reached by its path was never made.
pub(crate) fn settle(ops: &mut [&mut Op], parents: &mut Parents<'_>) -> Result<(), StepError> {
    let mut seen = HashSet::new();
    for op in ops.iter_mut().rev() {
        let last = seen.insert(op.path.clone());
        let Op { path, new, .. } = &mut **op;
        let Some(new) = new else { continue };
        let stat = match parents.of(path) {
            Ok(dir) => match Stat::at(&*dir, parents::name(path)) {
                // It was shut by the last steps: nobody can look into it now.
                Err(err) if parents::is_shut(&err) => None,
                stat => stat.map_err(IoFailure::at("look at", path))?,
            },
            Err(err) if parents::is_absent(&err) && last => {
                let clash = Clash::NoDirectory;
                return Err(StepError::Clash(Conflict { path: path.clone(), clash }));
            }
            Err(_) => None,
        };
        let ours = stat.filter(|it| last && it.is_still(new) && it.mode == new.mode);
        if let Some(id) = &mut new.id {
            id.changed = ours.and_then(|it| it.id.changed);
        }
    }
    Ok(())
}

/// Sets a mode on exactly the node that is expected, not on what may have taken its place.
fn set_mode(
    dir: &OwnedFd,
    name: &OsStr,
    old: Option<&Expected>,
    new: Option<&Expected>,
) -> io::Result<()> {
    let (Some(old), Some(new)) = (old, new) else { return Err(Errno::INVAL.into()) };
    let mode = stat::mode(new.mode);
    let flags = SEARCH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let node = rustix::fs::openat(dir, name, flags, Mode::empty())?;
    let stat = Stat::from(rustix::fs::fstat(&node)?);
    if !stat.is_still(old) || stat.mode != old.mode {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    // A handle that is good for nothing but naming the node works for nodes that may not be read.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    match rustix::fs::openat(dir, name, flags, Mode::empty()) {
        Ok(open) if Stat::from(rustix::fs::fstat(&open)?).id.inode == stat.id.inode => {
            Ok(rustix::fs::fchmod(open, mode)?)
        }
        Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
        Err(Errno::ACCESS) => {
            let through = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&node));
            Ok(rustix::fs::chmod(through, mode)?)
        }
        Err(err) => Err(err.into()),
    }
}

/// Takes back a change of mode. What has a mode by now that no step gave it was changed by somebody
/// else.
fn restore_mode(
    dir: &OwnedFd,
    op: &Op,
    now: Option<Stat>,
    known: Option<&HashSet<u32>>,
) -> io::Result<bool> {
    let (Some(now), Some(old), Some(new)) = (now, &op.old, &op.new) else { return Ok(true) };
    let same = old.id.is_none_or(|it| it.inode == now.id.inode);
    if !same || now.mode == old.mode {
        // Another node is there only if a step before this one was never taken.
        return Ok(true);
    }
    if now.mode != new.mode {
        return Ok(known.is_some_and(|it| it.contains(&now.mode)));
    }
    let current = Expected { id: Some(now.id), ..new.clone() };
    set_mode(dir, parents::name(&op.path), Some(&current), Some(old))?;
    Ok(true)
}
