//! Which calls wait for an answer: two seccomp filters.

use libc::{c_long, sock_filter};

const LOAD: u16 = 0x20;
const EQUAL: u16 = 0x15;
const ANY_BIT: u16 = 0x45;
const RETURN: u16 = 0x06;

const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;

#[cfg(target_arch = "x86_64")]
const OURS: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const OURS: u32 = 0xc000_00b7;

#[cfg(target_arch = "x86_64")]
const RENAMES: &[c_long] = &[libc::SYS_rename, libc::SYS_renameat, libc::SYS_renameat2];
#[cfg(target_arch = "aarch64")]
const RENAMES: &[c_long] = &[libc::SYS_renameat, libc::SYS_renameat2];

/// Calls that change names or contents, whatever their flags.
#[cfg(target_arch = "x86_64")]
const CHANGES: &[c_long] = &[
    libc::SYS_creat,
    libc::SYS_truncate,
    libc::SYS_unlink,
    libc::SYS_unlinkat,
    libc::SYS_rmdir,
    libc::SYS_mkdir,
    libc::SYS_mkdirat,
    libc::SYS_mknod,
    libc::SYS_mknodat,
    libc::SYS_symlink,
    libc::SYS_symlinkat,
    libc::SYS_link,
    libc::SYS_linkat,
    libc::SYS_chmod,
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_fchmodat2,
];
#[cfg(target_arch = "aarch64")]
const CHANGES: &[c_long] = &[
    libc::SYS_truncate,
    libc::SYS_unlinkat,
    libc::SYS_mkdirat,
    libc::SYS_mknodat,
    libc::SYS_symlinkat,
    libc::SYS_linkat,
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_fchmodat2,
];

/// Calls that open a file, and which of their arguments has the flags.
#[cfg(target_arch = "x86_64")]
const OPENS: &[(c_long, u32)] = &[(libc::SYS_open, 1), (libc::SYS_openat, 2)];
#[cfg(target_arch = "aarch64")]
const OPENS: &[(c_long, u32)] = &[(libc::SYS_openat, 2)];

/// Flags with which an open can change something.
const WRITING: i32 = libc::O_WRONLY | libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC;

const HOLD: u32 = libc::SECCOMP_RET_USER_NOTIF;
const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;
const UNKNOWN: u32 = libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32;

fn load(at: u32) -> sock_filter {
    sock_filter { code: LOAD, jt: 0, jf: 0, k: at }
}

fn give(action: u32) -> sock_filter {
    sock_filter { code: RETURN, jt: 0, jf: 0, k: action }
}

fn jump(code: u16, value: u32, yes: u8, no: u8) -> sock_filter {
    sock_filter { code, jt: yes, jf: no, k: value }
}

/// For this machine's own system calls; others are the business of the sandbox's own filter.
fn begin() -> Vec<sock_filter> {
    vec![load(ARCHITECTURE), jump(EQUAL, OURS, 1, 0), give(ALLOW), load(NUMBER)]
}

fn hold(program: &mut Vec<sock_filter>, calls: &[c_long]) {
    for &call in calls {
        program.extend([jump(EQUAL, call as u32, 0, 1), give(HOLD)]);
    }
}

/// Holds every rename, for [`help_renames`](super::help_renames).
pub fn renames() -> Vec<sock_filter> {
    let mut program = begin();
    hold(&mut program, RENAMES);
    program.push(give(ALLOW));
    program
}

/// Holds whatever could change a file or a name, for [`keep_undo_log`](super::keep_undo_log).
///
/// `openat2` keeps its flags where no filter can look; it does not exist here, and programs fall
/// back on `openat`.
pub fn writes() -> Vec<sock_filter> {
    let mut program = begin();
    for &(call, nth) in OPENS {
        program.extend([
            jump(EQUAL, call as u32, 0, 4),
            load(16 + 8 * nth),
            jump(ANY_BIT, WRITING as u32, 0, 1),
            give(HOLD),
            give(ALLOW),
        ]);
    }
    program.extend([jump(EQUAL, libc::SYS_openat2 as u32, 0, 1), give(UNKNOWN)]);
    hold(&mut program, RENAMES);
    hold(&mut program, CHANGES);
    program.push(give(ALLOW));
    program
}
