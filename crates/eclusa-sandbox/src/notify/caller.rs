//! The process that made a call: what it said, and where its paths lead.

use std::{
    ffi::{CStr, OsStr, OsString},
    fs::File,
    os::{
        fd::{AsRawFd, OwnedFd},
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

use super::{
    kernel::{self, Call},
    undo::Spot,
};

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
    /// Whether the caller wrote a slash after the name, by which only a directory is meant.
    slash: bool,
}

/// How many links are followed one after the other.
const LINKS: usize = 40;

impl Caller {
    /// Takes hold of whoever made a call. `None`: it is gone, or out of reach.
    pub(super) fn of(call: &Call, listener: &OwnedFd) -> Option<Caller> {
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
        Ok(Place { dir: self.directory(&parent)?, name, slash: end < bytes.len() })
    }

    /// Where a path in the caller's memory leads, up to its last name.
    pub(super) fn spot(&self, at: Spot) -> rustix::io::Result<Place> {
        self.place(at.dir, &self.path(at.address).ok_or(Errno::NOENT)?)
    }

    /// The same, and if that is a link, where it leads.
    pub(super) fn followed(&self, at: Spot) -> rustix::io::Result<Place> {
        let mut place = self.spot(at)?;
        for _ in 0..LINKS {
            let proc = rustix::fs::fstatfs(&place.dir)?.f_type == libc::PROC_SUPER_MAGIC;
            let link = if proc { self.descriptor(&place) } else { place.link() };
            let next = match link {
                Ok(Some(next)) => next,
                // It is no link, or nothing is there, or nothing that a path leads to.
                Ok(None) | Err(Errno::INVAL | Errno::NOENT) => return Ok(place),
                Err(err) => return Err(err),
            };
            let slash = place.slash;
            place = self.place(libc::AT_FDCWD, &next)?;
            place.slash |= slash;
        }
        Err(Errno::LOOP)
    }

    /// The path behind a link of the kernel's, such as `/dev/fd/3`. `None`: a pipe, a terminal, or
    /// a file that has no name.
    fn descriptor(&self, place: &Place) -> rustix::io::Result<Option<PathBuf>> {
        // `/proc/self` has led us to ourselves, and would lead the caller to itself.
        let holder = place.holder()?;
        let own = format!("/proc/{}", std::process::id());
        let link = match holder.strip_prefix(own) {
            Ok(rest) => Path::new("/proc").join(self.thread.to_string()).join(rest),
            Err(_) => holder,
        };
        let path = rustix::fs::readlink(link.join(&place.name), Vec::new())?;
        let named = path.as_bytes().starts_with(b"/") && !path.as_bytes().ends_with(b" (deleted)");
        Ok(named.then(|| PathBuf::from(OsString::from_vec(path.into_bytes()))))
    }

    /// A directory that has no name of its own in the path, such as `.`, and its path.
    pub(super) fn unnamed(&self, at: Spot) -> rustix::io::Result<(OwnedFd, PathBuf)> {
        let path = self.path(at.address).ok_or(Errno::NOENT)?;
        let handle = self.directory(&self.absolute(at.dir, &path)?)?;
        let path = path_of(&handle)?;
        Ok((handle, path))
    }

    /// What the caller has open, and its path.
    pub(super) fn opened(&self, fd: i32) -> rustix::io::Result<(OwnedFd, PathBuf)> {
        let link = format!("/proc/{}/fd/{fd}", self.thread);
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let handle = rustix::fs::open(link, flags, Mode::empty()).map_err(|err| match err {
            Errno::NOENT => Errno::BADF,
            err => err,
        })?;
        let path = path_of(&handle)?;
        Ok((handle, path))
    }

    /// The bits that the caller wants no new file to have.
    pub(super) fn umask(&self) -> rustix::io::Result<u32> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.thread));
        let status = status.map_err(|_| Errno::SRCH)?;
        let line = status.lines().find_map(|it| it.strip_prefix("Umask:"));
        line.and_then(|it| u32::from_str_radix(it.trim(), 8).ok()).ok_or(Errno::SRCH)
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

/// The path of something that is open here.
fn path_of(handle: &OwnedFd) -> rustix::io::Result<PathBuf> {
    let link = format!("/proc/self/fd/{}", handle.as_raw_fd());
    let path = rustix::fs::readlink(link, Vec::new())?;
    Ok(PathBuf::from(OsString::from_vec(path.into_bytes())))
}

impl Place {
    /// The path of the directory, without links.
    fn holder(&self) -> rustix::io::Result<PathBuf> {
        path_of(&self.dir)
    }

    /// Where a link leads.
    fn link(&self) -> rustix::io::Result<Option<PathBuf>> {
        let link = rustix::fs::readlinkat(&self.dir, &self.name, Vec::new())?;
        let link = OsString::from_vec(link.into_bytes());
        Ok(Some(self.holder()?.join(link)))
    }

    /// The path, without links, but for the last name.
    pub(super) fn path(&self) -> rustix::io::Result<PathBuf> {
        Ok(self.holder()?.join(&self.name))
    }

    /// The name as the caller wrote it.
    pub(super) fn raw(&self) -> OsString {
        let mut name = self.name.clone();
        if self.slash {
            name.push("/");
        }
        name
    }

    /// What is there, not followed. `None`: nothing.
    pub(super) fn look(&self) -> rustix::io::Result<Option<Stat>> {
        match rustix::fs::statat(&self.dir, &self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(err) => Err(err),
        }
    }
}
