//! A terminal for a command in a sandbox: what it writes there and reads from there passes through
//! the caller.
#![expect(unsafe_code, reason = "two requests that no safe library offers")]

use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};

use rustix::fs::{Mode, OFlags};

/// Both sides of a new terminal: the caller's, and the one for [`Plan::terminal`](crate::Plan::terminal).
pub fn pseudo_terminal() -> io::Result<(OwnedFd, OwnedFd)> {
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let ours = rustix::fs::open("/dev/ptmx", flags, Mode::empty())?;
    let locked: libc::c_int = 0;
    // SAFETY: the descriptor is open, and the request reads one integer that lives through it.
    if unsafe { libc::ioctl(ours.as_raw_fd(), libc::TIOCSPTLCK, &raw const locked) } < 0 {
        return Err(io::Error::last_os_error());
    }
    let flags = libc::O_RDWR | libc::O_NOCTTY | libc::O_CLOEXEC;
    // SAFETY: the descriptor is open, and the request takes flags by value.
    let theirs = unsafe { libc::ioctl(ours.as_raw_fd(), libc::TIOCGPTPEER, flags) };
    if theirs < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just opened this descriptor for us, and nobody else has it.
    Ok((ours, unsafe { OwnedFd::from_raw_fd(theirs) }))
}
