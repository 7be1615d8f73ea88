//! Making the child: a clone that shares memory until it executes, so that its cost does not
//! depend on how large the caller is, and that starts in new namespaces.
#![expect(unsafe_code, reason = "clone with a stack of its own, sharing memory")]

use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd, RawFd};

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};
use rustix::process::Signal;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use crate::capabilities::Namespaces;
use crate::child::{self, ChildOrder, GuardianOrder, NetworkOrder};
use crate::child_spec::{ChildSpec, HIGH, IdMaps};
use crate::kernel;
use crate::shared_network::SharedNetwork;
use crate::step::{SandboxError, not_cloned, trying};

/// Room for the child's locals; pages that aren't used cost nothing.
const STACK: usize = 256 * 1024;

/// A process that is being watched. Dropping it ends it, so that none is ever left behind.
pub(crate) struct Child {
    pub(crate) pid: i32,
    pub(crate) pidfd: OwnedFd,
    reaped: bool,
}

impl Child {
    /// A process that somebody else has made: who it was is asked by whoever is its parent now.
    pub(crate) fn of_others(pid: i32, pidfd: OwnedFd) -> Child {
        Child { pid, pidfd, reaped: true }
    }

    /// Whether it has been waited for, or is not ours.
    pub(crate) fn is_reaped(&self) -> bool {
        self.reaped
    }

    /// Waits for the end of the process.
    pub(crate) fn wait(&mut self) -> rustix::io::Result<kernel::Used> {
        let used = kernel::wait(self.pid)?;
        self.reaped = true;
        Ok(used)
    }

    /// Waits no more, for a process that even a kill doesn't end, or that is somebody else's from now on.
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

fn flags(spec: &ChildSpec) -> libc::c_int {
    let all = libc::CLONE_NEWNS | libc::CLONE_NEWPID | libc::CLONE_NEWIPC | libc::CLONE_NEWUTS;
    match (spec.namespaces, &spec.join) {
        (Namespaces::None, _) => 0,
        // The others are joined.
        (Namespaces::User | Namespaces::Root, Some(_)) => all,
        (Namespaces::User, None) => all | libc::CLONE_NEWNET | libc::CLONE_NEWUSER,
        (Namespaces::Root, None) => all | libc::CLONE_NEWNET,
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
    let flags =
        flags(order.spec) | libc::CLONE_VM | libc::CLONE_VFORK | libc::CLONE_PIDFD | libc::SIGCHLD;
    let mut making = Making {
        order: std::ptr::from_ref(order).cast_mut().cast(),
        user: order.spec.join.as_ref().and_then(SharedNetwork::user),
        stack: stack.top(),
        flags,
        pid: -1,
        pidfd: -1,
        errno: 0,
    };
    match making.user {
        None => with_signals_blocked(|| making.make()),
        // Only a process by itself can enter a user namespace, and this one may have threads. So a
        // process in between enters it, makes the child as a child of ours, and leaves.
        Some(_) => {
            let own = Stack::new()?;
            making.flags |= libc::CLONE_PARENT;
            let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::CLONE_FILES | libc::SIGCHLD;
            let between: *mut libc::c_void = std::ptr::from_mut(&mut making).cast();
            // SAFETY: as for `Making::make`. The process in between shares our descriptors, so
            // that the one of the child is ours; it makes no others.
            let (pid, error) = with_signals_blocked(|| unsafe {
                let pid = libc::clone(enter_between, own.top(), flags, between);
                (pid, io::Error::last_os_error())
            });
            if pid < 0 {
                return Err(error);
            }
            kernel::wait(pid)?;
        }
    }
    if making.pid < 0 {
        return Err(io::Error::from_raw_os_error(making.errno));
    }
    // SAFETY: the kernel has made this descriptor for us, and nobody else has it.
    let pidfd = unsafe { OwnedFd::from_raw_fd(making.pidfd) };
    Ok(Child { pid: making.pid, pidfd, reaped: false })
}

/// Makes a network with nobody in it, whose loopback interface is on, and for an ordinary user the
/// user namespace that owns it.
pub(crate) fn network(namespaces: Namespaces) -> Result<(Option<OwnedFd>, OwnedFd), SandboxError> {
    let stack = Stack::new().map_err(not_cloned)?;
    let maps = (namespaces == Namespaces::User).then(IdMaps::of_caller);
    let user = if maps.is_some() { libc::CLONE_NEWUSER } else { 0 };
    let flags = libc::CLONE_NEWNET | user | libc::CLONE_VM | libc::CLONE_VFORK | libc::CLONE_FILES;
    let mut order = NetworkOrder { maps, user: None, network: None, failed: None };
    let made: *mut libc::c_void = std::ptr::from_mut(&mut order).cast();
    // SAFETY: as for `Making::make`. The process shares our descriptors, so that the ones which it
    // leaves open are ours, and those which it closes are its own.
    let (pid, error) = with_signals_blocked(|| unsafe {
        let pid = libc::clone(enter_network, stack.top(), flags | libc::SIGCHLD, made);
        (pid, io::Error::last_os_error())
    });
    if pid < 0 {
        return Err(not_cloned(error));
    }
    kernel::wait(pid).map_err(trying("wait for the network"))?;
    let NetworkOrder { maps, user, network, failed } = order;
    if let Some(failed) = failed {
        let source = failed.errno.into();
        return Err(SandboxError::Step { step: failed.step, path: None, source });
    }
    match network {
        Some(network) if maps.is_some() == user.is_some() => Ok((user, network)),
        _ => Err(not_cloned(io::ErrorKind::Interrupted.into())),
    }
}

/// A socket that is in these namespaces, which the caller is not in.
pub(crate) fn socket_in(
    user: Option<BorrowedFd<'_>>,
    network: BorrowedFd<'_>,
    family: AddressFamily,
) -> io::Result<OwnedFd> {
    let stack = Stack::new()?;
    let mut order = SocketOrder { user, network, family, made: Err(Errno::INTR) };
    let made: *mut libc::c_void = std::ptr::from_mut(&mut order).cast();
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::CLONE_FILES | libc::SIGCHLD;
    // SAFETY: as for `Making::make`. The process shares our descriptors, so that the socket which it leaves open is
    // ours.
    let (pid, error) = with_signals_blocked(|| unsafe {
        let pid = libc::clone(enter_socket, stack.top(), flags, made);
        (pid, io::Error::last_os_error())
    });
    if pid < 0 {
        return Err(error);
    }
    kernel::wait(pid)?;
    Ok(order.made?)
}

/// What is needed to make a socket elsewhere, and what came of it.
struct SocketOrder<'a> {
    user: Option<BorrowedFd<'a>>,
    network: BorrowedFd<'a>,
    family: AddressFamily,
    made: rustix::io::Result<OwnedFd>,
}

impl SocketOrder<'_> {
    fn make(&self) -> rustix::io::Result<OwnedFd> {
        if let Some(user) = self.user {
            move_into_link_name_space(user, Some(LinkNameSpaceType::User))?;
        }
        move_into_link_name_space(self.network, Some(LinkNameSpaceType::Network))?;
        socket_with(self.family, SocketType::STREAM, SocketFlags::CLOEXEC, None)
    }
}

