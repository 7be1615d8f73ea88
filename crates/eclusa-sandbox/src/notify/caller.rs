//! The process that made a call: what it said, and where its paths lead.

use std::{
    ffi::{CStr, OsStr, OsString},
    fs::File,
    os::{
        fd::OwnedFd,
        unix::{
            ffi::{OsStrExt, OsStringExt},
            fs::FileExt,
        },
    },
    path::{Path, PathBuf},
};

use rustix::{
    fs::{AtFlags, Mode, OFlags, ResolveFlags, Stat},
    io::Errno,
};

use super::kernel::{self, Call};

/// The longest path that the kernel takes, with its end.
const PATH_MAX: usize = 4096;

/// A thread that waits for an answer, by handles that stay with it.
pub(super) struct Caller {
    thread: u32,
    memory: File,
    root: OwnedFd,
}

/// A name in a directory.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) dir: OwnedFd,
    pub(super) name: OsString,
}

impl Caller {
    /// Takes hold of whoever made a call. `None`: it is gone, or out of reach.
    pub(super) fn new(call: &Call, listener: &OwnedFd) -> Option<Caller> {
        let thread = call.thread;
        let memory = File::open(format!("/proc/{thread}/mem")).ok()?;
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = rustix::fs::open(format!("/proc/{thread}/root"), flags, Mode::empty()).ok()?;
        // The number of a thread that ended may have been given to another.
        kernel::is_valid(listener, call.id).then_some(Caller { thread, memory, root })
    }

    /// The path at this address of its memory. By the time it is used, other words may be there.
    pub(super) fn path(&self, address: u64) -> Option<PathBuf> {
        let mut bytes = vec![0; PATH_MAX];
        let read = self.memory.read_at(&mut bytes, address).ok()?;
        bytes.truncate(read);
        let path = CStr::from_bytes_until_nul(&bytes).ok()?.to_bytes();
        (!path.is_empty()).then(|| PathBuf::from(OsStr::from_bytes(path)))
    }

    /// Where a path leads that is relative to a directory descriptor of the caller, up to its last
    /// name, which is not followed. Links on the way are followed as they would be for the caller.
    pub(super) fn place(&self, dir: i32, path: &Path) -> rustix::io::Result<Place> {
        // `Path` forgets slashes and dots at the end, which the kernel does not.
        let bytes = path.as_os_str().as_bytes();
        let end = bytes.iter().rposition(|it| *it != b'/').ok_or(Errno::BUSY)? + 1;
        let trimmed = bytes.get(..end).unwrap_or_default();
        let start = trimmed.iter().rposition(|it| *it == b'/').map_or(0, |at| at + 1);
        let (parent, name) = trimmed.split_at_checked(start).ok_or(Errno::INVAL)?;
        if name == b"." || name == b".." {
            return Err(Errno::BUSY);
        }
        let parent = self.absolute(dir, Path::new(OsStr::from_bytes(parent)))?;
        let name = OsStr::from_bytes(name).to_owned();
        Ok(Place { dir: self.directory(&parent)?, name })
    }

    /// A directory by its path from the caller's root.
    pub(super) fn directory(&self, path: &Path) -> rustix::io::Result<OwnedFd> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let resolve = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
        loop {
            match rustix::fs::openat2(&self.root, path, flags, Mode::empty(), resolve) {
                Err(Errno::AGAIN | Errno::INTR) => {}
                opened => return opened,
            }
        }
    }

    fn absolute(&self, dir: i32, path: &Path) -> rustix::io::Result<PathBuf> {
        if path.is_absolute() {
            return Ok(path.to_owned());
        }
        let link = match dir {
            libc::AT_FDCWD => format!("/proc/{}/cwd", self.thread),
            dir => format!("/proc/{}/fd/{dir}", self.thread),
        };
        let base = rustix::fs::readlink(link, Vec::new())?;
        let base = PathBuf::from(OsString::from_vec(base.into_bytes()));
        if base.is_absolute() { Ok(base.join(path)) } else { Err(Errno::BADF) }
    }
}

impl Place {
    /// What is there, not followed. `None`: nothing.
    pub(super) fn look(&self) -> rustix::io::Result<Option<Stat>> {
        match rustix::fs::statat(&self.dir, &self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(err) => Err(err),
        }
    }
}
