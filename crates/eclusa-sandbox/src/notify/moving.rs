//! Moves a directory piece by piece, and puts it back if it cannot be moved whole.

use std::{
    ffi::{OsStr, OsString},
    os::{
        fd::{AsFd, OwnedFd},
        unix::ffi::OsStringExt,
    },
    sync::atomic::{AtomicU64, Ordering},
};

use rustix::{
    fs::{AtFlags, Dir, FileType, Mode, OFlags, RenameFlags, Stat, Timespec, Timestamps},
    io::{Errno, Result},
};

use super::{caller::Place, identity};

/// How deep a tree is moved: each level has two handles open.
const DEEPEST: usize = 200;

/// Tells one temporary name from another.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// Renames a directory. True when it had to be moved piece by piece.
///
/// The pieces are gathered under a name of their own beside the destination, and take their place
/// by one rename, so that nobody sees half a directory there. What had the old directory open, or
/// works in it, is left with an empty one, which is not so with a rename of the kernel's.
pub(super) fn rename(from: &Place, to: &Place, flags: RenameFlags) -> Result<bool> {
    match rustix::fs::renameat_with(&from.dir, &from.name, &to.dir, &to.name, flags) {
        Err(Errno::XDEV) => {}
        done => return done.map(|()| false),
    }
    let source = open(&from.dir, &from.name)?;
    if is_inside(&to.dir, &source)? {
        return Err(Errno::INVAL);
    }
    fits(to, flags)?;
    let about = rustix::fs::fstat(&source)?;
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let gathered = OsString::from(format!(".eclusa-moving-{}-{number}", std::process::id()));
    rustix::fs::mkdirat(&to.dir, &gathered, Mode::from_raw_mode(0o700))?;
    let moved = open(&to.dir, &gathered).and_then(|target| {
        let moved = pieces(&source, &target, 0)
            .and_then(|()| dress(&target, &about))
            .and_then(|()| rustix::fs::renameat_with(&to.dir, &gathered, &to.dir, &to.name, flags));
        if moved.is_err() {
            // What cannot be put back stays where it is gathered, where it is seen.
            let _ = pieces(&target, &source, 0);
        }
        moved
    });
    match moved {
        Ok(()) => rustix::fs::unlinkat(&from.dir, &from.name, AtFlags::REMOVEDIR).map(|()| true),
        Err(err) => {
            let _ = rustix::fs::unlinkat(&to.dir, &gathered, AtFlags::REMOVEDIR);
            Err(err)
        }
    }
}

/// What a rename says before it does anything: a directory takes the place of nothing, or of an
/// empty directory.
fn fits(to: &Place, flags: RenameFlags) -> Result<()> {
    let Some(stat) = to.look()? else { return Ok(()) };
    if flags.contains(RenameFlags::NOREPLACE) {
        return Err(Errno::EXIST);
    }
    if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
        return Err(Errno::NOTDIR);
    }
    if names(&open(&to.dir, &to.name)?)?.is_empty() { Ok(()) } else { Err(Errno::NOTEMPTY) }
}

/// Moves everything from one directory to another.
fn pieces(source: &OwnedFd, target: &OwnedFd, depth: usize) -> Result<()> {
    if depth > DEEPEST {
        return Err(Errno::XDEV);
    }
    for name in names(source)? {
        let flags = RenameFlags::empty();
        match rustix::fs::renameat_with(source, &name, target, &name, flags) {
            Err(Errno::XDEV) => {}
            done => {
                done?;
                continue;
            }
        }
        let inner = open(source, &name)?;
        let about = rustix::fs::fstat(&inner)?;
        match rustix::fs::mkdirat(target, &name, Mode::from_raw_mode(0o700)) {
            // Half of it is here already, when it is being put back.
            Ok(()) | Err(Errno::EXIST) => {}
            Err(err) => return Err(err),
        }
        let outer = open(target, &name)?;
        pieces(&inner, &outer, depth + 1)?;
        dress(&outer, &about)?;
        rustix::fs::unlinkat(source, &name, AtFlags::REMOVEDIR)?;
    }
    Ok(())
}

/// Gives a new directory the mode and the times of the old one.
#[allow(clippy::unnecessary_cast, reason = "the fields have other widths on other machines")]
fn dress(dir: &OwnedFd, about: &Stat) -> Result<()> {
    let time = |seconds: i64, nanos: i64| Timespec { tv_sec: seconds, tv_nsec: nanos as _ };
    let times = Timestamps {
        last_access: time(about.st_atime as i64, about.st_atime_nsec as i64),
        last_modification: time(about.st_mtime as i64, about.st_mtime_nsec as i64),
    };
    rustix::fs::futimens(dir, &times)?;
    rustix::fs::fchmod(dir, Mode::from_raw_mode(about.st_mode & 0o7777))
}

/// True when a directory is the other one, or below it.
fn is_inside(dir: &OwnedFd, other: &OwnedFd) -> Result<bool> {
    let sought = identity(other)?;
    let mut at = dir.try_clone().map_err(|_| Errno::MFILE)?;
    loop {
        let here = identity(&at)?;
        if here == sought {
            return Ok(true);
        }
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let above = rustix::fs::openat(&at, "..", flags, Mode::empty())?;
        if identity(&above)? == here {
            return Ok(false);
        }
        at = above;
    }
}

fn open(dir: impl AsFd, name: &OsStr) -> Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(dir, name, flags, Mode::empty())
}

fn names(dir: &OwnedFd) -> Result<Vec<OsString>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(dir)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." {
            names.push(OsString::from_vec(name.to_vec()));
        }
    }
    Ok(names)
}
