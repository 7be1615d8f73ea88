//! Counts the system calls of a program and of everything it starts, as a debugger would: a count is
//! the same on a loaded machine.
#![expect(unsafe_code, reason = "ptrace")]

use std::collections::BTreeMap;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// What a program did.
#[derive(Debug, Default)]
pub struct Traced {
    /// How often each system call was made, by its number.
    pub calls: BTreeMap<u64, u64>,
    /// How many processes and threads were started.
    pub started: u64,
    /// The exit code of the program itself, unless a signal ended it.
    pub code: Option<i32>,
}

/// Waiting and memory: how often depends on which thread is quicker.
const UNSTEADY: [libc::c_long; 15] = [
    libc::SYS_futex,
    libc::SYS_epoll_wait,
    libc::SYS_epoll_pwait,
    libc::SYS_poll,
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

impl Traced {
    /// How many calls there were, apart from those whose number differs from run to run.
    #[must_use]
    pub fn steady(&self) -> u64 {
        let steady = |number: &u64| UNSTEADY.iter().all(|it| it.unsigned_abs() != *number);
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
                if let Some(number) = number(pid)? {
                    *traced.calls.entry(number).or_default() += 1;
                }
                0
            }
            it => it,
        };
        // Whoever was killed meanwhile is waited for in the next round.
        let _ = request(libc::PTRACE_SYSCALL, pid, usize::try_from(deliver).unwrap_or(0));
    }
}

/// The number of the call that begins here.
fn number(pid: i32) -> io::Result<Option<u64>> {
    let mut info = SyscallInfo::default();
    let size = size_of::<SyscallInfo>();
    // SAFETY: the kernel writes at most as many bytes as are said, to a local of that size.
    let said = unsafe { libc::ptrace(libc::PTRACE_GET_SYSCALL_INFO, pid, size, &raw mut info) };
    match said {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok((info.op == 1).then_some(info.number)),
    }
}

fn request(what: libc::c_uint, pid: i32, data: usize) -> io::Result<()> {
    // SAFETY: none of these requests has the kernel write to our memory.
    match unsafe { libc::ptrace(what, pid, 0usize, data) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}
