//! The first process of a sandbox: a program of some hundred bytes, written in `arch` and kept in
//! memory.
//!
//! The command must not itself be process 1 of its namespace. The kernel protects that process
//! from signals it has no handler for, so `kill -9 $$` would do nothing, a polite end would be
//! ignored, and orphans would be nobody's. Forking an init from the caller would copy the page
//! tables of a process that may be large. So the sandbox's first process executes this program, which
//! starts the command, waits for everybody, and writes the command's wait status to descriptor 3.
//!
//! The kernel ends a sandbox with the thread that made it. One that outlives its maker is given up by the
//! kernel, and this program ends it: when nobody has the other end of descriptor 3, which can be handed
//! from process to process, there is nobody left who watches.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::OnceLock;

use rustix::fs::{MemfdFlags, SealFlags};

use crate::arch;

/// What the program writes to descriptor 3: one of these, then a number, four bytes each.
pub(crate) const ENDED: u32 = 0;
/// The command has ended, and others that it started have not. The program then waits for one byte:
/// whether they [outlive](OUTLIVE) whoever started them.
pub(crate) const LEFT: u32 = 2;
/// They do: they end when nobody has the other end of descriptor 3 any more, and no sooner.
pub(crate) const OUTLIVE: u8 = 1;
/// They do not.
pub(crate) const REAP: u8 = 0;
/// The name of a program whose command outlives whoever started it, from its start. Its first letter counts.
pub(crate) const JOB: &CStr = c"job-init";
/// The command could not be executed; the number is the error.
pub(crate) const NOT_EXECUTED: u32 = 1;

/// Where the program is loaded, and the size of the headers before its code.
const BASE: u64 = 0x0040_0000;
const HEADERS: u64 = 64 + 2 * 56;

/// The program as a file in memory that can be executed and no longer written. Made once.
pub(crate) fn program() -> io::Result<BorrowedFd<'static>> {
    static PROGRAM: OnceLock<OwnedFd> = OnceLock::new();
    once(&PROGRAM, c"sandbox-init", arch::init_code())
}

/// The program of the [guardian](crate::guardian), made in the same way.
pub(crate) fn guardian() -> io::Result<BorrowedFd<'static>> {
    static PROGRAM: OnceLock<OwnedFd> = OnceLock::new();
    once(&PROGRAM, c"sandbox-guard", arch::guardian_code())
}

fn once(
    made: &'static OnceLock<OwnedFd>,
    name: &CStr,
    code: &[u8],
) -> io::Result<BorrowedFd<'static>> {
    if let Some(program) = made.get() {
        return Ok(program.as_fd());
    }
    let program = make(name, code)?;
    Ok(made.get_or_init(|| program).as_fd())
}

fn make(name: &CStr, code: &[u8]) -> io::Result<OwnedFd> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    // Kernels before 6.3 don't know the second flag, and don't need it.
    let file = rustix::fs::memfd_create(name, flags | MemfdFlags::EXEC)
        .or_else(|_| rustix::fs::memfd_create(name, flags))?;
    rustix::io::write(&file, &elf(code))?;
    let seals = SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL;
    rustix::fs::fcntl_add_seals(&file, seals)?;
    // Above the descriptors that a child rearranges.
    Ok(rustix::io::fcntl_dupfd_cloexec(&file, 10)?)
}

/// The smallest static executable around some code: one segment, and a stack that isn't executable.
fn elf(code: &[u8]) -> Vec<u8> {
    let size = HEADERS + code.len() as u64;
    let mut elf = Vec::with_capacity(512);
    elf.extend(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0");
    elf.extend(2u16.to_le_bytes()); // an executable at fixed addresses
    elf.extend(arch::ELF_MACHINE.to_le_bytes());
    elf.extend(1u32.to_le_bytes());
    elf.extend((BASE + HEADERS).to_le_bytes()); // starts behind the headers
    elf.extend(64u64.to_le_bytes()); // where the program headers are
    elf.extend(0u64.to_le_bytes());
    elf.extend(0u32.to_le_bytes());
    for half in [64u16, 56, 2, 0, 0, 0] {
        elf.extend(half.to_le_bytes());
    }
    // PT_LOAD, read and execute.
    elf.extend(1u32.to_le_bytes());
    elf.extend(5u32.to_le_bytes());
    for word in [0, BASE, BASE, size, size, 0x1_0000] {
        elf.extend(word.to_le_bytes());
    }
    // PT_GNU_STACK, read and write.
    elf.extend(0x6474_e551_u32.to_le_bytes());
    elf.extend(6u32.to_le_bytes());
    for word in [0u64, 0, 0, 0, 0, 16] {
        elf.extend(word.to_le_bytes());
    }
    elf.extend(code);
    elf
}
