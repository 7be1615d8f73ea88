//! Reads an undo log back as effects, and takes them back.

use std::{
    ffi::OsStr,
    fs::File,
    io,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

use rustix::{
    fs::{AtFlags, FileType, Mode, OFlags, Timespec, Timestamps, UTIME_OMIT},
    io::Errno,
};

use super::log::{Step, UndoLog};
use crate::scan::{
    Effect, Effects, FileNode, Node, Note, Special,
    handle::{self, Look, Sort},
    moves::{self, Moves},
};

impl UndoLog {
    /// What the command did, as far as it lasts. The contents that were there before are in the
    /// store; those that are there now are in the workspace.
    pub fn effects(&mut self) -> io::Result<Effects> {
        let mut effects = Effects::default();
        let mut moved = Moves::default();
        let paths: Vec<PathBuf> = self.first.keys().cloned().collect();
        for path in paths {
            let (after, _) = self.node(&path, false)?;
            let before = self.first.get(&path).cloned().flatten();
            let same = match (&before, &after) {
                (Some(before), Some(after)) => before.same(after),
                (None, None) => continue,
                _ => false,
            };
            if same {
                effects.unchanged += 1;
                continue;
            }
            if let (Some(Node::File(file)), None) = (&before, &after) {
                moved.was(&path, file.stamp);
            }
            let unread = after.as_ref().and_then(Node::file).is_some_and(|it| it.digest.is_none());
            let why = || Note::Unread("it is too large".to_owned());
            let notes = unread.then(why).into_iter().collect();
            effects.entries.push(Effect { path, from: None, before, after, notes });
        }
        moves::find(&mut effects.entries, &moved);
        Ok(effects)
    }

    /// Takes everything back, the last change first, provided that everything is still as these
    /// effects say. Otherwise nothing is done, and the paths are returned that have changed since.
    pub fn undo(&mut self, effects: &Effects) -> io::Result<Vec<PathBuf>> {
        let changed = self.changed_since(effects)?;
        if changed.is_empty() {
            self.all_back()?;
        }
        Ok(changed)
    }

    /// The paths that are no longer as these effects say.
    pub(super) fn changed_since(&mut self, effects: &Effects) -> io::Result<Vec<PathBuf>> {
        let mut changed = Vec::new();
        for effect in &effects.entries {
            let (now, _) = self.node(&effect.path, false)?;
            let same = match (&now, &effect.after) {
                (Some(Node::File(now)), Some(Node::File(after))) if after.digest.is_none() => {
                    now.stamp == after.stamp
                }
                (Some(now), Some(after)) => now.same(after),
                (now, after) => now.is_none() && after.is_none(),
            };
            if !same {
                changed.push(effect.path.clone());
            }
        }
        Ok(changed)
    }

    /// Takes every step back, the last one first.
    pub(super) fn all_back(&mut self) -> io::Result<()> {
        let steps = std::mem::take(&mut self.steps);
        steps.iter().rev().try_for_each(|step| self.back(step))
    }

    fn back(&self, step: &Step) -> io::Result<()> {
        match step {
            Step::Moved { from, to } => {
                let ((from, name), (to, other)) = (self.parent(from)?, self.parent(to)?);
                Ok(rustix::fs::renameat(&to, other, &from, name)?)
            }
            Step::Was { path, node, copy } => {
                let (dir, name) = match self.parent(path) {
                    // Nothing was there, and not even a directory is.
                    Err(_) if node.is_none() => return Ok(()),
                    parent => parent?,
                };
                let now = Look::at(&dir, name)?;
                Ok(self.put(&dir, name, now, node.as_ref(), *copy)?)
            }
        }
    }

    /// Puts at a name what was there.
    fn put(
        &self,
        dir: &OwnedFd,
        name: &OsStr,
        now: Option<Look>,
        node: Option<&Node>,
        copy: Option<usize>,
    ) -> rustix::io::Result<()> {
        let sort = now.map(|it| it.sort);
        match (node, copy) {
            (None, _) => remove(dir, name, sort),
            (Some(Node::Directory { mode }), _) => {
                if sort != Some(Sort::Directory) {
                    remove(dir, name, sort)?;
                    rustix::fs::mkdirat(dir, name, Mode::from_raw_mode(0o700))?;
                }
                rustix::fs::chmodat(dir, name, Mode::from_raw_mode(*mode), AtFlags::empty())
            }
            (Some(Node::Link { target }), _) => {
                if sort == Some(Sort::Link) && handle::target(dir, name)? == *target {
                    return Ok(());
                }
                remove(dir, name, sort)?;
                rustix::fs::symlinkat(target, dir, name)
            }
            (Some(Node::File(file)), Some(copy)) => self.put_file(dir, name, now, file, copy),
            (Some(Node::Other(special)), _) if sort != Some(Sort::Other(*special)) => {
                if *special != Special::Pipe {
                    return Err(Errno::PERM);
                }
                remove(dir, name, sort)?;
                let mode = Mode::from_raw_mode(0o600);
                rustix::fs::mknodat(dir, name, FileType::Fifo, mode, 0)
            }
            (Some(Node::File(_) | Node::Other(_)), _) => Ok(()),
        }
    }

    /// Puts a file back: into the same file where it still is one, because it may have other names.
    fn put_file(
        &self,
        dir: &OwnedFd,
        name: &OsStr,
        now: Option<Look>,
        file: &FileNode,
        copy: usize,
    ) -> rustix::io::Result<()> {
        let failed = |err: io::Error| Errno::from_io_error(&err).unwrap_or(Errno::IO);
        let same =
            now.is_some_and(|it| it.sort == Sort::File && it.stamp.inode == file.stamp.inode);
        let mut flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        if same {
            let writable = Mode::from_raw_mode(file.mode | 0o200);
            rustix::fs::chmodat(dir, name, writable, AtFlags::empty())?;
            flags |= OFlags::TRUNC;
        } else {
            remove(dir, name, now.map(|it| it.sort))?;
            flags |= OFlags::CREATE | OFlags::EXCL;
        }
        let to = rustix::fs::openat(dir, name, flags, Mode::from_raw_mode(0o600))?;
        let mut to = File::from(to);
        let mut from = handle::open_file(&self.store, copy.to_string().as_ref())?;
        io::copy(&mut from, &mut to).map_err(failed)?;
        rustix::fs::fchmod(&to, Mode::from_raw_mode(file.mode))?;
        rustix::fs::futimens(&to, &modified(file.stamp.modified))
    }

    pub(super) fn parent<'a>(&self, path: &'a Path) -> rustix::io::Result<(OwnedFd, &'a OsStr)> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(Errno::INVAL);
        };
        Ok((handle::beneath(&self.root, parent, OFlags::PATH)?, name))
    }
}

fn remove(dir: &OwnedFd, name: &OsStr, sort: Option<Sort>) -> rustix::io::Result<()> {
    match sort {
        None => Ok(()),
        Some(Sort::Directory) => rustix::fs::unlinkat(dir, name, AtFlags::REMOVEDIR),
        Some(Sort::File | Sort::Link | Sort::Other(_)) => {
            rustix::fs::unlinkat(dir, name, AtFlags::empty())
        }
    }
}

fn modified(nanos: i128) -> Timestamps {
    let second = 1_000_000_000;
    let omit = Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT };
    let tv_sec = i64::try_from(nanos.div_euclid(second)).unwrap_or_default();
    let tv_nsec = i64::try_from(nanos.rem_euclid(second)).unwrap_or_default();
    #[allow(clippy::useless_conversion, reason = "the field has another width on other machines")]
    let tv_nsec = tv_nsec.into();
    Timestamps { last_access: omit, last_modification: Timespec { tv_sec, tv_nsec } }
}
