//! What the filter refuses where there are no namespaces: what Landlock lets through.

use libc::{SYS_openat, c_long, sock_filter};

use super::{
    ALLOW, AND, ANY_BIT, AT_LEAST, EQUAL, HOLD, REFUSE, Table, UNKNOWN, argument, give, jump, load,
    refuse_bits, when,
};
use crate::arch;

/// Who is told of a descriptor, by `fcntl` and by `ioctl`.
const F_SETOWN_EX: libc::c_int = 15;
const FIOSETOWN: u32 = 0x8901;
const SIOCSPGRP: u32 = 0x8902;

/// Adds it to the table, for Landlock of this version. Where nothing may be `written`, what is known of
/// files stays too.
pub(super) fn refuse(version: u32, writes: bool, table: &mut Table) {
    nothing_of_others(table);
    no_flags_of_files(table);
    if !writes {
        table.extend(metadata_calls().map(|call| (call, vec![give(REFUSE)])));
    }
    // No C library needs them.
    table.extend([arch::SETXATTRAT, arch::REMOVEXATTRAT].map(|it| (it, vec![give(UNKNOWN)])));
    if version < 6 {
        no_hidden_signals(table);
    }
    if version < 3 {
        no_truncation_without_writing(table);
    }
}

/// Memory, queues and semaphores that all processes of a user share, and limits and priorities of any
/// process but the caller.
fn nothing_of_others(table: &mut Table) {
    let shared = [
        libc::SYS_shmget,
        libc::SYS_shmat,
        libc::SYS_shmctl,
        libc::SYS_msgget,
        libc::SYS_msgsnd,
        libc::SYS_msgrcv,
        libc::SYS_msgctl,
        libc::SYS_semget,
        libc::SYS_semop,
        libc::SYS_semtimedop,
        libc::SYS_semctl,
    ];
    table.extend(shared.map(|call| (call, vec![give(REFUSE)])));
    let of_a_process = [
        libc::SYS_prlimit64,
        libc::SYS_sched_setaffinity,
        libc::SYS_sched_setparam,
        libc::SYS_sched_setscheduler,
        libc::SYS_sched_setattr,
    ];
    let own = [load(argument(0)), jump(EQUAL, 0, 1, 0), give(REFUSE), give(ALLOW)];
    table.extend(of_a_process.map(|call| (call, own.to_vec())));
    // Which kind is said first: a process (or for `ioprio_set` one more), a group, all of a user.
    for (call, user) in [(libc::SYS_setpriority, 2), (libc::SYS_ioprio_set, 3)] {
        let mut body = vec![load(argument(0))];
        body.extend(when(AT_LEAST, user, REFUSE));
        body.extend([load(argument(1)), jump(EQUAL, 0, 1, 0), give(REFUSE), give(ALLOW)]);
        table.insert(call, body);
    }
}

/// The calls that change mode, owner, times and attributes of a file, of which Landlock knows nothing.
pub(crate) fn metadata_calls() -> impl Iterator<Item = c_long> {
    let common = [
        libc::SYS_fchmod,
        libc::SYS_fchmodat,
        arch::FCHMODAT2,
        libc::SYS_fchown,
        libc::SYS_fchownat,
        libc::SYS_utimensat,
        libc::SYS_setxattr,
        libc::SYS_lsetxattr,
        libc::SYS_fsetxattr,
        libc::SYS_removexattr,
        libc::SYS_lremovexattr,
        libc::SYS_fremovexattr,
    ];
    common.into_iter().chain(arch::METADATA.into_iter().map(|(call, _)| call))
}

/// Before its sixth version Landlock knows nothing of signals. Those that are sent by number a supervisor
/// looks at; here are the ways on which the number is not the one that counts: a handle of a process, for
/// which programs have another way, and whoever is told of a descriptor.
fn no_hidden_signals(table: &mut Table) {
    table.insert(libc::SYS_pidfd_send_signal, vec![give(UNKNOWN)]);
    let mut body = vec![load(argument(1))];
    for command in [libc::F_SETOWN, F_SETOWN_EX] {
        body.extend(when(EQUAL, command as u32, REFUSE));
    }
    body.push(give(ALLOW));
    table.insert(libc::SYS_fcntl, body);
    refuse_requests(&[FIOSETOWN, SIOCSPGRP], table);
}

