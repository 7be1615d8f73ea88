//! Lets a thread that waits for an answer make its call again, with other paths: it is stopped as a debugger
//! would, the registers of the call lead to what was written below its stack, and the kernel starts the
//! call anew, which then waits here once more. It is the thread's own call, held as any other of its calls.
#![expect(unsafe_code, reason = "ptrace has no safe interface")]

use std::{
    fs::File,
    os::{fd::OwnedFd, unix::fs::FileExt as _},
};

use rustix::{
    io::Errno,
    process::{Pid, WaitId, WaitIdOptions},
};

use super::kernel::{self, Call};
use crate::arch;

#[cfg(target_env = "gnu")]
type PtraceRequest = libc::c_uint;
#[cfg(not(target_env = "gnu"))]
type PtraceRequest = libc::c_int;

const SEIZE: PtraceRequest = 0x4206;
const INTERRUPT: PtraceRequest = 0x4207;
const GET_REGISTERS: PtraceRequest = 0x4204;
const SET_REGISTERS: PtraceRequest = 0x4205;
const DETACH: PtraceRequest = 17;
/// Which registers: those that programs compute with (`NT_PRSTATUS`).
const GENERAL: usize = 1;
/// What a stop says that was asked for, beside a signal.
const EVENT_STOP: i32 = 128;

/// What a function may keep below the top of its stack without saying so.
const RED_ZONE: u64 = 128;

/// Makes the call again. Each path stands in the place of one argument, and ends in NUL. False: it is made
/// again as it was. The error means that it still waits.
pub(super) fn with_paths(
    call: &Call,
    listener: &OwnedFd,
    memory: &File,
    paths: &[(usize, Vec<u8>)],
) -> rustix::io::Result<bool> {
    let thread = i32::try_from(call.thread).map_err(|_| Errno::SRCH)?;
    trace(SEIZE, thread, 0, 0)?;
    // The number of a thread that ended may have been given to another, which only goes on then.
    let is_it = kernel::is_valid(listener, call.id);
    // From here on the call does not wait any more, unless its thread is gone.
    let _ = trace(INTERRUPT, thread, 0, 0);
    let Some(signal) = stopped(thread) else { return Ok(true) };
    let replaced = !is_it || signal != 0 || replace(call, thread, memory, paths).is_ok();
    let _ = trace(DETACH, thread, 0, signal);
    Ok(replaced)
}

/// Waits until a thread has stopped, and gives the signal that it is to get when it goes on, or 0. `None`: it is
/// gone.
fn stopped(thread: i32) -> Option<usize> {
    let of = WaitId::Pid(Pid::from_raw(thread)?);
    let how = WaitIdOptions::STOPPED | WaitIdOptions::EXITED;
    let status = loop {
        match rustix::process::waitid(of.clone(), how) {
            Err(Errno::INTR) => {}
            waited => break waited.ok()??,
        }
    };
    let said = status.trapping_signal().or(status.stopping_signal())?;
    match said >> 8 {
        EVENT_STOP => Some(0),
        // A signal came first: the call is made again after it, and waits here again.
        _ => usize::try_from(said & 0x7f).ok(),
    }
}

/// Gives the call its other arguments, if it is what the thread was stopped in.
fn replace(
    call: &Call,
    thread: i32,
    memory: &File,
    paths: &[(usize, Vec<u8>)],
) -> rustix::io::Result<()> {
    let mut registers = [0_u64; arch::REGISTERS];
    let mut area = area(&mut registers);
    trace(GET_REGISTERS, thread, GENERAL, (&raw mut area).addr())?;
    if !arch::is_made_again(&registers, call.number) {
        return Err(Errno::AGAIN);
    }
    let mut at = arch::stack(&registers).saturating_sub(RED_ZONE);
    for (argument, path) in paths {
        at = at.saturating_sub(path.len() as u64) & !15;
        // A signal that comes before the call is made again writes there too; the path is then another one,
        // and leads nowhere where the command may not go.
        memory.write_all_at(path, at).map_err(|_| Errno::FAULT)?;
        let number = arch::ARGUMENTS.get(*argument).copied().unwrap_or_default();
        if let Some(register) = registers.get_mut(number) {
            *register = at;
        }
    }
    let mut area = self::area(&mut registers);
    trace(SET_REGISTERS, thread, GENERAL, (&raw mut area).addr())
}

/// Registers as the kernel takes them.
fn area(registers: &mut [u64; arch::REGISTERS]) -> libc::iovec {
    libc::iovec { iov_base: registers.as_mut_ptr().cast(), iov_len: size_of_val(registers) }
}

fn trace(what: PtraceRequest, thread: i32, address: usize, data: usize) -> rustix::io::Result<()> {
    // SAFETY: what is read or written of this process is an `iovec` of the caller's over an array of its
    // own, which live through the call; the other requests take numbers.
    match unsafe { libc::ptrace(what, thread, address, data) } {
        -1 => Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)),
        _ => Ok(()),
    }
}
