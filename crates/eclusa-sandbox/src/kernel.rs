//! System calls that no safe library offers, one function each. All of them may be used in the
//! child of a clone that shares memory: they allocate nothing and take no lock.
#![expect(unsafe_code, reason = "system calls by number")]

use std::ffi::CStr;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use rustix::io::{Errno, Result};

/// `MOUNT_ATTR_*`, which `mount_setattr` takes.
pub(crate) const RDONLY: u64 = 1;
pub(crate) const NOSUID: u64 = 2;
pub(crate) const NODEV: u64 = 4;

/// `F_SETSIG` of `fcntl`.
const SET_SIGNAL: libc::c_int = 10;

#[repr(C)]
struct MountAttr {
    set: u64,
    clear: u64,
    propagation: u64,
    user_namespace: u64,
}

#[repr(C)]
struct RulesetAttr {
    files: u64,
    network: u64,
    scoped: u64,
}

#[repr(C, packed)]
struct PathBeneath {
    allowed: u64,
    parent: i32,
}

fn checked(returned: libc::c_long) -> Result<libc::c_long> {
    if returned < 0 {
        // SAFETY: the address of the calling thread's errno is always valid.
        let errno = unsafe { *libc::__errno_location() };
        Err(Errno::from_raw_os_error(errno))
    } else {
        Ok(returned)
    }
}

/// Sets attributes of the mount at `path` (empty: of `dir` itself), with everything beneath it if
/// `recursive`.
pub(crate) fn mount_setattr(dir: RawFd, path: &CStr, recursive: bool, set: u64) -> Result<()> {
    let attr = MountAttr { set, clear: 0, propagation: 0, user_namespace: 0 };
    let flags = libc::AT_EMPTY_PATH | if recursive { libc::AT_RECURSIVE } else { 0 };
    // SAFETY: `path` ends in NUL, and `attr` is as large as is said and lives through the call.
    checked(unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            dir,
            path.as_ptr(),
            flags,
            &raw const attr,
            size_of::<MountAttr>(),
        )
    })
    .map(drop)
}

/// The version of Landlock that the kernel offers, 0 for none.
pub(crate) fn landlock_version() -> u32 {
    // SAFETY: with no attribute and this flag the call only asks for the version.
    let version = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, 0usize, 0usize, 1u32) };
    u32::try_from(version).unwrap_or(0)
}

/// A Landlock ruleset that handles these accesses.
pub(crate) fn landlock_ruleset(files: u64, network: u64, scoped: u64) -> Result<OwnedFd> {
    let attr = RulesetAttr { files, network, scoped };
    // SAFETY: `attr` is as large as is said and lives through the call.
    let fd = checked(unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            &raw const attr,
            size_of::<RulesetAttr>(),
            0u32,
        )
    })?;
    // SAFETY: the kernel has just made this descriptor, and nobody else has it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as RawFd) })
}

/// Allows accesses beneath one file or directory.
pub(crate) fn landlock_allow(ruleset: &OwnedFd, beneath: &OwnedFd, allowed: u64) -> Result<()> {
    let rule = PathBeneath { allowed, parent: beneath.as_raw_fd() };
    // SAFETY: 1 is the type whose layout `PathBeneath` has, and it lives through the call.
    checked(unsafe {
        libc::syscall(libc::SYS_landlock_add_rule, ruleset.as_raw_fd(), 1u32, &raw const rule, 0u32)
    })
    .map(drop)
}

/// Holds the calling process to the ruleset from now on.
pub(crate) fn landlock_restrict(ruleset: &OwnedFd) -> Result<()> {
    // SAFETY: takes two numbers.
    checked(unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset.as_raw_fd(), 0u32) })
        .map(drop)
}

/// Installs a seccomp filter. With `listen` it gives the descriptor on which notified calls arrive.
pub(crate) fn seccomp(program: &[libc::sock_filter], listen: bool) -> Result<Option<OwnedFd>> {
    let len = u16::try_from(program.len()).map_err(|_| Errno::INVAL)?;
    let program = libc::sock_fprog { len, filter: program.as_ptr().cast_mut() };
    let flags = if listen { libc::SECCOMP_FILTER_FLAG_NEW_LISTENER } else { 0 };
    // SAFETY: `program` points to `len` instructions, which the kernel copies and does not write.
    let fd = checked(unsafe {
        libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const program)
    })?;
    // SAFETY: with this flag the kernel has just made the descriptor, and nobody else has it.
    Ok(listen.then(|| unsafe { OwnedFd::from_raw_fd(fd as RawFd) }))
}

/// Whether the kernel knows this action of a seccomp filter.
pub(crate) fn seccomp_knows(action: u32) -> bool {
    // SAFETY: the kernel reads four bytes from a local that lives through the call.
    let known = unsafe {
        libc::syscall(libc::SYS_seccomp, libc::SECCOMP_GET_ACTION_AVAIL, 0u32, &raw const action)
    };
    known == 0
}

/// Whether a filter of system calls holds this process, or none can tell.
pub(crate) fn is_filtered() -> bool {
    // SAFETY: takes numbers alone.
    let mode = unsafe { libc::prctl(libc::PR_GET_SECCOMP, 0, 0, 0, 0) };
    mode != 0
}

/// Marks every descriptor from `first` on to be closed by the next exec.
pub(crate) fn close_on_exec_from(first: u32) -> Result<()> {
    // SAFETY: takes numbers, and closes nothing now.
    checked(unsafe {
        libc::syscall(libc::SYS_close_range, first, u32::MAX, libc::CLOSE_RANGE_CLOEXEC)
    })
    .map(drop)
}

/// Marks every descriptor but the standard ones to be closed by whatever this process starts.
pub fn inherit_nothing() -> std::io::Result<()> {
    Ok(close_on_exec_from(3)?)
}

