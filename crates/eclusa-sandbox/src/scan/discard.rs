//! Removes a layer and everything in it, whatever the command left there.

use std::{
    ffi::{OsStr, OsString},
    io,
    os::fd::{AsFd, OwnedFd},
    path::Path,
};

use rustix::{
    fs::{AtFlags, Mode, OFlags},
    io::Errno,
};

use super::handle::{self, Look, Sort};

/// Removes a directory with everything in it: the one that holds the upper layer and the overlay's
/// work directory. Modes do not hold it up, nor does depth; nothing outside is touched, because
/// no link is followed and no mount is entered. What is not there is no error.
pub fn discard(dir: &Path) -> io::Result<()> {
    let Some((parent, name)) = place(dir)? else { return Ok(()) };
    clear_away(&parent, name)?;
    Ok(rustix::fs::unlinkat(&parent, name, AtFlags::REMOVEDIR)?)
}

/// The same, but the directory itself stays.
pub(crate) fn empty(dir: &Path) -> io::Result<()> {
    let Some((parent, name)) = place(dir)? else { return Err(Errno::NOENT.into()) };
    Ok(clear_away(&parent, name)?)
}

/// Where a directory is. `None`: nowhere.
fn place(dir: &Path) -> io::Result<Option<(OwnedFd, &OsStr)>> {
    let (Some(parent), Some(name)) = (dir.parent(), dir.file_name()) else {
        return Err(io::Error::other("the root directory cannot be discarded"));
    };
    let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
    let flags = handle::SEARCH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let parent = match rustix::fs::open(parent, flags, Mode::empty()) {
        Ok(parent) => parent,
        Err(Errno::NOENT) => return Ok(None),
        Err(err) => return Err(err.into()),
    };
    match Look::at(&parent, name)? {
        None => Ok(None),
        Some(look) if look.sort == Sort::Directory => Ok(Some((parent, name))),
        Some(_) => Err(io::Error::from(Errno::NOTDIR)),
    }
}

/// How many names are read at a time.
const BATCH: usize = 4096;

/// Empties a directory from its deepest end, with one handle open however deep it is.
fn clear_away(parent: &OwnedFd, name: &OsStr) -> rustix::io::Result<()> {
    let mut here = enter(parent, name)?;
    let mut way: Vec<OsString> = vec![name.to_owned()];
    while let Some(last) = way.last().cloned() {
        match clear(&here)? {
            Some(inner) => {
                here = enter(&here, &inner)?;
                way.push(inner);
            }
            None => {
                way.pop();
                if way.is_empty() {
                    return Ok(());
                }
                let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
                here = rustix::fs::openat(&here, "..", flags, Mode::empty())?;
                rustix::fs::unlinkat(&here, &last, AtFlags::REMOVEDIR)?;
            }
        }
    }
    Ok(())
}

/// Removes what is no directory, and empty directories. Returns one that is not empty; none when
/// nothing is left.
fn clear(dir: &OwnedFd) -> rustix::io::Result<Option<OsString>> {
    loop {
        // A handle of its own, because the one that we have remembers how far it was read.
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let list = rustix::fs::openat(dir, ".", flags, Mode::empty())?;
        let names = handle::names(list, BATCH)?;
        if names.is_empty() {
            return Ok(None);
        }
        for name in names {
            let removed = match rustix::fs::unlinkat(dir, &name, AtFlags::empty()) {
                Err(Errno::ISDIR | Errno::PERM) => {
                    rustix::fs::unlinkat(dir, &name, AtFlags::REMOVEDIR)
                }
                removed => removed,
            };
            match removed {
                Ok(()) | Err(Errno::NOENT) => {}
                Err(Errno::NOTEMPTY | Errno::EXIST) => return Ok(Some(name)),
                Err(err) => return Err(err),
            }
        }
    }
}

/// Opens a directory to empty it, whatever its mode.
fn enter(parent: impl AsFd, name: &OsStr) -> rustix::io::Result<OwnedFd> {
    let full = Mode::from_raw_mode(0o700);
    let flags = handle::SEARCH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let node = rustix::fs::openat(&parent, name, flags, Mode::empty())?;
    if Look::of(&node)?.mode & 0o700 != 0o700 {
        rustix::fs::chmod(handle::through(&node, OsStr::new("")), full)?;
    }
    handle::beneath(&parent, Path::new(name), OFlags::RDONLY)
}
