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
    fs::{AtFlags, Mode, OFlags, ResolveFlags, Stat, Timestamps},
    io::Errno,
};

use super::{
    kernel::{self, Call},
    times,
};

/// The longest path that the kernel takes, with its end.
const PATH_MAX: usize = 4096;

/// A thread that waits for an answer, by handles that stay with it.
pub(super) struct Caller {
    thread: u32,
    memory: File,
    root: OwnedFd,
}

/// A socket of the caller's, as far as another can take its place.
pub(super) struct Socket {
    pub(super) inode: u64,
    pub(super) nonblocking: bool,
    pub(super) close_on_exec: bool,
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

    /// Whether it calls itself so. Anybody can take a name: nothing that protects may go by it.
    pub(super) fn is_named(&self, name: &str) -> bool {
        let said = std::fs::read_to_string(format!("/proc/{}/comm", self.thread));
        said.is_ok_and(|it| it.trim_end() == name)
    }

    /// The path at this address of its memory. By the time it is used, other words may be there.
    pub(super) fn path(&self, address: u64) -> Option<PathBuf> {
        let mut bytes = vec![0; PATH_MAX];
        let read = self.memory.read_at(&mut bytes, address).ok()?;
        bytes.truncate(read);
        let path = CStr::from_bytes_until_nul(&bytes).ok()?.to_bytes();
        (!path.is_empty()).then(|| PathBuf::from(OsStr::from_bytes(path)))
    }

    /// So many bytes of its memory.
    pub(super) fn bytes(&self, address: u64, length: usize) -> Option<Vec<u8>> {
        let mut bytes = vec![0; length];
        self.memory.read_exact_at(&mut bytes, address).ok().map(|()| bytes)
    }

    /// A text at this address of its memory, which is shorter than `most`.
    pub(super) fn text(&self, address: u64, most: usize) -> Option<Vec<u8>> {
        let mut bytes = vec![0; most];
        let read = self.memory.read_at(&mut bytes, address).ok()?;
        bytes.truncate(read);
        Some(CStr::from_bytes_until_nul(&bytes).ok()?.to_bytes().to_owned())
    }

    /// Two times, of whose seconds a part is so many nanoseconds; now where none are given.
    pub(super) fn times(&self, address: u64, each: i64) -> rustix::io::Result<Timestamps> {
        match address {
            0 => Ok(times::now()),
            address => times::timestamps(&self.bytes(address, 32).ok_or(Errno::FAULT)?, each),
        }
    }

    /// The same in whole seconds.
    pub(super) fn seconds(&self, address: u64) -> rustix::io::Result<Timestamps> {
        if address == 0 {
            return Ok(times::now());
        }
        let bytes = self.bytes(address, 16).ok_or(Errno::FAULT)?;
        let (access, modification) = bytes.split_at_checked(8).ok_or(Errno::FAULT)?;
        times::timestamps(&[access, &[0; 8], modification, &[0; 8]].concat(), 1)
    }

    /// What one of its descriptors is open on.
    pub(super) fn handle(&self, number: i32) -> rustix::io::Result<OwnedFd> {
        let link = match number {
            libc::AT_FDCWD => format!("/proc/{}/cwd", self.thread),
            number => format!("/proc/{}/fd/{number}", self.thread),
        };
        let opened = rustix::fs::open(link, OFlags::PATH | OFlags::CLOEXEC, Mode::empty());
        opened.map_err(|errno| if errno == Errno::NOENT { Errno::BADF } else { errno })
    }

    /// The socket behind one of its descriptors.
    pub(super) fn socket(&self, number: i32) -> rustix::io::Result<Socket> {
        let link = format!("/proc/{}/fd/{number}", self.thread);
        let link = rustix::fs::readlink(link, Vec::new()).map_err(|_| Errno::BADF)?;
        let inode =
            link.to_str().ok().and_then(|it| it.strip_prefix("socket:[")?.strip_suffix(']'));
        let inode = inode.and_then(|it| it.parse().ok()).ok_or(Errno::NOTSOCK)?;
        let about = std::fs::read_to_string(format!("/proc/{}/fdinfo/{number}", self.thread));
        let about = about.map_err(|_| Errno::BADF)?;
        let flags = about.lines().find_map(|it| it.strip_prefix("flags:"));
        let flags = flags.and_then(|it| i32::from_str_radix(it.trim(), 8).ok()).unwrap_or(0);
        Ok(Socket {
            inode,
            nonblocking: flags & libc::O_NONBLOCK != 0,
            close_on_exec: flags & libc::O_CLOEXEC != 0,
        })
    }

    /// The file that a path leads to. A path by which programs name a descriptor of their own is one.
    pub(super) fn file(
        &self,
        dir: i32,
        address: u64,
        follow: bool,
        empty: bool,
    ) -> rustix::io::Result<OwnedFd> {
        let text = self.text(address, PATH_MAX).ok_or(Errno::FAULT)?;
        if text.is_empty() {
            return if empty { self.handle(dir) } else { Err(Errno::NOENT) };
        }
        let own = [&b"/proc/self/fd/"[..], b"/proc/thread-self/fd/", b"/dev/fd/"];
        let own = own.iter().find_map(|it| text.strip_prefix(*it)).filter(|_| follow);
        if let Some(number) = own.and_then(|it| std::str::from_utf8(it).ok()?.parse().ok()) {
            return self.handle(number);
        }
        let path = self.absolute(dir, Path::new(OsStr::from_bytes(&text)))?;
        let last = if follow { OFlags::empty() } else { OFlags::NOFOLLOW };
        self.open(&path, OFlags::PATH | OFlags::CLOEXEC | last)
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
        self.open(path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC)
    }

    fn open(&self, path: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
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

/// Where a handle of this process leads.
pub(super) fn path_of(handle: &OwnedFd) -> rustix::io::Result<PathBuf> {
    let link = format!("/proc/self/fd/{}", handle.as_raw_fd());
    let path = rustix::fs::readlink(link, Vec::new())?;
    Ok(PathBuf::from(OsString::from_vec(path.into_bytes())))
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
