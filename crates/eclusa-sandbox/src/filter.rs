//! Which system calls a sandbox refuses: a seccomp filter, written down as a table.
//!
//! A list of what is allowed would break programs whenever a C library learns a new call; a list
//! of what is refused would miss calls that a newer kernel adds. So: what is known to be dangerous
//! is refused by name, everything newer than this table doesn't exist, and the rest is allowed.

use std::collections::BTreeMap;

use libc::{ENOSYS, EPERM, c_long, sock_filter};

use crate::arch;

mod alone;

pub(crate) use alone::metadata_calls;

/// Where the kernel puts what a filter may look at.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;

/// The lower half of an argument, counted from 0.
const fn argument(n: u32) -> u32 {
    16 + 8 * n
}

const LOAD: u16 = 0x20;
const EQUAL: u16 = 0x15;
const AT_LEAST: u16 = 0x35;
const ANY_BIT: u16 = 0x45;
const AND: u16 = 0x54;
const RETURN: u16 = 0x06;

/// The newest system call that this table has an opinion on (`removexattrat`).
const NEWEST: u32 = 466;

const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;
const REFUSE: u32 = libc::SECCOMP_RET_ERRNO | EPERM as u32;
const UNKNOWN: u32 = libc::SECCOMP_RET_ERRNO | ENOSYS as u32;
const HOLD: u32 = libc::SECCOMP_RET_USER_NOTIF;
const KILL: u32 = libc::SECCOMP_RET_KILL_PROCESS;
/// Nothing is done, and the caller is told that it was.
const DONE: u32 = libc::SECCOMP_RET_ERRNO;

/// Flags of `clone` and `unshare` that make a namespace.
const NAMESPACES: u32 = 0x7e02_0080;

/// What no command needs, and what the ways out of sandboxes were made of.
const REFUSED: [c_long; 52] = [
    // Looking into other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // Mounts and roots.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsmount,
    libc::SYS_fsconfig,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    // Namespaces. `clone` and `unshare` are looked at below.
    libc::SYS_setns,
    // Files by handle, past every path.
    libc::SYS_open_by_handle_at,
    libc::SYS_fanotify_init,
    // Programs and modules in the kernel.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    arch::KEXEC_FILE_LOAD,
    // Keyrings.
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    // A favourite of exploits.
    libc::SYS_userfaultfd,
    libc::SYS_vmsplice,
    libc::SYS_lookup_dcookie,
    // The machine.
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_syslog,
    libc::SYS_vhangup,
    libc::SYS_nfsservctl,
    libc::SYS_move_pages,
    libc::SYS_migrate_pages,
    libc::SYS_mbind,
    libc::SYS_set_mempolicy,
];

/// What programs have a second way for, and take it if the call doesn't exist. `clone3` hides its
/// flags behind a pointer, where no filter can look.
const ABSENT: [c_long; 6] = [
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_clone3,
    libc::SYS_memfd_secret,
    libc::SYS_set_mempolicy_home_node,
];

/// What a command cannot get out of, besides the filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Boundary {
    /// Namespaces: a network that has nothing but a loopback, processes and files of its own. With `sockets` its
    /// root shows no inode that somebody outside has bound one to, so those of the file system can be made.
    Namespaces { sockets: bool },
    /// Landlock of this version alone. The filter refuses what it lets through, and where nothing may be
    /// written all that changes what is known of a file. With a `network` sockets can be made, and a
    /// supervisor says where they lead; with `objects` it says where semaphores and shared memory are.
    Landlock { version: u32, writes: bool, network: bool, objects: bool },
}

fn load(at: u32) -> sock_filter {
    sock_filter { code: LOAD, jt: 0, jf: 0, k: at }
}

fn give(action: u32) -> sock_filter {
    sock_filter { code: RETURN, jt: 0, jf: 0, k: action }
}

fn jump(code: u16, value: u32, yes: u8, no: u8) -> sock_filter {
    sock_filter { code, jt: yes, jf: no, k: value }
}

