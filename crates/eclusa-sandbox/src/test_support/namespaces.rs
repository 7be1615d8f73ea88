//! Whether this machine lets the caller make namespaces, found without anything of the sandbox: the tests
//! that a machine cannot carry out must not be chosen by the code that they check.
#![expect(unsafe_code, reason = "a process that is made and ends by system calls alone")]

use std::io;

/// Mounts, processes, network, message queues and host name: what a sandbox is made of.
const APART: libc::c_int = libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS;

/// Makes a process in namespaces of its own, with private mounts, as an ordinary user or as root. The error
/// is what the kernel says where neither works.
pub fn made() -> io::Result<()> {
    attempt(APART | libc::CLONE_NEWUSER).or_else(|error| attempt(APART).map_err(|_| error))
}

fn attempt(flags: libc::c_int) -> io::Result<()> {
    let flags = libc::c_long::from(flags | libc::SIGCHLD);
    // SAFETY: like a fork, with a copy of the stack. The child makes two system calls, which touch no
    // memory and no lock of the parent's.
    let child = unsafe { libc::syscall(libc::SYS_clone, flags, 0usize, 0usize, 0usize, 0usize) };
    if child == 0 {
        // SAFETY: a path that lives for ever and null pointers where the kernel reads nothing; the mounts
        // are the child's own. Then it ends without running anything of its parent's.
        unsafe {
            let private = (libc::MS_REC | libc::MS_PRIVATE) as usize;
            let root = c"/".as_ptr();
            let said = libc::syscall(libc::SYS_mount, 0usize, root, 0usize, private, 0usize);
            let code = if said == 0 { 0 } else { *libc::__errno_location() };
            libc::syscall(libc::SYS_exit_group, code);
        }
    }
    if child < 0 {
        return Err(io::Error::last_os_error());
    }
    let mut status = 0;
    let child = libc::pid_t::try_from(child).map_err(io::Error::other)?;
    loop {
        // SAFETY: the status is a local that lives through the call.
        if unsafe { libc::waitpid(child, &raw mut status, libc::__WALL) } == child {
            break;
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    match (libc::WIFEXITED(status), libc::WEXITSTATUS(status)) {
        (true, 0) => Ok(()),
        (true, code) => Err(io::Error::from_raw_os_error(code)),
        (false, _) => Err(io::Error::other("the process in new namespaces was killed")),
    }
}
