//! Filesystems of other machines and of programs: what their times and names can be relied on for.

use std::os::fd::OwnedFd;

use rustix::{
    fs::{AtFlags, Mode, OFlags, RenameFlags, Timespec, Timestamps},
    io::Errno,
};

use super::walk::Meta;

/// Why a command must not run on such a filesystem: tried with a file of our own in the workspace. `None`: nothing
/// is known to be missing.
pub(super) fn shortcoming(root: &OwnedFd) -> Option<&'static str> {
    let [one, two] = [1, 2].map(|it| format!(".eclusa-probe-{}-{it}", std::process::id()));
    let before = rustix::fs::fstat(root).ok()?;
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    // Where nothing can be made, nothing can be changed either.
    drop(rustix::fs::openat(root, &*one, flags, Mode::from_raw_mode(0o600)).ok()?);
    let none = AtFlags::empty();
    let linked = rustix::fs::linkat(root, &*one, root, &*two, none);
    let differ = linked.is_ok() && !tells_of_other_names(root, &one, &two);
    let _ = rustix::fs::unlinkat(root, &*two, none);
    let renamed = rustix::fs::renameat_with(root, &*one, root, &*two, RenameFlags::NOREPLACE);
    for name in [&one, &two] {
        let _ = rustix::fs::unlinkat(root, &**name, none);
    }
    let _ = rustix::fs::futimens(root, &times(&before));
    match renamed {
        _ if differ => Some(
            "what is written to a file under one name is not seen under its other one on this filesystem",
        ),
        Err(Errno::INVAL) => Some("its filesystem knows no rename that keeps what has the name"),
        _ => None,
    }
}

/// Whether a change under one name of a file is seen under the other at once. Filesystems there are whose two names are
/// two files for the kernel, which keeps what it knows of each.
fn tells_of_other_names(root: &OwnedFd, one: &str, two: &str) -> bool {
    let size = |name: &str| {
        let about = rustix::fs::statat(root, name, AtFlags::SYMLINK_NOFOLLOW);
        about.map(|it| Meta::from(it).size)
    };
    let _ = size(one);
    let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = rustix::fs::openat(root, two, flags, Mode::empty());
    let written = opened.and_then(|it| rustix::io::write(it, b"x"));
    written.is_ok() && size(one) == Ok(1)
}

#[allow(
    clippy::unnecessary_cast,
    clippy::useless_conversion,
    reason = "the fields have other widths on other machines"
)]
fn times(about: &rustix::fs::Stat) -> Timestamps {
    let time = |sec, nsec| Timespec { tv_sec: sec, tv_nsec: nsec };
    Timestamps {
        last_access: time(about.st_atime as i64, about.st_atime_nsec as _),
        last_modification: time(about.st_mtime as i64, about.st_mtime_nsec as _),
    }
}

/// Filesystems of other machines and of programs, whose times need not tell of every change: FUSE
/// and virtiofs, NFS, 9p, SMB, CIFS, AFS, Ceph, VirtualBox, Parallels.
#[cfg(target_os = "linux")]
const FOREIGN_FILESYSTEMS: [u32; 10] = [
    0x6573_5546,
    0x6969,
    0x0102_1997,
    0x517b,
    0xff53_4d42,
    0xfe53_4d42,
    0x5346_414f,
    0x00c3_6400,
    0x786f_4256,
    0x7c7c_6673,
];

#[cfg(target_os = "linux")]
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the number has 32 bits, whatever it is kept in"
)]
pub(super) fn has_trusted_times(dir: &OwnedFd) -> bool {
    let about = rustix::fs::fstatfs(dir);
    about.is_ok_and(|it| !FOREIGN_FILESYSTEMS.contains(&(it.f_type as u32)))
}

/// Nobody has looked at the filesystems of other systems.
#[cfg(not(target_os = "linux"))]
pub(super) fn has_trusted_times(_: &OwnedFd) -> bool {
    false
}
