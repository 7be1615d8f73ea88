//! The file system of a sandbox: everything read-only, a few directories of its own, and what the
//! plan makes writable at its own place.

use std::ffi::CStr;
use std::os::fd::{AsRawFd as _, BorrowedFd, OwnedFd};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};
use rustix::io::{Errno, Result};
use rustix::mount::{MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags};

use super::root::{self, NewRoot};
use super::{Done, Failed, at, at_nth, device, network, overlay, write_to};
use crate::child_spec::{ChildSpec, MAX_PATHS};
use crate::kernel;
use crate::step::Step;

/// Descriptors of mounts that aren't attached yet.
pub(super) type Detached = [Option<OwnedFd>; MAX_PATHS];

const fn none() -> Detached {
    [const { None }; MAX_PATHS]
}

/// Builds it. True when no inode of the machine is left in it that a socket could be bound to.
pub(super) fn build(
    spec: &ChildSpec,
    hand: Option<BorrowedFd<'_>>,
) -> std::result::Result<bool, Failed> {
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    rustix::mount::mount_change(c"/", private).map_err(at(Step::Private))?;

    // Taken before everything becomes read-only, attached afterwards.
    let (mut binds, mut live, mut overlays) = (none(), none(), none());
    // First, because it leaves nothing behind where it fails.
    let new_root = root::make(spec, &mut binds)?;
    for ((n, bind), slot) in spec.binds.iter().enumerate().zip(&mut binds) {
        if slot.is_some() {
            continue;
        }
        *slot = Some(take(&bind.source, bind.writable).map_err(at_nth(Step::Bind, n))?);
    }
    for ((n, one), slot) in spec.live.iter().enumerate().zip(&mut live) {
        *slot = Some(take_beneath(&one.root, &one.beneath).map_err(at_nth(Step::Live, n))?);
    }
    for ((n, one), slot) in spec.overlays.iter().enumerate().zip(&mut overlays) {
        *slot = Some(overlay::lay(one).map_err(at_nth(Step::Overlay, n))?);
    }
    if let (true, Some(hand), Some(Some(first))) = (spec.hands_mount, hand, overlays.first()) {
        network::hand_over(hand, first).map_err(at(Step::HandOver))?;
    }
    let tmp = spec.tmp.as_ref().map(|it| take(it, true)).transpose().map_err(at(Step::Tmp))?;
    let devices = device::take(spec.terminal.is_some());

    if new_root.is_some() && spec.proc {
        // While the machine's is there: otherwise a user may not mount another.
        fresh_proc(spec, root::PROC, root::PID_MAX)?;
    }
    new_root.as_ref().map_or(Ok(()), NewRoot::enter)?;
    let locked = kernel::RDONLY | kernel::NOSUID | kernel::NODEV;
    let root = CWD.as_raw_fd();
    kernel::mount_setattr(root, c"/", true, locked).map_err(at(Step::ReadOnly))?;

    let masks = prepare_masks(spec)?;
    private_directories(spec, tmp)?;
    device::build(devices)?;
    for (n, directory) in spec.directories.iter().enumerate() {
        match rustix::fs::mkdir(directory.as_c_str(), Mode::from(0o755)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return Err(at_nth(Step::Directories, n)(errno)),
        }
    }
    // What is only read lies beneath no overlay, and may lie around one.
    for ((n, bind), mount) in spec.binds.iter().enumerate().zip(&binds) {
        if !bind.writable {
            attach(mount, &bind.target).map_err(at_nth(Step::Attach, n))?;
        }
    }
    for ((n, overlay), mount) in spec.overlays.iter().enumerate().zip(&overlays) {
        attach(mount, &overlay.lower).map_err(at_nth(Step::Overlay, n))?;
    }
    for ((n, bind), mount) in spec.binds.iter().enumerate().zip(&binds) {
        if bind.writable {
            match attach(mount, &bind.target) {
                Err(Errno::NOENT) if bind.optional => {}
                attached => attached.map_err(at_nth(Step::Attach, n))?,
            }
        }
    }
    for ((n, one), mount) in spec.live.iter().enumerate().zip(&live) {
        attach(mount, &one.target).map_err(at_nth(Step::Live, n))?;
    }
    for (n, path) in spec.sealed.iter().enumerate() {
        seal(path).map_err(at_nth(Step::Seal, n))?;
    }
    if let Some(masks) = masks {
        hide(spec, &masks)?;
    }
    if spec.proc && new_root.is_none() {
        fresh_proc(spec, c"/proc", c"/proc/sys/kernel/pid_max")?;
    }
    Ok(new_root.is_some())
}

/// Lays a directory over itself, read-only. One that is missing is made in the layer around it; what is no directory
/// there is laid over itself as it is.
fn seal(path: &CStr) -> Result<()> {
    match rustix::fs::mkdir(path, Mode::from(0o755)) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(errno) => return Err(errno),
    }
    let place = open_place(path)?;
    attach_at(&take_from(&place, false)?, &place)
}

/// A copy of the mount at `path`, not attached, on which set-user-id and devices mean nothing.
fn take(path: &CStr, writable: bool) -> Result<OwnedFd> {
    let place = open_place(path)?;
    take_from(&place, writable)
}

