//! Counts the system calls of a program and of everything it starts, as a debugger would, and notes
//! which names they are about: what the program decides is the same on a loaded machine.
#![expect(unsafe_code, reason = "ptrace")]

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::FileExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;

/// What a program did.
#[derive(Debug, Default)]
pub struct Traced {
    /// How often each system call was made, by its number. Threads that wake each other do so as
    /// often as the machine lets them wait: that is not counted.
    pub calls: BTreeMap<u64, u64>,
    /// Everything that was opened, looked at, made, removed or run, whether it was there or not.
    pub names: BTreeSet<PathBuf>,
    /// How many processes and threads were started.
    pub started: u64,
    /// The exit code of the program itself, unless a signal ended it.
    pub code: Option<i32>,
}

/// Waiting, memory, and what the beginning and the end of a thread take: how often depends on which
/// thread is quicker, and on how many are needed for that.
const UNSTEADY: [libc::c_long; 24] = [
    libc::SYS_clone,
    libc::SYS_clone3,
    libc::SYS_exit,
    libc::SYS_gettid,
    libc::SYS_prctl,
    libc::SYS_rseq,
    libc::SYS_rt_sigprocmask,
    libc::SYS_sched_getaffinity,
    libc::SYS_set_robust_list,
    libc::SYS_sigaltstack,
    libc::SYS_getrandom,
    libc::SYS_futex,
    libc::SYS_epoll_pwait,
    libc::SYS_ppoll,
    libc::SYS_sched_yield,
    libc::SYS_nanosleep,
    libc::SYS_clock_nanosleep,
    libc::SYS_restart_syscall,
    libc::SYS_brk,
    libc::SYS_mmap,
    libc::SYS_munmap,
    libc::SYS_mprotect,
    libc::SYS_madvise,
    libc::SYS_mremap,
];

/// Which argument of a call is a name, and which the directory that it begins at.
const NAMES: [(libc::c_long, usize, Option<usize>); 12] = [
    (libc::SYS_execve, 0, None),
    (libc::SYS_statfs, 0, None),
    (libc::SYS_openat, 1, Some(0)),
    (libc::SYS_openat2, 1, Some(0)),
    (libc::SYS_newfstatat, 1, Some(0)),
    (libc::SYS_statx, 1, Some(0)),
    (libc::SYS_readlinkat, 1, Some(0)),
    (libc::SYS_faccessat, 1, Some(0)),
    (libc::SYS_faccessat2, 1, Some(0)),
    (libc::SYS_mkdirat, 1, Some(0)),
    (libc::SYS_unlinkat, 1, Some(0)),
    (libc::SYS_renameat2, 1, Some(0)),
];

/// The same calls without a directory, where there are such.
#[cfg(target_arch = "x86_64")]
const PLAIN: [libc::c_long; 8] = [
    libc::SYS_open,
    libc::SYS_stat,
    libc::SYS_lstat,
    libc::SYS_access,
    libc::SYS_readlink,
    libc::SYS_mkdir,
    libc::SYS_unlink,
    libc::SYS_rename,
];
#[cfg(not(target_arch = "x86_64"))]
const PLAIN: [libc::c_long; 0] = [];

/// Ways of waiting that only some processors have.
#[cfg(target_arch = "x86_64")]
const WAITS: [libc::c_long; 2] = [libc::SYS_epoll_wait, libc::SYS_poll];
#[cfg(not(target_arch = "x86_64"))]
const WAITS: [libc::c_long; 0] = [];

/// Not every C library names it.
const PTRACE_GET_SYSCALL_INFO: PtraceRequest = 0x420e;

#[cfg(target_env = "gnu")]
type PtraceRequest = libc::c_uint;
#[cfg(not(target_env = "gnu"))]
type PtraceRequest = libc::c_int;

impl Traced {
    /// How many calls there were, apart from those whose number differs from run to run.
    #[must_use]
    pub fn steady(&self) -> u64 {
        let unsteady = || UNSTEADY.into_iter().chain(WAITS);
        let steady = |number: &u64| unsteady().all(|it| it.unsigned_abs() != *number);
        self.calls.iter().filter(|(number, _)| steady(number)).map(|(_, count)| count).sum()
    }
}

/// What the kernel says of a stop (`PTRACE_GET_SYSCALL_INFO`), as far as it is needed.
#[repr(C)]
#[derive(Default)]
struct SyscallInfo {
    /// 1 at the beginning of a call.
    op: u8,
    padding: [u8; 3],
    architecture: u32,
    instruction: u64,
    stack: u64,
    number: u64,
    arguments: [u64; 7],
}

const OPTIONS: libc::c_int = libc::PTRACE_O_TRACESYSGOOD
    | libc::PTRACE_O_TRACECLONE
    | libc::PTRACE_O_TRACEFORK
    | libc::PTRACE_O_TRACEVFORK
    | libc::PTRACE_O_TRACEEXEC
    | libc::PTRACE_O_EXITKILL;

