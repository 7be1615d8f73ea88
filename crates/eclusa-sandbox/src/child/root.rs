//! A root in which sockets of the file system may be used: a tmpfs that shows each directory of the machine through a
//! read-only overlay, so that no inode is left in it that somebody outside has bound a socket to.
//!
//! It is put together before anything else is done to the mounts, and taken away again where that fails: then the
//! machine's own root stays, and so does the filter that refuses such sockets.

use std::ffi::{CStr, CString};
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::{Errno, Result};
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, UnmountFlags};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};

use super::mounts::{Detached, copied, open_place, take_from, tmpfs};
use super::overlay::{self, NUMBERED, numbered};
use super::{Done, Failed, at, at_nth};
use crate::child_spec::{ChildSpec, MAX_EARLY, NO_SOCKETS, PartKind, RootLayout, RootPart};
use crate::step::Step;

/// Where it is put together: nothing is looked up beneath it afterwards.
const STAND: &CStr = c"/sys";
/// Where its `/proc` is until it is entered.
pub(super) const PROC: &CStr = c"/sys/proc";
pub(super) const PID_MAX: &CStr = c"/sys/proc/sys/kernel/pid_max";

/// The directories that every sandbox has of its own.
const OWN: [(&CStr, u32); 5] =
    [(c"proc", 0o555), (c"sys", 0o555), (c"dev", 0o755), (c"run", 0o755), (c"tmp", 0o755)];

/// A root that is put together, and not entered yet.
pub(super) struct NewRoot(OwnedFd);

/// Puts the root of a spec together, and takes what is only read beneath private directories. `None`: there is to be
/// none, or it cannot be had. The error means that what is left of it cannot be taken away.
pub(super) fn make(
    spec: &ChildSpec,
    binds: &mut Detached,
) -> std::result::Result<Option<NewRoot>, Failed> {
    let Some(layout) = &spec.root else { return Ok(None) };
    let mut stands = false;
    let failed = match put_together(layout, spec, binds, &mut stands) {
        Ok(root) => return Ok(Some(root)),
        Err(failed) => failed,
    };
    if spec.probed_sockets.is_some() {
        return Err(failed);
    }
    *binds = [const { None }; _];
    if stands {
        rustix::mount::unmount(STAND, UnmountFlags::DETACH).map_err(at(Step::Root))?;
    }
    Ok(None)
}

fn put_together(
    layout: &RootLayout,
    spec: &ChildSpec,
    binds: &mut Detached,
    stands: &mut bool,
) -> std::result::Result<NewRoot, Failed> {
    let failed = at(Step::Root);
    // What the place itself shows, before it is covered.
    let mut early = [const { None }; MAX_EARLY];
    for ((n, part), slot) in layout.parts.iter().take(layout.early).enumerate().zip(&mut early) {
        *slot = source(part, None, None).map_err(at_nth(Step::Root, n))?;
    }
    tmpfs(STAND, c"mode=755,size=4m").map_err(&failed)?;
    *stands = true;
    let root = open_place(STAND).map_err(&failed)?;
    for (name, mode) in OWN {
        rustix::fs::mkdirat(&root, name, Mode::from(mode)).map_err(&failed)?;
    }
    let open = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let empty = rustix::fs::openat(&root, c"tmp", open, Mode::empty()).map_err(&failed)?;
    if let Some(directory) = &spec.probed_sockets {
        refuses_sockets(directory, &empty).map_err(at(Step::Sockets))?;
    }
    for (n, part) in layout.parts.iter().enumerate() {
        let failed = at_nth(Step::Root, n);
        let mount = match early.get_mut(n).and_then(Option::take) {
            Some(taken) => Some(taken),
            None => source(part, Some(&empty), Some(&root)).map_err(&failed)?,
        };
        show(&root, part, mount).map_err(&failed)?;
    }
    for ((n, bind), slot) in spec.binds.iter().enumerate().zip(binds) {
        if !bind.writable {
            *slot = Some(read_only(&bind.source, &empty).map_err(at_nth(Step::Bind, n))?);
        }
    }
    Ok(NewRoot(root))
}

/// The mount of a part, if it has one.
fn source(
    part: &RootPart,
    empty: Option<&OwnedFd>,
    root: Option<&OwnedFd>,
) -> Result<Option<OwnedFd>> {
    match (&part.kind, empty) {
        (PartKind::Directory(_) | PartKind::Link(_), _) => Ok(None),
        (PartKind::Overlay, Some(empty)) => {
            let place = open_place(&part.path)?;
            match beside(root, &part.beside)? {
                Some(beside) => overlay::read_only(&place, &beside).map(Some),
                None => overlay::read_only(&place, empty).map(Some),
            }
        }
        // Made when there is something empty.
        (PartKind::Overlay, None) => Err(Errno::INVAL),
        (PartKind::Bind, _) => {
            let place = open_place(&part.path)?;
            // What the kernel says counts, and not what the table of mounts said before.
            let kind = rustix::fs::fstatfs(&place)?.f_type as u64 & 0xffff_ffff;
            if !NO_SOCKETS.iter().any(|(_, magic)| *magic == kind) {
                return Err(Errno::NOTSUP);
            }
            // It becomes read-only with everything else.
            copied(&place, true).map(Some)
        }
        (PartKind::File, _) => regular(&open_place(&part.path)?).map(Some),
        (PartKind::Tmpfs(_), _) => new_tmpfs().map(Some),
    }
}