/// If the loaded value compares so: this action.
fn when(code: u16, value: u32, action: u32) -> [sock_filter; 2] {
    [jump(code, value, 0, 1), give(action)]
}

/// For one system call: these instructions, the last of which gives an action.
fn on(call: c_long, body: &[sock_filter]) -> Vec<sock_filter> {
    let skip = u8::try_from(body.len()).unwrap_or(u8::MAX);
    let mut part = vec![jump(EQUAL, call as u32, 0, skip)];
    part.extend_from_slice(body);
    part
}

/// Refused if an argument has any of these bits.
fn refuse_bits(n: u32, bits: u32) -> Vec<sock_filter> {
    let [test, no] = when(ANY_BIT, bits, REFUSE);
    vec![load(argument(n)), test, no, give(ALLOW)]
}

/// What happens at each system call that isn't simply allowed.
type Table = BTreeMap<c_long, Vec<sock_filter>>;

/// The filter of a sandbox. Calls that are `held` wait for a supervisor: one filter says both,
/// because the kernel tries each filter with every call there is when it is installed.
pub(crate) fn sandbox(boundary: Boundary, held: &[c_long]) -> Vec<sock_filter> {
    let mut table = Table::new();
    let refused = REFUSED.into_iter().chain(arch::REFUSED);
    table.extend(refused.map(|call| (call, vec![give(REFUSE)])));
    table.extend(ABSENT.map(|call| (call, vec![give(UNKNOWN)])));
    for call in [libc::SYS_clone, libc::SYS_unshare] {
        table.insert(call, refuse_bits(0, NAMESPACES));
    }
    no_setuid_files(&mut table);
    no_devices(&mut table);
    no_typing_for_others(&mut table);
    sockets(boundary, &mut table);
    if let Boundary::Landlock { version, writes, objects, .. } = boundary {
        // Without a process namespace it is the process group by which all of them are ended at
        // once, so nobody leaves it. Programs are told that they did.
        table.extend([libc::SYS_setsid, libc::SYS_setpgid].map(|it| (it, vec![give(DONE)])));
        alone::refuse(version, writes, &mut table);
        if objects {
            alone::ask_for_objects(&mut table);
        }
    }
    for call in held {
        hold(*call, &mut table);
    }
    let mut program =
        vec![load(ARCHITECTURE), jump(EQUAL, arch::AUDIT, 1, 0), give(KILL), load(NUMBER)];
    if let Some(first) = arch::OTHER_INTERFACE {
        program.extend(when(AT_LEAST, first, REFUSE));
    }
    program.extend(when(AT_LEAST, NEWEST + 1, UNKNOWN));
    program.extend(in_groups(&table));
    program
}

/// Lets a call wait where it would be allowed. What is refused is not held.
fn hold(call: c_long, table: &mut Table) {
    let body = table.entry(call).or_insert_with(|| vec![give(ALLOW)]);
    for step in body.iter_mut().filter(|it| it.code == RETURN && it.k == ALLOW) {
        step.k = HOLD;
    }
}

/// The table as a program. When a filter is installed, the kernel tries it with every system call
/// there is, so it pays to skip numbers in groups instead of comparing each.
fn in_groups(table: &Table) -> Vec<sock_filter> {
    let calls: Vec<(&c_long, &Vec<sock_filter>)> = table.iter().collect();
    let mut program = Vec::new();
    let mut groups = calls.chunks(8).peekable();
    while let Some(group) = groups.next() {
        let mut part: Vec<sock_filter> =
            group.iter().flat_map(|(call, body)| on(**call, body)).collect();
        part.push(give(ALLOW));
        if let Some((next, _)) = groups.peek().and_then(|group| group.first()) {
            let skip = u8::try_from(part.len()).unwrap_or(u8::MAX);
            program.push(jump(AT_LEAST, **next as u32, skip, 0));
        }
        program.extend(part);
    }
    program
}