/// Leaves the caller's session keyring for a new, empty one.
pub(crate) fn new_session_keyring() {
    // SAFETY: operation 1 (join) with no name makes an anonymous keyring. A kernel without
    // keyrings says so, and then there is nothing to leave.
    let _ = unsafe { libc::syscall(libc::SYS_keyctl, 1u32, 0usize, 0usize, 0usize, 0usize) };
}

/// Gives every signal its default action and blocks none, as a fresh program expects.
pub(crate) fn default_signals() {
    // SAFETY: zeroed `sigaction` and `sigset_t` mean "default action" and "no signal"; both are
    // locals that live through the calls. The kernel's table of handlers belongs to this process
    // alone, because the clone did not share it.
    unsafe {
        let default: libc::sigaction = std::mem::zeroed();
        for signal in 1..32 {
            libc::sigaction(signal, &raw const default, std::ptr::null_mut());
        }
        let none: libc::sigset_t = std::mem::zeroed();
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
    }
}

/// Switches the loopback interface on.
pub(crate) fn loopback_up(socket: BorrowedFd<'_>) -> Result<()> {
    // SAFETY: a zeroed `ifreq` is valid; the kernel reads it and it lives through the call.
    unsafe {
        let mut request: libc::ifreq = std::mem::zeroed();
        for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
            *to = *from as libc::c_char;
        }
        request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
        checked(libc::c_long::from(libc::ioctl(
            socket.as_raw_fd(),
            libc::SIOCSIFFLAGS as libc::Ioctl,
            &raw const request,
        )))
    }
    .map(drop)
}

/// Bytes that nobody can guess.
pub(crate) fn random<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    // SAFETY: the kernel writes at most as many bytes as the array has, which lives through the call.
    let got = unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), N, 0) };
    match usize::try_from(got) {
        Ok(got) if got == N => Ok(bytes),
        Ok(_) => Err(Errno::AGAIN),
        Err(_) => checked(got as libc::c_long).map(|_| bytes),
    }
}

/// What a process that has ended had used.
pub(crate) struct Used {
    pub(crate) status: i32,
    pub(crate) cpu: std::time::Duration,
    pub(crate) peak_kib: u64,
}

/// Waits for the end of a child, whatever kind of child it is.
pub(crate) fn wait(pid: i32) -> Result<Used> {
    loop {
        let mut status = 0;
        // SAFETY: a zeroed `rusage` is valid, and both locals live through the call.
        let (returned, usage) = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            let returned = libc::wait4(pid, &raw mut status, libc::__WALL, &raw mut usage);
            (returned, usage)
        };
        match checked(libc::c_long::from(returned)) {
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
            Ok(_) => {
                let time = |at: libc::timeval| {
                    let micros = at.tv_sec.saturating_mul(1_000_000).saturating_add(at.tv_usec);
                    std::time::Duration::from_micros(u64::try_from(micros).unwrap_or(0))
                };
                return Ok(Used {
                    status,
                    cpu: time(usage.ru_utime) + time(usage.ru_stime),
                    peak_kib: u64::try_from(usage.ru_maxrss).unwrap_or(0),
                });
            }
        }
    }
}

/// Replaces the process by the program behind a descriptor. Returns only if that failed.
pub(crate) fn execute(
    program: RawFd,
    argv: &[*const libc::c_char],
    env: &[*const libc::c_char],
) -> Errno {
    // SAFETY: the caller built both lists from NUL-terminated strings that are still alive, and
    // ended each with a null pointer.
    let returned = unsafe {
        libc::syscall(
            libc::SYS_execveat,
            program,
            c"".as_ptr(),
            argv.as_ptr(),
            env.as_ptr(),
            libc::AT_EMPTY_PATH,
        )
    };
    checked(returned).err().unwrap_or(Errno::INVAL)
}

/// Ends the process at once, running nothing of its parent's.
pub(crate) fn leave(code: i32) -> ! {
    // SAFETY: `_exit` runs no handlers and touches no memory.
    unsafe { libc::_exit(code) }
}

/// Makes `to` mean what `from` means, also after an exec.
pub(crate) fn duplicate(from: RawFd, to: RawFd) -> Result<()> {
    // SAFETY: takes two numbers. Whatever `to` was in this process is closed, and the caller of
    // this function, a fresh child, owns nothing there.
    checked(libc::c_long::from(unsafe { libc::dup2(from, to) })).map(drop)
}

/// Takes a write lease: nobody else opens the file until it is given up, which closing it does. The signal that
/// tells of it is one that is ignored.
pub(crate) fn take_lease(file: &OwnedFd) -> Result<()> {
    let fd = file.as_raw_fd();
    // SAFETY: takes numbers.
    checked(libc::c_long::from(unsafe { libc::fcntl(fd, SET_SIGNAL, libc::SIGURG) }))?;
    // SAFETY: takes numbers.
    let taken = unsafe { libc::fcntl(fd, libc::F_SETLEASE, libc::c_int::from(libc::F_WRLCK)) };
    checked(libc::c_long::from(taken)).map(drop)
}

/// Whether a lease is held and nobody waits for its end.
pub(crate) fn holds_lease(file: &OwnedFd) -> bool {
    // SAFETY: takes numbers.
    let kind = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GETLEASE) };
    kind == libc::c_int::from(libc::F_WRLCK)
}

/// Takes a capability out of what any program could ever regain.
pub(crate) fn drop_from_bounding_set(capability: u32) -> Result<()> {
    // SAFETY: takes numbers.
    checked(libc::c_long::from(unsafe {
        libc::prctl(libc::PR_CAPBSET_DROP, libc::c_ulong::from(capability), 0, 0, 0)
    }))
    .map(drop)
}
