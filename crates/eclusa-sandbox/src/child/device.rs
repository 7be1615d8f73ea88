//! A `/dev` with nothing in it that could do harm.

use std::ffi::CStr;
use std::os::fd::OwnedFd;

use rustix::fs::{CWD, Mode, OFlags};
use rustix::mount::{MountFlags, MoveMountFlags, OpenTreeFlags};

use super::{Done, at};
use crate::step::Step;

/// The devices, where they are and what they are called.
const DEVICES: [(&CStr, &CStr); 6] = [
    (c"/dev/null", c"null"),
    (c"/dev/zero", c"zero"),
    (c"/dev/full", c"full"),
    (c"/dev/random", c"random"),
    (c"/dev/urandom", c"urandom"),
    TERMINAL,
];

/// The terminal that controls whoever opens it; there for a command that has one.
const TERMINAL: (&CStr, &CStr) = (c"/dev/tty", c"tty");

const LINKS: [(&CStr, &CStr); 5] = [
    (c"/proc/self/fd", c"fd"),
    (c"/proc/self/fd/0", c"stdin"),
    (c"/proc/self/fd/1", c"stdout"),
    (c"/proc/self/fd/2", c"stderr"),
    (c"pts/ptmx", c"ptmx"),
];

/// The devices' own mounts, taken while devices still mean something.
pub(super) type Devices = [Option<OwnedFd>; DEVICES.len()];

pub(super) fn take(terminal: bool) -> Devices {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
    DEVICES.map(|it| match terminal || it != TERMINAL {
        true => rustix::mount::open_tree(CWD, it.0, flags).ok(),
        false => None,
    })
}

pub(super) fn build(devices: Devices) -> Done {
    let failed = at(Step::Dev);
    let flags = MountFlags::NOSUID;
    let options = c"mode=755,size=64m";
    rustix::mount::mount(c"tmpfs", c"/dev", c"tmpfs", flags, options).map_err(&failed)?;
    let open = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let dev = rustix::fs::open(c"/dev", open, Mode::empty()).map_err(&failed)?;
    for ((_, name), device) in DEVICES.iter().zip(devices) {
        let Some(device) = device else { continue };
        let new = OFlags::CREATE | OFlags::WRONLY | OFlags::CLOEXEC;
        rustix::fs::openat(&dev, *name, new, Mode::from(0o666)).map_err(&failed)?;
        let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
        rustix::mount::move_mount(&device, c"", &dev, *name, flags).map_err(&failed)?;
    }
    for (name, mode) in [(c"shm", 0o1777), (c"pts", 0o755)] {
        rustix::fs::mkdirat(&dev, name, Mode::from(mode)).map_err(&failed)?;
    }
    for (to, name) in LINKS {
        rustix::fs::symlinkat(to, &dev, name).map_err(&failed)?;
    }
    let flags = MountFlags::NOSUID | MountFlags::NOEXEC;
    let options = c"newinstance,ptmxmode=0666,mode=620";
    // Terminals of its own; a kernel without them leaves the directory empty.
    let _ = rustix::mount::mount(c"devpts", c"/dev/pts", c"devpts", flags, options);
    Ok(())
}