/// The bit that lends a file's owner to whoever runs it can't be set.
fn no_setuid_files(table: &mut Table) {
    let modes = [(libc::SYS_fchmod, 1), (libc::SYS_fchmodat, 2), (arch::FCHMODAT2, 2)];
    table.extend(
        modes.into_iter().chain(arch::CHMOD).map(|(call, n)| (call, refuse_bits(n, libc::S_ISUID))),
    );
}

/// Character and block devices can't be made.
fn no_devices(table: &mut Table) {
    for (call, n) in [(libc::SYS_mknodat, 2)].into_iter().chain(arch::MKNOD) {
        let mut body = vec![load(argument(n)), jump(AND, libc::S_IFMT, 0, 0)];
        body.extend(when(EQUAL, libc::S_IFCHR, REFUSE));
        body.extend(when(EQUAL, libc::S_IFBLK, REFUSE));
        body.push(give(ALLOW));
        table.insert(call, body);
    }
}

/// Nobody puts characters into a terminal's input (`TIOCSTI`, `TIOCLINUX`) or changes what reads it.
fn no_typing_for_others(table: &mut Table) {
    let mut body = vec![load(argument(1))];
    for request in [libc::TIOCSTI, 0x541c, libc::TIOCSETD] {
        body.extend(when(EQUAL, request as u32, REFUSE));
    }
    body.push(give(ALLOW));
    table.insert(libc::SYS_ioctl, body);
}

/// Internet sockets at most, and the one netlink family that lists interfaces. Sockets in the
/// file system reach daemons through read-only mounts, so they are refused where there are such; pairs are not.
fn sockets(boundary: Boundary, table: &mut Table) {
    let opens_unix = boundary == Boundary::Namespaces { sockets: true };
    let mut body = vec![load(argument(0))];
    if opens_unix {
        body.extend(when(EQUAL, libc::AF_UNIX as u32, ALLOW));
    }
    if let Boundary::Namespaces { .. } = boundary {
        body.extend(when(EQUAL, libc::AF_INET as u32, ALLOW));
        body.extend(when(EQUAL, libc::AF_INET6 as u32, ALLOW));
        body.extend([
            jump(EQUAL, libc::AF_NETLINK as u32, 0, 3),
            load(argument(2)),
            jump(EQUAL, libc::NETLINK_ROUTE as u32, 0, 1),
            give(ALLOW),
        ]);
    }
    if let Boundary::Landlock { network: true, .. } = boundary {
        alone::sockets(&mut body, table);
    }
    body.push(give(REFUSE));
    table.insert(libc::SYS_socket, body);
    let mut pair = vec![load(argument(0)), jump(EQUAL, libc::AF_UNIX as u32, 1, 0), give(REFUSE)];
    if opens_unix {
        pair.push(give(ALLOW));
    } else {
        // A pair of datagram sockets can be given another address, and so reach a daemon by its path.
        pair.extend([load(argument(1)), jump(AND, 0xf, 0, 0)]);
        pair.extend(when(EQUAL, libc::SOCK_STREAM as u32, ALLOW));
        pair.extend(when(EQUAL, libc::SOCK_SEQPACKET as u32, ALLOW));
        pair.push(give(REFUSE));
    }
    table.insert(libc::SYS_socketpair, pair);
}

/// A filter that refuses these calls and nothing else, to see a machine that hasn't got them.
pub(crate) fn refusing(calls: &[c_long], namespaces: bool) -> Vec<sock_filter> {
    let mut program = vec![load(NUMBER)];
    for call in calls {
        program.extend(when(EQUAL, *call as u32, REFUSE));
    }
    if namespaces {
        program.extend(when(EQUAL, libc::SYS_clone3 as u32, UNKNOWN));
        program.extend(on(libc::SYS_clone, &refuse_bits(0, NAMESPACES)));
        program.extend(on(libc::SYS_unshare, &refuse_bits(0, NAMESPACES)));
    }
    program.push(give(ALLOW));
    program
}

#[cfg(test)]
mod tests;