pub(super) fn take_from(place: &OwnedFd, writable: bool) -> Result<OwnedFd> {
    let mount = copied(place, true)?;
    let locked = kernel::NOSUID | kernel::NODEV | if writable { 0 } else { kernel::RDONLY };
    kernel::mount_setattr(mount.as_raw_fd(), c"", true, locked)?;
    Ok(mount)
}

/// The same for a directory beneath another, whatever links were put in its way.
fn take_beneath(root: &CStr, beneath: &CStr) -> Result<OwnedFd> {
    let root = open_place(root)?;
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    let place = rustix::fs::openat2(&root, beneath, flags, Mode::empty(), resolve)?;
    take_from(&place, true)
}

/// Opens a real path. If somebody has put a link there since the plan was checked, it fails.
pub(super) fn open_place(path: &CStr) -> Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    rustix::fs::openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)
}

fn attach(mount: &Option<OwnedFd>, place: &CStr) -> Result<()> {
    let Some(mount) = mount else { return Err(Errno::BADF) };
    let place = open_place(place)?;
    attach_at(mount, &place)
}

pub(crate) fn attach_at(mount: &OwnedFd, place: &OwnedFd) -> Result<()> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    rustix::mount::move_mount(mount, c"", place, c"", flags)
}

/// What covers a hidden path: an empty directory and an empty file that nobody may open.
struct Masks {
    directory: OwnedFd,
    file: OwnedFd,
}

/// Makes both on a filesystem of their own, at `/run`, which is covered right after. They are
/// read-only, so that their owner can't change their mode.
fn prepare_masks(spec: &ChildSpec) -> std::result::Result<Option<Masks>, super::Failed> {
    if spec.masks.is_empty() {
        return Ok(None);
    }
    let make = || {
        tmpfs(c"/run", c"mode=755,size=4k,nr_inodes=8")?;
        let run = open_place(c"/run")?;
        rustix::fs::mkdirat(&run, c"directory", Mode::empty())?;
        let new = OFlags::CREATE | OFlags::WRONLY | OFlags::CLOEXEC;
        rustix::fs::openat(&run, c"file", new, Mode::empty())?;
        kernel::mount_setattr(run.as_raw_fd(), c"", false, kernel::RDONLY)?;
        Ok(Masks { directory: open_place(c"/run/directory")?, file: open_place(c"/run/file")? })
    };
    make().map(Some).map_err(at(Step::Masks))
}

fn hide(spec: &ChildSpec, masks: &Masks) -> Done {
    for (n, mask) in spec.masks.iter().enumerate() {
        let cover = if mask.directory { &masks.directory } else { &masks.file };
        let hide = || attach_at(&copied(cover, false)?, &open_place(&mask.path)?);
        hide().map_err(at_nth(Step::Hide, n))?;
    }
    Ok(())
}

/// A further mount of what a handle leads to, with what is mounted in it if that is `whole`: as read-only as the one
/// that it is copied from.
pub(super) fn copied(place: &OwnedFd, whole: bool) -> Result<OwnedFd> {
    let recursive = if whole { OpenTreeFlags::AT_RECURSIVE } else { OpenTreeFlags::empty() };
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_EMPTY_PATH
        | recursive;
    rustix::mount::open_tree(place, c"", flags)
}

pub(super) fn tmpfs(place: &CStr, options: &CStr) -> Result<()> {
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    rustix::mount::mount(c"tmpfs", place, c"tmpfs", flags, options)
}

/// `/tmp`, which is also `/var/tmp`, and an empty `/run`.
fn private_directories(spec: &ChildSpec, tmp: Option<OwnedFd>) -> Done {
    let failed = at(Step::Tmp);
    tmpfs(c"/run", c"mode=755,size=16m").map_err(at(Step::Run))?;
    match &tmp {
        Some(tmp) => open_place(c"/tmp").and_then(|place| attach_at(tmp, &place)),
        None => tmpfs(c"/tmp", &spec.tmp_options),
    }
    .map_err(&failed)?;
    if spec.var_tmp {
        let mount = take(c"/tmp", true).map_err(&failed)?;
        attach_at(&mount, &open_place(c"/var/tmp").map_err(&failed)?).map_err(&failed)?;
    }
    Ok(())
}

/// The processes of the sandbox and no others, read-only: its owner may otherwise set the kernel's
/// parameters, if the owner is root.
fn fresh_proc(spec: &ChildSpec, place: &CStr, pid_max: &CStr) -> Done {
    let failed = at(Step::Proc);
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    rustix::mount::mount(c"proc", place, c"proc", flags, None::<&CStr>).map_err(&failed)?;
    if let Some(most) = &spec.pid_max {
        // Since Linux 6.14 this is the namespace's own; before, it is the machine's and refused,
        // or as root must not be touched.
        if spec.own_pid_max {
            write_to(pid_max, most).map_err(at(Step::Processes))?;
        }
    }
    kernel::mount_setattr(CWD.as_raw_fd(), place, true, kernel::RDONLY).map_err(&failed)
}
