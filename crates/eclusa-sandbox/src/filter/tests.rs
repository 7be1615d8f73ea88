//! Tests of the filter as a program: what it answers to every system call.

use super::*;

/// Runs a filter on a call, as the kernel does.
fn answer(program: &[sock_filter], architecture: u32, number: u32, arguments: [u32; 6]) -> u32 {
    let (mut at, mut value) = (0, 0);
    for _ in 0..1000 {
        let step = program[at];
        let (yes, no) = (usize::from(step.jt), usize::from(step.jf));
        at += 1;
        match step.code {
            LOAD if step.k == NUMBER => value = number,
            LOAD if step.k == ARCHITECTURE => value = architecture,
            LOAD => value = arguments[(step.k as usize - 16) / 8],
            AND => value &= step.k,
            EQUAL => at += if value == step.k { yes } else { no },
            AT_LEAST => at += if value >= step.k { yes } else { no },
            ANY_BIT => at += if value & step.k != 0 { yes } else { no },
            RETURN => return step.k,
            other => panic!("{other}"),
        }
    }
    panic!("no end")
}

const CLOSED: Boundary = Boundary::Namespaces { sockets: false };
const OPEN: Boundary = Boundary::Namespaces { sockets: true };
const LANDLOCK_1: Boundary =
    Boundary::Landlock { version: 1, writes: true, network: false, objects: false };

fn asks(number: c_long, arguments: [u32; 6]) -> u32 {
    answer(&sandbox(CLOSED, &[]), arch::AUDIT, number as u32, arguments)
}

#[test]
fn every_system_call_gets_the_answer_of_the_table() {
    for number in 0..=NEWEST {
        let call = c_long::from(number);
        let expected = if REFUSED.contains(&call) || arch::REFUSED.contains(&call) {
            REFUSE
        } else if ABSENT.contains(&call) {
            UNKNOWN
        } else if [libc::SYS_socket, libc::SYS_socketpair].contains(&call) {
            REFUSE
        } else {
            ALLOW
        };
        assert_eq!(asks(call, [0; 6]), expected, "{number}");
    }
    for number in [NEWEST + 1, 500, 0x3fff_ffff] {
        assert_eq!(asks(number.into(), [0; 6]), UNKNOWN, "{number}");
    }
    if let Some(first) = arch::OTHER_INTERFACE {
        assert_eq!(asks((first | 39).into(), [0; 6]), REFUSE);
    }
    assert_eq!(answer(&sandbox(CLOSED, &[]), 0x4000_0003, 39, [0; 6]), KILL);
}

#[test]
fn what_is_held_waits_and_nothing_else_gets_another_answer() {
    for boundary in [CLOSED, LANDLOCK_1] {
        let (plain, holding) = (sandbox(boundary, &[]), sandbox(boundary, arch::NAMINGS));
        for number in 0..=NEWEST + 1 {
            let held = arch::NAMINGS.contains(&c_long::from(number));
            let expected = if held { HOLD } else { answer(&plain, arch::AUDIT, number, [0; 6]) };
            assert_eq!(answer(&holding, arch::AUDIT, number, [0; 6]), expected, "{number}");
        }
    }
    // A call that is refused is not held, whatever is asked for.
    let holding = sandbox(CLOSED, &[libc::SYS_ptrace]);
    assert_eq!(answer(&holding, arch::AUDIT, libc::SYS_ptrace as u32, [0; 6]), REFUSE);
}

#[test]
fn arguments_are_looked_at() {
    let second = |value| [0, value, 0, 0, 0, 0];
    let third = |value| [0, 0, value, 0, 0, 0];
    for (call, at) in arch::CHMOD.into_iter().chain([(libc::SYS_fchmod, 1), (arch::FCHMODAT2, 2)]) {
        let with = |mode| if at == 1 { second(mode) } else { third(mode) };
        assert_eq!((asks(call, with(0o4755)), asks(call, with(0o2755))), (REFUSE, ALLOW));
    }
    assert_eq!(asks(libc::SYS_fchmodat, [0, 0, 0o4000, 0, 0, 0]), REFUSE);
    for (call, at) in arch::MKNOD.into_iter().chain([(libc::SYS_mknodat, 2)]) {
        let with = |mode| if at == 1 { second(mode) } else { third(mode) };
        assert_eq!(asks(call, with(libc::S_IFCHR | 0o600)), REFUSE);
        assert_eq!(asks(call, with(libc::S_IFBLK)), REFUSE);
        assert_eq!(asks(call, with(libc::S_IFIFO)), ALLOW);
    }
    assert_eq!(asks(libc::SYS_ioctl, second(libc::TIOCSTI as u32)), REFUSE);
    assert_eq!(asks(libc::SYS_ioctl, second(libc::TCGETS as u32)), ALLOW);
    for flag in
        [libc::CLONE_NEWUSER, libc::CLONE_NEWNS, libc::CLONE_NEWNET, libc::CLONE_NEWPID, 0x80]
    {
        assert_eq!(asks(libc::SYS_clone, [flag as u32 | 17, 0, 0, 0, 0, 0]), REFUSE);
        assert_eq!(asks(libc::SYS_unshare, [flag as u32, 0, 0, 0, 0, 0]), REFUSE);
    }
    assert_eq!(asks(libc::SYS_clone, [0x0120_0011, 0, 0, 0, 0, 0]), ALLOW);
}