/// The directory with those that the machine lacks, if there are any.
fn beside(root: Option<&OwnedFd>, all: &[CString]) -> Result<Option<OwnedFd>> {
    let (Some(root), Some(first)) = (root, all.first()) else { return Ok(None) };
    for path in all {
        match rustix::fs::mkdirat(root, path.as_c_str(), Mode::from(0o755)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return Err(errno),
        }
    }
    let open = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::openat(root, first.as_c_str(), open, Mode::empty()).map(Some)
}

/// A copy of the mount of a regular file.
fn regular(place: &OwnedFd) -> Result<OwnedFd> {
    let stat = rustix::fs::fstat(place)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(Errno::NOTSUP);
    }
    take_from(place, false)
}

/// What is only read beneath a private directory.
fn read_only(path: &CStr, empty: &OwnedFd) -> Result<OwnedFd> {
    let place = open_place(path)?;
    let stat = rustix::fs::fstat(&place)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory => overlay::read_only(&place, empty),
        _ => regular(&place),
    }
}

fn new_tmpfs() -> Result<OwnedFd> {
    let context = rustix::mount::fsopen(c"tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    rustix::mount::fsconfig_set_string(&context, c"size", c"1m")?;
    rustix::mount::fsconfig_create(&context)?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    rustix::mount::fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, attributes)
}

/// Makes the place of a part in the new root, and puts it there.
fn show(root: &OwnedFd, part: &RootPart, mount: Option<OwnedFd>) -> Result<()> {
    let name = part.path.as_c_str();
    let name = name.to_bytes_with_nul().get(1..).unwrap_or_default();
    let name = CStr::from_bytes_with_nul(name).map_err(|_| Errno::INVAL)?;
    let there = |made: Result<()>| match made {
        Err(Errno::EXIST) => Ok(()),
        made => made,
    };
    let mode = match &part.kind {
        PartKind::Link(to) => return rustix::fs::symlinkat(to.as_c_str(), root, name),
        PartKind::File => {
            let new = OFlags::CREATE | OFlags::WRONLY | OFlags::CLOEXEC;
            there(rustix::fs::openat(root, name, new, Mode::from(0o444)).map(drop))?;
            None
        }
        PartKind::Directory(mode) | PartKind::Tmpfs(mode) => {
            there(rustix::fs::mkdirat(root, name, Mode::from(0o755)))?;
            Some(Mode::from(*mode))
        }
        PartKind::Overlay | PartKind::Bind => {
            there(rustix::fs::mkdirat(root, name, Mode::from(0o755)))?;
            None
        }
    };
    if let Some(mount) = mount {
        let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
        rustix::mount::move_mount(&mount, c"", root, name, flags)?;
    }
    match mode {
        // Whatever the caller's mask is.
        Some(mode) => rustix::fs::chmodat(root, name, mode, AtFlags::empty()),
        None => Ok(()),
    }
}

/// The self-test: two sockets that the caller has bound in this directory are reached there, and refuse through an
/// overlay.
fn refuses_sockets(directory: &CStr, empty: &OwnedFd) -> Result<()> {
    let place = open_place(directory)?;
    let covered = overlay::read_only(&place, empty)?;
    for (kind, name) in [(SocketType::STREAM, "stream"), (SocketType::DGRAM, "datagram")] {
        connect(&place, kind, name)?;
        match connect(&covered, kind, name) {
            Err(Errno::CONNREFUSED) => {}
            Err(errno) => return Err(errno),
            Ok(()) => return Err(Errno::ISCONN),
        }
    }
    Ok(())
}

fn connect(directory: &OwnedFd, kind: SocketType, name: &str) -> Result<()> {
    let (mut room, mut path) = ([0; NUMBERED], [0; 2 * NUMBERED]);
    let parts = numbered(directory, &mut room)?.to_bytes().iter().chain(b"/");
    for (byte, slot) in parts.chain(name.as_bytes()).zip(&mut path) {
        *slot = *byte;
    }
    let path = CStr::from_bytes_until_nul(&path).map_err(|_| Errno::NAMETOOLONG)?;
    let socket = rustix::net::socket_with(AddressFamily::UNIX, kind, SocketFlags::CLOEXEC, None)?;
    rustix::net::connect(&socket, &SocketAddrUnix::new(path)?)
}

impl NewRoot {
    /// Makes it the root, and takes the machine's out of reach.
    pub(super) fn enter(&self) -> Done {
        let failed = at(Step::EnterRoot);
        rustix::process::fchdir(&self.0).map_err(&failed)?;
        rustix::process::pivot_root(c".", c".").map_err(&failed)?;
        rustix::mount::unmount(c".", UnmountFlags::DETACH).map_err(&failed)
    }
}
