//! What a held call is about to do.

use rustix::fs::{AtFlags, OFlags, RenameFlags};

use crate::notify::kernel::Call;

/// A path in the memory of the caller, and the descriptor that it is relative to.
#[derive(Debug, Clone, Copy)]
pub(in crate::notify) struct Spot {
    pub(in crate::notify) dir: i32,
    pub(in crate::notify) address: u64,
}

/// A call that changes something.
#[derive(Debug, Clone, Copy)]
pub(super) enum Op {
    Open { at: Spot, flags: OFlags, mode: u32 },
    Unlink { at: Spot, flags: AtFlags },
    Mkdir { at: Spot, mode: u32 },
    Mknod { at: Spot, mode: u32 },
    Symlink { target: u64, at: Spot },
    Link { from: Spot, to: Spot, flags: AtFlags },
    Chmod { at: Spot, mode: u32, follow: bool },
    ChmodOpen { fd: i32, mode: u32 },
    Truncate { at: Spot, length: u64 },
    Rename { from: Spot, to: Spot, flags: RenameFlags },
}

/// What a call is about to do. `None`: nothing that anybody here knows.
#[expect(clippy::cast_possible_truncation, reason = "the kernel takes only the lower half, too")]
pub(super) fn read(call: &Call) -> Option<Op> {
    let [a, b, c, d, e, _] = call.arguments;
    let low = |it: u64| it as u32;
    let at = |dir: u64, address| Spot { dir: dir as u32 as i32, address };
    let opens = |it: u64| OFlags::from_bits_retain(low(it));
    let flags = |it: u64| AtFlags::from_bits_retain(low(it));
    let stays = |it: u64| !flags(it).contains(AtFlags::SYMLINK_NOFOLLOW);
    let none = RenameFlags::empty();
    if let Some(op) = short(call) {
        return Some(op);
    }
    Some(match call.number {
        libc::SYS_openat => Op::Open { at: at(a, b), flags: opens(c), mode: low(d) },
        libc::SYS_unlinkat => Op::Unlink { at: at(a, b), flags: flags(c) },
        libc::SYS_mkdirat => Op::Mkdir { at: at(a, b), mode: low(c) },
        libc::SYS_mknodat => Op::Mknod { at: at(a, b), mode: low(c) },
        libc::SYS_symlinkat => Op::Symlink { target: a, at: at(b, c) },
        libc::SYS_linkat => Op::Link { from: at(a, b), to: at(c, d), flags: flags(e) },
        libc::SYS_fchmodat => Op::Chmod { at: at(a, b), mode: low(c), follow: true },
        libc::SYS_fchmodat2 => Op::Chmod { at: at(a, b), mode: low(c), follow: stays(d) },
        libc::SYS_fchmod => Op::ChmodOpen { fd: a as u32 as i32, mode: low(b) },
        libc::SYS_renameat => Op::Rename { from: at(a, b), to: at(c, d), flags: none },
        libc::SYS_renameat2 => {
            let flags = RenameFlags::from_bits_retain(low(e));
            Op::Rename { from: at(a, b), to: at(c, d), flags }
        }
        libc::SYS_truncate => {
            let here = libc::AT_FDCWD;
            Op::Truncate { at: Spot { dir: here, address: a }, length: b }
        }
        _ => return None,
    })
}

/// The older forms, which know no directory descriptors.
#[cfg(target_arch = "x86_64")]
#[expect(clippy::cast_possible_truncation, reason = "the kernel takes only the lower half, too")]
fn short(call: &Call) -> Option<Op> {
    let [a, b, c, ..] = call.arguments;
    let low = |it: u64| it as u32;
    let at = |address| Spot { dir: libc::AT_FDCWD, address };
    let none = AtFlags::empty();
    Some(match call.number {
        libc::SYS_open => {
            Op::Open { at: at(a), flags: OFlags::from_bits_retain(low(b)), mode: low(c) }
        }
        libc::SYS_creat => {
            let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::TRUNC;
            Op::Open { at: at(a), flags, mode: low(b) }
        }
        libc::SYS_unlink => Op::Unlink { at: at(a), flags: none },
        libc::SYS_rmdir => Op::Unlink { at: at(a), flags: AtFlags::REMOVEDIR },
        libc::SYS_mkdir => Op::Mkdir { at: at(a), mode: low(b) },
        libc::SYS_mknod => Op::Mknod { at: at(a), mode: low(b) },
        libc::SYS_symlink => Op::Symlink { target: a, at: at(b) },
        libc::SYS_link => Op::Link { from: at(a), to: at(b), flags: none },
        libc::SYS_chmod => Op::Chmod { at: at(a), mode: low(b), follow: true },
        libc::SYS_rename => Op::Rename { from: at(a), to: at(b), flags: RenameFlags::empty() },
        _ => return None,
    })
}

#[cfg(not(target_arch = "x86_64"))]
fn short(_: &Call) -> Option<Op> {
    None
}
