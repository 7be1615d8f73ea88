//! The kernel's interface to calls that wait for an answer.
#![expect(unsafe_code, reason = "notifications have no safe interface")]

use std::os::fd::{AsRawFd, OwnedFd};

use rustix::io::Errno;

/// A call that waits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call {
    /// Who asks, as long as it waits.
    pub(super) id: u64,
    /// The thread that asks, by the numbers of this process.
    pub(super) thread: u32,
    /// Which system call.
    pub(super) number: i64,
    /// What it was given.
    pub(super) arguments: [u64; 6],
}

const RECEIVE: libc::Ioctl = 0xc050_2100_u32 as libc::Ioctl;
const SEND: libc::Ioctl = 0xc018_2101_u32 as libc::Ioctl;
const IS_VALID: libc::Ioctl = 0x4008_2102_u32 as libc::Ioctl;
const PUT: libc::Ioctl = 0x4018_2103_u32 as libc::Ioctl;
const SET_FLAGS: libc::Ioctl = 0x4008_2104_u32 as libc::Ioctl;
/// Who answers runs where the call was made, which saves a wake-up on another processor.
const SYNC_WAKE_UP: u64 = 1;

/// In the place of the descriptor with this number, which is closed.
const AT_NUMBER: u32 = 1;

/// `struct seccomp_notif_addfd`.
#[repr(C)]
struct PutFd {
    id: u64,
    flags: u32,
    source: u32,
    number: u32,
    number_flags: u32,
}

/// Takes the next call. `None`: whoever made it is gone.
pub(super) fn receive(listener: &OwnedFd) -> Option<Call> {
    // SAFETY: all fields are numbers, for which zero is a value; the kernel wants zeros.
    let mut asked: libc::seccomp_notif = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes one such structure, whose size is part of the request's number.
    let received = unsafe { libc::ioctl(listener.as_raw_fd(), RECEIVE, &raw mut asked) };
    (received == 0).then(|| Call {
        id: asked.id,
        thread: asked.pid,
        number: i64::from(asked.data.nr),
        arguments: asked.data.args,
    })
}

/// True when the call still waits, so that its thread is the one that made it.
pub(super) fn is_valid(listener: &OwnedFd, id: u64) -> bool {
    // SAFETY: the kernel reads eight bytes from a local that lives through the call.
    unsafe { libc::ioctl(listener.as_raw_fd(), IS_VALID, &raw const id) == 0 }
}

/// Lets the kernel do the call.
pub(super) fn go_on(listener: &OwnedFd, id: u64) -> rustix::io::Result<()> {
    let flags = libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32;
    send(listener, libc::seccomp_notif_resp { id, val: 0, error: 0, flags })
}

/// Ends the call, with success or with an error.
pub(super) fn reply(listener: &OwnedFd, id: u64, errno: Option<Errno>) -> rustix::io::Result<()> {
    let error = errno.map_or(0, |it| -it.raw_os_error());
    send(listener, libc::seccomp_notif_resp { id, val: 0, error, flags: 0 })
}

/// Puts a descriptor of this process in the place of one of the caller's.
pub(super) fn put(
    listener: &OwnedFd,
    id: u64,
    what: &OwnedFd,
    number: i32,
    close_on_exec: bool,
) -> rustix::io::Result<()> {
    let number = u32::try_from(number).map_err(|_| Errno::BADF)?;
    let source = u32::try_from(what.as_raw_fd()).map_err(|_| Errno::BADF)?;
    let flags = if close_on_exec { libc::O_CLOEXEC as u32 } else { 0 };
    let order = PutFd { id, flags: AT_NUMBER, source, number, number_flags: flags };
    // SAFETY: the kernel reads one such structure, whose size is part of the request's number.
    let put = unsafe { libc::ioctl(listener.as_raw_fd(), PUT, &raw const order) };
    if put >= 0 { Ok(()) } else { Err(Errno::PERM) }
}

fn send(listener: &OwnedFd, answer: libc::seccomp_notif_resp) -> rustix::io::Result<()> {
    // SAFETY: the kernel reads one such structure, whose size is part of the request's number.
    let sent = unsafe { libc::ioctl(listener.as_raw_fd(), SEND, &raw const answer) };
    if sent == 0 { Ok(()) } else { Err(Errno::NOENT) }
}

/// Asks for quicker wake-ups. Older kernels have none, and are slower.
pub(super) fn wake_quickly(listener: &OwnedFd) {
    // SAFETY: takes a number, not a pointer.
    unsafe { libc::ioctl(listener.as_raw_fd(), SET_FLAGS, SYNC_WAKE_UP) };
}

/// The process group of a process; 0 where the group is of another namespace, which rustix does not take.
pub(super) fn group_of(process: i32) -> rustix::io::Result<i32> {
    // SAFETY: takes and gives numbers.
    let group = unsafe { libc::getpgid(process) };
    if group == -1 { Err(Errno::SRCH) } else { Ok(group) }
}
