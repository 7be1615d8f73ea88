//! The file system of a sandbox: everything read-only, a few directories of its own, and what the
//! plan makes writable at its own place.

use std::ffi::CStr;
use std::os::fd::{AsRawFd as _, BorrowedFd, OwnedFd};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};
use rustix::io::{Errno, Result};
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MountFlags, MountPropagationFlags, MoveMountFlags,
    OpenTreeFlags,
};

use super::{Done, at, at_nth, device, network, write_to};
use crate::child_spec::{ChildSpec, MAX_PATHS, Overlay};
use crate::kernel;
use crate::step::Step;

/// Descriptors of mounts that aren't attached yet.
type Detached = [Option<OwnedFd>; MAX_PATHS];

const fn none() -> Detached {
    [const { None }; MAX_PATHS]
}

pub(super) fn build(spec: &ChildSpec, hand: Option<BorrowedFd<'_>>) -> Done {
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    rustix::mount::mount_change(c"/", private).map_err(at(Step::Private))?;

    // Taken before everything becomes read-only, attached afterwards.
    let (mut binds, mut live, mut overlays) = (none(), none(), none());
    for ((n, bind), slot) in spec.binds.iter().enumerate().zip(&mut binds) {
        *slot = Some(take(&bind.source, bind.writable).map_err(at_nth(Step::Bind, n))?);
    }
    for ((n, one), slot) in spec.live.iter().enumerate().zip(&mut live) {
        *slot = Some(take_beneath(&one.root, &one.beneath).map_err(at_nth(Step::Live, n))?);
    }
    for ((n, overlay), slot) in spec.overlays.iter().enumerate().zip(&mut overlays) {
        *slot = Some(lay(overlay).map_err(at_nth(Step::Overlay, n))?);
    }
    if let (true, Some(hand), Some(Some(first))) = (spec.hands_mount, hand, overlays.first()) {
        network::hand_over(hand, first).map_err(at(Step::HandOver))?;
    }
    let tmp = spec.tmp.as_ref().map(|it| take(it, true)).transpose().map_err(at(Step::Tmp))?;
    let devices = device::take(spec.terminal.is_some());

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
            attach(mount, &bind.target).map_err(at_nth(Step::Attach, n))?;
        }
    }
    for ((n, one), mount) in spec.live.iter().enumerate().zip(&live) {
        attach(mount, &one.target).map_err(at_nth(Step::Live, n))?;
    }
    if let Some(masks) = masks {
        hide(spec, &masks)?;
    }
    if spec.proc { fresh_proc(spec) } else { Ok(()) }
}

/// A copy of the mount at `path`, not attached, on which set-user-id and devices mean nothing.
fn take(path: &CStr, writable: bool) -> Result<OwnedFd> {
    let place = open_place(path)?;
    take_from(&place, writable)
}

fn take_from(place: &OwnedFd, writable: bool) -> Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE
        | OpenTreeFlags::AT_EMPTY_PATH;
    let mount = rustix::mount::open_tree(place, c"", flags)?;
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
fn open_place(path: &CStr) -> Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    rustix::fs::openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)
}

/// An overlay that isn't attached yet. `userxattr`, because the kernel asks for it in a user
/// namespace, and so that the upper layer reads the same as root. `volatile`, because otherwise
/// its end waits for the disk. Its directories are named by descriptors: in a path `:`, `,` and `\\`
/// would mean something, and not the same on every kernel.
pub(crate) fn lay(overlay: &Overlay) -> Result<OwnedFd> {
    let context = rustix::mount::fsopen(c"overlay", FsOpenFlags::FSOPEN_CLOEXEC)?;
    rustix::mount::fsconfig_set_flag(&context, c"userxattr")?;
    let set = |key: &CStr, path: &CStr| {
        let place = open_place(path)?;
        let mut room = [0; NUMBERED];
        rustix::mount::fsconfig_set_string(&context, key, numbered(&place, &mut room)?)?;
        Ok::<_, Errno>(place)
    };
    // They are looked up as late as the filesystem is made.
    let _lower = lower(&context, overlay)?;
    let _upper = set(c"upperdir", &overlay.upper)?;
    let _work = set(c"workdir", &overlay.work)?;
    rustix::mount::fsconfig_set_flag(&context, c"volatile")?;
    rustix::mount::fsconfig_create(&context)?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    rustix::mount::fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, attributes)
}

/// The most directories that cover another, because their descriptors are kept on this stack.
const MAX_COVERS: usize = 32;

/// What the overlay reads: the directory itself, and what covers it.
fn lower(context: &OwnedFd, overlay: &Overlay) -> Result<[Option<OwnedFd>; MAX_COVERS + 1]> {
    let mut places = [const { None }; MAX_COVERS + 1];
    let mut list = [0; (MAX_COVERS + 1) * NUMBERED];
    let mut length = 0;
    if overlay.covers.len() > MAX_COVERS {
        return Err(Errno::TOOBIG);
    }
    let all = overlay.covers.iter().chain([&overlay.lower]);
    for (path, slot) in all.zip(&mut places) {
        let place = open_place(path)?;
        let mut room = [0; NUMBERED];
        let name = numbered(&place, &mut room)?.to_bytes();
        let colon: &[u8] = if length > 0 { b":" } else { b"" };
        for byte in colon.iter().chain(name) {
            *list.get_mut(length).ok_or(Errno::NAMETOOLONG)? = *byte;
            length += 1;
        }
        *slot = Some(place);
    }
    let list = CStr::from_bytes_until_nul(&list).map_err(|_| Errno::NAMETOOLONG)?;
    rustix::mount::fsconfig_set_string(context, c"lowerdir", list)?;
    Ok(places)
}

/// Room for `/proc/self/fd/` and a number.
const NUMBERED: usize = 32;

/// The name of what a descriptor is open on, made without allocating.
fn numbered<'a>(place: &OwnedFd, room: &'a mut [u8; NUMBERED]) -> Result<&'a CStr> {
    use std::io::Write as _;
    let mut rest = &mut room[..];
    write!(rest, "/proc/self/fd/{}\0", place.as_raw_fd()).map_err(|_| Errno::NAMETOOLONG)?;
    CStr::from_bytes_until_nul(room).map_err(|_| Errno::NAMETOOLONG)
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
        let hide = || attach_at(&copied(cover)?, &open_place(&mask.path)?);
        hide().map_err(at_nth(Step::Hide, n))?;
    }
    Ok(())
}

/// A further mount of a mask, which is as read-only as the one it is copied from.
fn copied(cover: &OwnedFd) -> Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_EMPTY_PATH;
    rustix::mount::open_tree(cover, c"", flags)
}

fn tmpfs(place: &CStr, options: &CStr) -> Result<()> {
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
fn fresh_proc(spec: &ChildSpec) -> Done {
    let failed = at(Step::Proc);
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    rustix::mount::mount(c"proc", c"/proc", c"proc", flags, None::<&CStr>).map_err(&failed)?;
    if let Some(most) = &spec.pid_max {
        // Since Linux 6.14 this is the namespace's own; before, it is the machine's and refused,
        // or as root must not be touched.
        if spec.own_pid_max {
            write_to(c"/proc/sys/kernel/pid_max", most).map_err(at(Step::Processes))?;
        }
    }
    kernel::mount_setattr(CWD.as_raw_fd(), c"/proc", true, kernel::RDONLY).map_err(&failed)
}