/// The process that makes a socket, and leaves.
extern "C" fn enter_socket(order: *mut libc::c_void) -> libc::c_int {
    // SAFETY: `socket_in` passes a pointer to its own local, and sleeps until this process has left.
    let order = unsafe { &mut *order.cast::<SocketOrder<'_>>() };
    order.made = order.make();
    0
}

/// The process that makes a network, and leaves.
extern "C" fn enter_network(order: *mut libc::c_void) -> libc::c_int {
    // SAFETY: `network` passes a pointer to its own local, and sleeps until this process has left.
    unsafe { &mut *order.cast::<NetworkOrder>() }.fulfil();
    0
}

/// Starts a guardian, and returns when it has executed its program or has left.
pub(crate) fn guardian(order: &mut GuardianOrder<'_>) -> io::Result<Child> {
    let stack = Stack::new()?;
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::CLONE_PIDFD | libc::SIGCHLD;
    let mut pidfd: RawFd = -1;
    let made: *mut libc::c_void = std::ptr::from_mut(order).cast();
    // SAFETY: as for `Making::make`.
    let (pid, error) = with_signals_blocked(|| unsafe {
        let pid = libc::clone(enter_guardian, stack.top(), flags, made, &raw mut pidfd);
        (pid, io::Error::last_os_error())
    });
    if pid < 0 {
        return Err(error);
    }
    // SAFETY: the kernel has made this descriptor for us, and nobody else has it.
    let pidfd = unsafe { OwnedFd::from_raw_fd(pidfd) };
    Ok(Child { pid, pidfd, reaped: false })
}

/// The process that becomes a guardian, with all signals blocked, or leaves.
extern "C" fn enter_guardian(order: *mut libc::c_void) -> libc::c_int {
    // SAFETY: `guardian` passes a pointer to its caller's local, and sleeps until this process has
    // executed or left.
    unsafe { &mut *order.cast::<GuardianOrder<'_>>() }.fulfil();
    kernel::leave(126)
}

/// A descriptor above those that the child rearranges.
pub(crate) fn high(fd: OwnedFd) -> Result<OwnedFd, SandboxError> {
    if fd.as_raw_fd() >= HIGH {
        return Ok(fd);
    }
    rustix::io::fcntl_dupfd_cloexec(fd, HIGH).map_err(trying("duplicate a descriptor"))
}

/// What is needed to make the child, and what came of it.
struct Making<'a> {
    order: *mut libc::c_void,
    user: Option<BorrowedFd<'a>>,
    stack: *mut libc::c_void,
    flags: libc::c_int,
    pid: libc::pid_t,
    pidfd: RawFd,
    errno: i32,
}

impl Making<'_> {
    fn make(&mut self) {
        // SAFETY: the child runs `enter` on a stack of its own while this thread sleeps
        // (CLONE_VFORK), so nothing that the order borrows goes away. It shares memory but neither
        // descriptors nor signal handlers. It allocates nothing and takes no lock (see the invariant
        // of `child`), so locks that other threads hold don't matter. All signals are blocked
        // meanwhile, so that no handler of this program runs in the child. The kernel writes the
        // descriptor to `pidfd`.
        self.pid =
            unsafe { libc::clone(enter, self.stack, self.flags, self.order, &raw mut self.pidfd) };
        if self.pid < 0 {
            self.errno = io::Error::last_os_error().raw_os_error().unwrap_or(libc::EINVAL);
        }
    }
}

/// The process in between: enters the user namespace, makes the child there, and leaves.
extern "C" fn enter_between(making: *mut libc::c_void) -> libc::c_int {
    // SAFETY: `child` passes a pointer to its own local, and sleeps until this process has left.
    let making = unsafe { &mut *making.cast::<Making<'_>>() };
    let Some(user) = making.user else { return 1 };
    match move_into_link_name_space(user, Some(LinkNameSpaceType::User)) {
        Ok(()) => making.make(),
        Err(errno) => making.errno = errno.raw_os_error(),
    }
    0
}

fn with_signals_blocked<T>(act: impl FnOnce() -> T) -> T {
    // SAFETY: the sets are local, and the kernel and the C library write them before they are read.
    unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        let mut before: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
        let done = act();
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut());
        done
    }
}
