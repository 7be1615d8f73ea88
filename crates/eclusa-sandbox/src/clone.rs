//! Making the child: a clone that shares memory until it executes, so that its cost does not
//! depend on how large the caller is, and that starts in new namespaces.
#![expect(unsafe_code, reason = "clone with a stack of its own, sharing memory")]

use std::io;
use std::os::fd::{FromRawFd as _, OwnedFd, RawFd};

use rustix::process::Signal;

use crate::capabilities::Namespaces;
use crate::child::{self, ChildOrder};
use crate::kernel;

/// Room for the child's locals; pages that aren't used cost nothing.
const STACK: usize = 256 * 1024;

/// A process that is being watched. Dropping it ends it, so that none is ever left behind.
pub(crate) struct Child {
    pub(crate) pid: i32,
    pub(crate) pidfd: OwnedFd,
    reaped: bool,
}

impl Child {
    /// Waits for the end of the process.
    pub(crate) fn wait(&mut self) -> rustix::io::Result<kernel::Used> {
        let used = kernel::wait(self.pid)?;
        self.reaped = true;
        Ok(used)
    }

    /// Waits no more, for a process that even a kill doesn't end.
    pub(crate) fn abandon(&mut self) {
        self.reaped = true;
    }

    /// Ends the process, and with it everything in its namespace.
    pub(crate) fn kill(&self) {
        let _ = rustix::process::pidfd_send_signal(&self.pidfd, Signal::KILL);
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if !self.reaped {
            self.kill();
            let _ = self.wait();
        }
    }
}

fn flags(namespaces: Namespaces) -> libc::c_int {
    let all = libc::CLONE_NEWNS
        | libc::CLONE_NEWPID
        | libc::CLONE_NEWNET
        | libc::CLONE_NEWIPC
        | libc::CLONE_NEWUTS;
    match namespaces {
        Namespaces::User => all | libc::CLONE_NEWUSER,
        Namespaces::Root => all,
        Namespaces::None => 0,
    }
}

extern "C" fn enter(order: *mut libc::c_void) -> libc::c_int {
    // SAFETY: `clone` passes on the pointer that `child` gave it, to an order that outlives the
    // child's use of this memory, because the caller sleeps until the child has executed or left.
    child::run(unsafe { &*order.cast::<ChildOrder<'_>>().cast_const() })
}

/// A stack that is given back.
struct Stack(*mut libc::c_void);

impl Stack {
    fn new() -> io::Result<Stack> {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_STACK;
        // SAFETY: a new mapping at an address that the kernel chooses overlaps nothing.
        let at = unsafe { libc::mmap(std::ptr::null_mut(), STACK, protection, flags, -1, 0) };
        if at == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(Stack(at)) }
    }

    fn top(&self) -> *mut libc::c_void {
        // SAFETY: one past the end of the mapping, which is where a stack that grows down begins.
        unsafe { self.0.add(STACK) }
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's own, and the child that used it has memory of its
        // own by now, or is gone.
        unsafe { libc::munmap(self.0, STACK) };
    }
}

/// Starts the child, and returns when it has executed its first program or has left.
pub(crate) fn child(order: &ChildOrder<'_>) -> io::Result<Child> {
    let stack = Stack::new()?;
    let mut pidfd: RawFd = -1;
    let flags = flags(order.spec.namespaces)
        | libc::CLONE_VM
        | libc::CLONE_VFORK
        | libc::CLONE_PIDFD
        | libc::SIGCHLD;
    // SAFETY: the child runs `enter` on a stack of its own while this thread sleeps (CLONE_VFORK),
    // so nothing that `order` borrows goes away. It shares memory but neither descriptors nor
    // signal handlers. It allocates nothing and takes no lock (see the invariant of `child`), so
    // locks that other threads hold don't matter. All signals are blocked meanwhile, so that no
    // handler of this program runs in the child. The kernel writes the descriptor to `pidfd`.
    let (pid, error) = unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        let mut before: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
        let pid = libc::clone(
            enter,
            stack.top(),
            flags,
            std::ptr::from_ref(order).cast_mut().cast(),
            &raw mut pidfd,
        );
        let error = io::Error::last_os_error();
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut());
        (pid, error)
    };
    if pid < 0 {
        return Err(error);
    }
    // SAFETY: the kernel has made this descriptor for us, and nobody else has it.
    let pidfd = unsafe { OwnedFd::from_raw_fd(pidfd) };
    Ok(Child { pid, pidfd, reaped: false })
}
