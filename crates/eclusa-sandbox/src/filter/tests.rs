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

fn asks(number: c_long, arguments: [u32; 6]) -> u32 {
    answer(&sandbox(Sockets::Internet, &[]), X86_64, number as u32, arguments)
}

#[test]
fn every_system_call_gets_the_answer_of_the_table() {
    for number in 0..=NEWEST {
        let call = c_long::from(number);
        let expected = if REFUSED.contains(&call) {
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
    for number in [NEWEST + 1, 500, X32 - 1] {
        assert_eq!(asks(number.into(), [0; 6]), UNKNOWN, "{number}");
    }
    assert_eq!(asks((X32 | 39).into(), [0; 6]), REFUSE);
    assert_eq!(answer(&sandbox(Sockets::Internet, &[]), 0x4000_0003, 39, [0; 6]), KILL);
}

#[test]
fn what_is_held_waits_and_nothing_else_gets_another_answer() {
    for sockets in [Sockets::Internet, Sockets::None] {
        let (plain, holding) = (sandbox(sockets, &[]), sandbox(sockets, crate::notify::RENAMES));
        for number in 0..=NEWEST + 1 {
            let held = crate::notify::RENAMES.contains(&c_long::from(number));
            let expected = if held { HOLD } else { answer(&plain, X86_64, number, [0; 6]) };
            assert_eq!(answer(&holding, X86_64, number, [0; 6]), expected, "{number}");
        }
    }
    // A call that is refused is not held, whatever is asked for.
    let holding = sandbox(Sockets::Internet, &[libc::SYS_ptrace]);
    assert_eq!(answer(&holding, X86_64, libc::SYS_ptrace as u32, [0; 6]), REFUSE);
}

#[test]
fn arguments_are_looked_at() {
    let second = |value| [0, value, 0, 0, 0, 0];
    assert_eq!(asks(libc::SYS_chmod, second(0o4755)), REFUSE);
    assert_eq!(asks(libc::SYS_chmod, second(0o2755)), ALLOW);
    assert_eq!(asks(libc::SYS_fchmodat, [0, 0, 0o4000, 0, 0, 0]), REFUSE);
    assert_eq!(asks(libc::SYS_mknod, second(libc::S_IFCHR | 0o600)), REFUSE);
    assert_eq!(asks(libc::SYS_mknod, second(libc::S_IFBLK)), REFUSE);
    assert_eq!(asks(libc::SYS_mknod, second(libc::S_IFIFO)), ALLOW);
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
        let without = sandbox(Sockets::None, &[]);
        let call = libc::SYS_socket as u32;
        assert_eq!(answer(&without, X86_64, call, [family as u32, 1, 0, 0, 0, 0]), REFUSE);
    }
    let netlink = |family| asks(libc::SYS_socket, [libc::AF_NETLINK as u32, 3, family, 0, 0, 0]);
    assert_eq!((netlink(0), netlink(9)), (ALLOW, REFUSE));
    assert_eq!(asks(libc::SYS_socketpair, [libc::AF_UNIX as u32, 1, 0, 0, 0, 0]), ALLOW);
}