#[test]
fn sockets_are_for_the_internet_inside_and_for_nobody_without_a_namespace() {
    let families = [libc::AF_UNIX, libc::AF_PACKET, libc::AF_VSOCK, libc::AF_ALG, 44];
    for family in families {
        assert_eq!(asks(libc::SYS_socket, [family as u32, 1, 0, 0, 0, 0]), REFUSE);
    }
    for family in [libc::AF_INET, libc::AF_INET6] {
        assert_eq!(asks(libc::SYS_socket, [family as u32, 1, 0, 0, 0, 0]), ALLOW);
        let without = sandbox(
            Boundary::Landlock { version: 7, writes: true, network: false, objects: false },
            &[],
        );
        let call = libc::SYS_socket as u32;
        assert_eq!(answer(&without, arch::AUDIT, call, [family as u32, 1, 0, 0, 0, 0]), REFUSE);
    }
    let netlink = |family| asks(libc::SYS_socket, [libc::AF_NETLINK as u32, 3, family, 0, 0, 0]);
    assert_eq!((netlink(0), netlink(9)), (ALLOW, REFUSE));
    assert_eq!(asks(libc::SYS_socketpair, [libc::AF_UNIX as u32, 1, 0, 0, 0, 0]), ALLOW);
}

/// What the root of overlays opens is that family, and nothing else in the whole table.
#[test]
fn where_no_socket_of_the_machine_shows_those_of_the_file_system_are_let_through() {
    let (open, closed) = (sandbox(OPEN, &[]), sandbox(CLOSED, &[]));
    for number in 0..=NEWEST + 1 {
        for first in 0..64 {
            let arguments = [first, 2, 0, 0, 0, 0];
            let is_socket = [libc::SYS_socket, libc::SYS_socketpair].contains(&number.into());
            let expected = match is_socket && first == libc::AF_UNIX as u32 {
                true => ALLOW,
                false => answer(&closed, arch::AUDIT, number, arguments),
            };
            let said = answer(&open, arch::AUDIT, number, arguments);
            assert_eq!(said, expected, "{number} {first}");
        }
    }
}

/// Without namespaces: files that cannot be written are not emptied either, and nothing of another
/// process is changed.
#[test]
fn without_namespaces_the_filter_refuses_what_landlock_lets_through() {
    let says = |version, call: c_long, arguments| {
        answer(
            &sandbox(
                Boundary::Landlock { version, writes: true, network: false, objects: false },
                &[],
            ),
            arch::AUDIT,
            call as u32,
            arguments,
        )
    };
    let inside = |call, arguments| asks(call, arguments);
    let flags = |flags: i32| [0, 0, flags as u32, 0, 0, 0];
    for version in [1, 2] {
        assert_eq!(says(version, libc::SYS_truncate, [0; 6]), REFUSE);
        assert_eq!(says(version, libc::SYS_openat2, [0; 6]), UNKNOWN);
        assert_eq!(says(version, libc::SYS_openat, flags(libc::O_TRUNC)), REFUSE);
        for harmless in [0, libc::O_WRONLY | libc::O_TRUNC, libc::O_RDWR | libc::O_TRUNC] {
            assert_eq!(says(version, libc::SYS_openat, flags(harmless)), ALLOW);
        }
        for (call, at) in arch::OPEN {
            let mut arguments = [0; 6];
            arguments[at as usize] = (libc::O_TRUNC | libc::O_CLOEXEC) as u32;
            assert_eq!(says(version, call, arguments), REFUSE);
        }
    }
    for version in [3, 7] {
        assert_eq!(says(version, libc::SYS_truncate, [0; 6]), ALLOW);
        assert_eq!(says(version, libc::SYS_openat2, [0; 6]), ALLOW);
    }
    for version in [1, 7] {
        for call in [libc::SYS_prlimit64, libc::SYS_sched_setaffinity, libc::SYS_sched_setattr] {
            assert_eq!(says(version, call, [1234, 0, 1, 0, 0, 0]), REFUSE);
            assert_eq!(says(version, call, [0, 0, 1, 0, 0, 0]), ALLOW);
            assert_eq!(inside(call, [1234, 0, 1, 0, 0, 0]), ALLOW);
        }
        for (call, process) in [(libc::SYS_setpriority, 0), (libc::SYS_ioprio_set, 1)] {
            assert_eq!(says(version, call, [process, 0, 0, 0, 0, 0]), ALLOW);
            assert_eq!(says(version, call, [process, 1234, 0, 0, 0, 0]), REFUSE);
            assert_eq!(says(version, call, [process + 2, 0, 0, 0, 0, 0]), REFUSE);
        }
        for call in [libc::SYS_shmget, libc::SYS_shmat, libc::SYS_msgrcv, libc::SYS_semop] {
            assert_eq!((says(version, call, [0; 6]), inside(call, [0; 6])), (REFUSE, ALLOW));
        }
    }
}