/// Runs a program to its end. Its streams must be files or nothing: nobody reads from a pipe
/// meanwhile. An error where this machine lets nobody be traced.
pub fn system_calls(command: &mut Command) -> io::Result<Traced> {
    // SAFETY: between fork and exec only a system call is made, which allocates nothing.
    unsafe { command.pre_exec(|| request(libc::PTRACE_TRACEME, 0, 0)) };
    let mut child = command.spawn()?;
    let program = i32::try_from(child.id()).map_err(io::Error::other)?;
    let mut traced = Traced::default();
    let followed = follow(program, &mut traced);
    if followed.is_err() {
        let _ = child.kill();
    }
    followed.map(|()| traced)
}

/// Lets everybody go on until nobody is left.
fn follow(program: i32, traced: &mut Traced) -> io::Result<()> {
    let mut known = BTreeMap::new();
    loop {
        let mut status = 0;
        // Of this thread alone: other tests have children too.
        // SAFETY: the status is a local that lives through the call.
        let pid = unsafe { libc::waitpid(-1, &raw mut status, libc::__WALL | libc::__WNOTHREAD) };
        if pid < 0 {
            let error = io::Error::last_os_error();
            return match error.raw_os_error() {
                Some(libc::ECHILD) => Ok(()),
                Some(libc::EINTR) => continue,
                _ => Err(error),
            };
        }
        if libc::WIFEXITED(status) || libc::WIFSIGNALED(status) {
            if pid == program {
                traced.code = libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status));
            }
            known.remove(&pid);
            continue;
        }
        let (signal, event) = (libc::WSTOPSIG(status), status >> 16);
        let first = known.insert(pid, ()).is_none();
        if first && pid == program {
            request(libc::PTRACE_SETOPTIONS, pid, OPTIONS as usize)?;
        }
        traced.started += u64::from(first && pid != program);
        let deliver = match signal {
            _ if first || event != 0 => 0,
            libc::SIGTRAP => 0,
            it if it == libc::SIGTRAP | 0x80 => {
                if let Some(call) = call(pid)? {
                    traced.names.extend(name(pid, &call));
                    if !wakes(pid, &call) {
                        *traced.calls.entry(call.number).or_default() += 1;
                    }
                }
                0
            }
            it => it,
        };
        // Whoever was killed meanwhile is waited for in the next round.
        let _ = request(libc::PTRACE_SYSCALL, pid, usize::try_from(deliver).unwrap_or(0));
    }
}

/// The call that begins here.
fn call(pid: i32) -> io::Result<Option<SyscallInfo>> {
    let mut info = SyscallInfo::default();
    let size = size_of::<SyscallInfo>();
    // SAFETY: the kernel writes at most as many bytes as are said, to a local of that size.
    let said = unsafe { libc::ptrace(PTRACE_GET_SYSCALL_INFO, pid, size, &raw mut info) };
    match said {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok((info.op == 1).then_some(info)),
    }
}

/// The name that a call is about.
fn name(pid: i32, call: &SyscallInfo) -> Option<PathBuf> {
    let is = |number: libc::c_long| number.unsigned_abs() == call.number;
    let named = NAMES.iter().find(|it| is(it.0)).map(|it| (it.1, it.2));
    let (at, from) = named.or_else(|| PLAIN.into_iter().find(|it| is(*it)).map(|_| (0, None)))?;
    let mut text = vec![0; 4096];
    let memory = File::open(format!("/proc/{pid}/mem")).ok()?;
    let read = memory.read_at(&mut text, *call.arguments.get(at)?).ok()?;
    text.truncate(read);
    text.truncate(text.iter().position(|it| *it == 0)?);
    if text.is_empty() {
        return None;
    }
    let path = PathBuf::from(OsString::from_vec(text));
    let from = from.and_then(|it| call.arguments.get(it)).copied();
    let above = match from.map(|it| it as i32) {
        None | Some(libc::AT_FDCWD) => format!("/proc/{pid}/cwd"),
        Some(handle) => format!("/proc/{pid}/fd/{handle}"),
    };
    match path.is_absolute() {
        true => Some(path),
        false => Some(std::fs::read_link(above).ok()?.join(path)),
    }
}

/// True when a thread wakes another, or was woken.
fn wakes(pid: i32, call: &SyscallInfo) -> bool {
    let [handle, ..] = call.arguments;
    [libc::SYS_read, libc::SYS_write].iter().any(|it| it.unsigned_abs() == call.number)
        && std::fs::read_link(format!("/proc/{pid}/fd/{handle}"))
            .is_ok_and(|it| it.as_os_str() == "anon_inode:[eventfd]")
}

fn request(what: PtraceRequest, pid: i32, data: usize) -> io::Result<()> {
    // SAFETY: none of these requests has the kernel write to our memory.
    match unsafe { libc::ptrace(what, pid, 0usize, data) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}