/// What is known of a file can be changed through a handle that only reads: its flags, its version, and
/// that it can never be written again.
fn no_flags_of_files(table: &mut Table) {
    let requests = [
        0x4008_6602, // FS_IOC_SETFLAGS
        0x4004_6602, // the same for programs of 32 bits
        0x401c_5820, // FS_IOC_FSSETXATTR
        0x4008_7602, // FS_IOC_SETVERSION
        0x4080_6685, // FS_IOC_ENABLE_VERITY
        0x800c_6613, // FS_IOC_SET_ENCRYPTION_POLICY
    ];
    refuse_requests(&requests, table);
}

/// Adds to the requests of `ioctl` that are refused.
fn refuse_requests(requests: &[u32], table: &mut Table) {
    let mut body = vec![load(argument(1))];
    for request in requests {
        body.extend(when(EQUAL, *request, REFUSE));
    }
    let rest = table.remove(&libc::SYS_ioctl).unwrap_or_default();
    body.extend(rest.into_iter().skip(1));
    table.insert(libc::SYS_ioctl, body);
}

/// Before its third version Landlock lets files be emptied that cannot be written. `openat2` hides
/// its flags behind a pointer, and programs have another way.
fn no_truncation_without_writing(table: &mut Table) {
    table.insert(libc::SYS_truncate, vec![give(REFUSE)]);
    table.insert(libc::SYS_openat2, vec![give(UNKNOWN)]);
    for (call, flags) in [(SYS_openat, 2)].into_iter().chain(arch::OPEN) {
        let bits = (libc::O_TRUNC | libc::O_ACCMODE) as u32;
        let mut body = vec![load(argument(flags)), jump(AND, bits, 0, 0)];
        body.extend(when(EQUAL, libc::O_TRUNC as u32, REFUSE));
        body.push(give(ALLOW));
        table.insert(call, body);
    }
}

/// The calls by which C libraries make, find and remove semaphores and shared memory wait for a supervisor. They name a whole
/// path, and open it as few others do, so that hardly anything else waits.
pub(super) fn ask_for_objects(table: &mut Table) {
    let bits = (libc::O_EXCL | libc::O_NOFOLLOW) as u32;
    let opens = |flags: u32| {
        let [test, wait] = when(ANY_BIT, bits, HOLD);
        vec![load(argument(flags)), test, wait]
    };
    let by_path = |rest: Vec<sock_filter>| {
        let skip = u8::try_from(rest.len()).unwrap_or(u8::MAX);
        let mut body = vec![load(argument(0)), jump(EQUAL, libc::AT_FDCWD as u32, 0, skip)];
        body.extend(rest);
        body
    };
    let mut asked = vec![
        (SYS_openat, by_path(opens(2))),
        (libc::SYS_linkat, by_path(vec![give(HOLD)])),
        (libc::SYS_unlinkat, by_path(vec![give(HOLD)])),
    ];
    asked.extend(arch::OPEN.map(|(call, flags)| (call, opens(flags))));
    asked.extend([arch::LINK, arch::UNLINK].into_iter().flatten().map(|it| (it, vec![give(HOLD)])));
    for (call, mut body) in asked {
        // What is allowed so far comes last.
        let before = table.entry(call).or_insert_with(|| vec![give(ALLOW)]);
        before.pop();
        body.push(give(ALLOW));
        before.extend(body);
    }
}

/// TCP and nothing else; what is asked for besides is said to be unknown, so that programs do
/// without. Data that goes along with the first packet of a connection would go past the supervisor.
pub(super) fn sockets(body: &mut Vec<sock_filter>, table: &mut Table) {
    let error = |errno: i32| libc::SECCOMP_RET_ERRNO | errno as u32;
    for (family, otherwise) in
        [(libc::AF_INET, REFUSE), (libc::AF_INET6, error(libc::EAFNOSUPPORT))]
    {
        let mut rest = vec![load(argument(1)), jump(AND, 0xf, 0, 0)];
        rest.extend([jump(EQUAL, libc::SOCK_STREAM as u32, 1, 0), give(otherwise)]);
        rest.push(load(argument(2)));
        rest.extend(when(EQUAL, 0, ALLOW));
        rest.extend(when(EQUAL, libc::IPPROTO_TCP as u32, ALLOW));
        rest.push(give(error(libc::EPROTONOSUPPORT)));
        let skip = u8::try_from(rest.len()).unwrap_or(u8::MAX);
        body.push(jump(EQUAL, family as u32, 0, skip));
        body.extend(rest);
    }
    let sending = [(libc::SYS_sendto, 3), (libc::SYS_sendmsg, 2), (libc::SYS_sendmmsg, 3)];
    table.extend(sending.map(|(call, n)| (call, refuse_bits(n, libc::MSG_FASTOPEN as u32))));
}