/// Where nothing may be written, nothing of a file is changed either; its flags never.
#[test]
fn without_namespaces_and_without_writing_metadata_stay() {
    for (writes, expected) in [(true, ALLOW), (false, REFUSE)] {
        let program =
            sandbox(Boundary::Landlock { version: 7, writes, network: false, objects: false }, &[]);
        let says = |call, arguments| answer(&program, arch::AUDIT, call as u32, arguments);
        for call in metadata_calls() {
            assert_eq!(says(call, [0; 6]), expected, "{call}");
            assert_eq!(asks(call, [0; 6]), ALLOW, "{call}");
        }
        let ioctl = |request: u32| says(libc::SYS_ioctl, [0, request, 0, 0, 0, 0]);
        assert_eq!((ioctl(0x4008_6602), ioctl(libc::TIOCSTI as u32)), (REFUSE, REFUSE));
        assert_eq!(ioctl(libc::TCGETS as u32), ALLOW);
    }
}

/// Without namespaces and with a supervisor: TCP, and no way past whoever looks at addresses.
#[test]
fn without_namespaces_sockets_lead_where_a_supervisor_says() {
    let boundary = Boundary::Landlock { version: 7, writes: true, network: true, objects: false };
    let program = sandbox(boundary, &[libc::SYS_connect, libc::SYS_bind, libc::SYS_listen]);
    let says = |call: c_long, arguments| answer(&program, arch::AUDIT, call as u32, arguments);
    let socket = |family: i32, kind: i32, protocol: i32| {
        says(libc::SYS_socket, [family as u32, kind as u32, protocol as u32, 0, 0, 0])
    };
    let stream = libc::SOCK_STREAM | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    for family in [libc::AF_INET, libc::AF_INET6] {
        assert_eq!((socket(family, stream, 0), socket(family, 1, 6)), (ALLOW, ALLOW));
    }
    for (family, kind, protocol) in [
        (libc::AF_INET, stream, 262),
        (libc::AF_INET6, stream, 262),
        (libc::AF_INET6, libc::SOCK_DGRAM, 0),
        (libc::AF_INET6, libc::SOCK_RAW, 58),
        (libc::AF_INET, libc::SOCK_DGRAM, 0),
        (libc::AF_INET, libc::SOCK_RAW, 1),
        (libc::AF_UNIX, stream, 0),
        (libc::AF_NETLINK, 3, 0),
        (libc::AF_VSOCK, 1, 0),
    ] {
        assert_ne!(socket(family, kind, protocol), ALLOW, "{family} {kind} {protocol}");
    }
    for call in [libc::SYS_connect, libc::SYS_bind, libc::SYS_listen] {
        assert_eq!(says(call, [0; 6]), HOLD);
    }
    let fast = libc::MSG_FASTOPEN as u32;
    assert_eq!(says(libc::SYS_sendto, [0, 0, 0, fast, 0, 0]), REFUSE);
    assert_eq!(says(libc::SYS_sendmsg, [0, 0, fast, 0, 0, 0]), REFUSE);
    assert_eq!(says(libc::SYS_sendmmsg, [0, 0, 0, fast, 0, 0]), REFUSE);
    assert_eq!(says(libc::SYS_sendto, [0; 6]), ALLOW);
}
