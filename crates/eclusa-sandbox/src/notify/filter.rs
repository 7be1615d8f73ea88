//! Which calls wait for an answer: a seccomp filter.

use libc::{c_long, sock_filter};

use crate::arch;

const LOAD: u16 = 0x20;
const EQUAL: u16 = 0x15;
const RETURN: u16 = 0x06;

const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;

const HOLD: u32 = libc::SECCOMP_RET_USER_NOTIF;
const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;

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
    vec![load(ARCHITECTURE), jump(EQUAL, arch::AUDIT, 1, 0), give(ALLOW), load(NUMBER)]
}

fn hold(program: &mut Vec<sock_filter>, calls: &[c_long]) {
    for &call in calls {
        program.extend([jump(EQUAL, call as u32, 0, 1), give(HOLD)]);
    }
}

/// Holds every rename, for [`help_renames`](super::help_renames).
pub fn renames() -> Vec<sock_filter> {
    let mut program = begin();
    hold(&mut program, arch::NAMINGS);
    program.push(give(ALLOW));
    program
}
