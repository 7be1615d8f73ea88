//! Overlays that aren't attached yet.

use std::ffi::CStr;
use std::os::fd::{AsRawFd as _, OwnedFd};

use rustix::io::{Errno, Result};
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags};

use super::mounts::open_place;
use crate::child_spec::Overlay;

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
pub(super) const NUMBERED: usize = 32;

/// The name of what a descriptor is open on, made without allocating.
pub(super) fn numbered<'a>(place: &OwnedFd, room: &'a mut [u8; NUMBERED]) -> Result<&'a CStr> {
    use std::io::Write as _;
    let mut rest = &mut room[..];
    write!(rest, "/proc/self/fd/{}\0", place.as_raw_fd()).map_err(|_| Errno::NAMETOOLONG)?;
    CStr::from_bytes_until_nul(room).map_err(|_| Errno::NAMETOOLONG)
}

/// What a directory shows, read-only, by inodes of the overlay's own: the kernel finds sockets of the file system by
/// their inodes, so nobody is reached through it who has bound one outside. Without an upper layer the kernel
/// asks for two lower ones: the other is `empty`.
pub(super) fn read_only(place: &OwnedFd, empty: &OwnedFd) -> Result<OwnedFd> {
    let context = rustix::mount::fsopen(c"overlay", FsOpenFlags::FSOPEN_CLOEXEC)?;
    rustix::mount::fsconfig_set_flag(&context, c"userxattr")?;
    // Files and directories are on one device, as they are without it.
    rustix::mount::fsconfig_set_string(&context, c"xino", c"auto")?;
    let (mut one, mut other, mut list) = ([0; NUMBERED], [0; NUMBERED], [0; 2 * NUMBERED]);
    let names = numbered(place, &mut one)?.to_bytes().iter().chain(b":");
    let names = names.chain(numbered(empty, &mut other)?.to_bytes_with_nul());
    for (byte, slot) in names.zip(&mut list) {
        *slot = *byte;
    }
    let list = CStr::from_bytes_until_nul(&list).map_err(|_| Errno::NAMETOOLONG)?;
    rustix::mount::fsconfig_set_string(&context, c"lowerdir", list)?;
    rustix::mount::fsconfig_create(&context)?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID
        | MountAttrFlags::MOUNT_ATTR_NODEV
        | MountAttrFlags::MOUNT_ATTR_RDONLY;
    rustix::mount::fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, attributes)
}
