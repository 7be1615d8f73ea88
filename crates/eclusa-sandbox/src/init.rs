//! The first process of a sandbox: a program of some hundred bytes, written here and kept in memory.
//!
//! The command must not itself be process 1 of its namespace. The kernel protects that process
//! from signals it has no handler for, so `kill -9 $$` would do nothing, a polite end would be
//! ignored, and orphans would be nobody's. Forking an init from the caller would copy the page
//! tables of a process that may be large. So the sandbox's first process executes this program, which
//! starts the command, waits for everybody, and writes the command's wait status to descriptor 3.
#![expect(unsafe_code, reason = "the program is assembly, read as bytes")]

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::OnceLock;

use rustix::fs::{MemfdFlags, SealFlags};

/// What the program writes to descriptor 3: one of these, then a number, four bytes each.
pub(crate) const ENDED: u32 = 0;
/// The command could not be executed; the number is the error.
pub(crate) const NOT_EXECUTED: u32 = 1;

#[cfg(target_arch = "x86_64")]
std::arch::global_asm!(
    ".pushsection .rodata.eclusa_init, \"a\"",
    ".globl eclusa_init_begin",
    ".globl eclusa_init_end",
    "eclusa_init_begin:",
    // argc, &argv[1] and envp, as the kernel laid them out.
    "    mov  r12, [rsp]",
    "    lea  r13, [rsp + 16]",
    "    lea  r14, [rsp + r12*8 + 16]",
    // prctl(PR_SET_DUMPABLE, 0): nobody in the sandbox looks into this process.
    "    mov  eax, 157",
    "    mov  edi, 4",
    "    xor  esi, esi",
    "    xor  edx, edx",
    "    xor  r10d, r10d",
    "    xor  r8d, r8d",
    "    syscall",
    // Without a command this was only a trial: exit(0).
    "    cmp  r12, 2",
    "    jb   8f",
    // fcntl(3, F_SETFD, FD_CLOEXEC)
    "    mov  eax, 72",
    "    mov  edi, 3",
    "    mov  esi, 2",
    "    mov  edx, 1",
    "    syscall",
    "    sub  rsp, 32",
    // vfork(). The child leaves the stack as it is, apart from the eight bytes of a message.
    "    mov  eax, 58",
    "    syscall",
    "    test eax, eax",
    "    jz   4f",
    "    js   6f",
    "    mov  r15d, eax",
    // wait4(-1, rsp + 4, __WALL, NULL), for ever, until there is nobody left.
    "2:  mov  eax, 61",
    "    mov  rdi, -1",
    "    lea  rsi, [rsp + 4]",
    "    mov  edx, 0x40000000",
    "    xor  r10d, r10d",
    "    syscall",
    "    cmp  eax, -10",
    "    je   8f",
    "    cmp  eax, r15d",
    "    jne  2b",
    // write(3, { ENDED, status }, 8)
    "    mov  dword ptr [rsp], 0",
    "    mov  eax, 1",
    "    mov  edi, 3",
    "    mov  rsi, rsp",
    "    mov  edx, 8",
    "    syscall",
    "    jmp  2b",
    // The child: execve(argv[1], &argv[1], envp)
    "4:  mov  eax, 59",
    "    mov  rdi, [r13]",
    "    mov  rsi, r13",
    "    mov  rdx, r14",
    "    syscall",
    // write(3, { NOT_EXECUTED, errno }, 8); exit(127)
    "6:  neg  eax",
    "    mov  [rsp + 4], eax",
    "    mov  dword ptr [rsp], 1",
    "    mov  eax, 1",
    "    mov  edi, 3",
    "    mov  rsi, rsp",
    "    mov  edx, 8",
    "    syscall",
    "    mov  edi, 127",
    "    jmp  9f",
    "8:  xor  edi, edi",
    "9:  mov  eax, 231",
    "    syscall",
    "eclusa_init_end:",
    ".popsection",
);

#[cfg(target_arch = "x86_64")]
unsafe extern "C" {
    static eclusa_init_begin: u8;
    static eclusa_init_end: u8;
}

/// The machine code between the two labels.
#[cfg(target_arch = "x86_64")]
fn code() -> &'static [u8] {
    let (begin, end) = (&raw const eclusa_init_begin, &raw const eclusa_init_end);
    // SAFETY: both labels are in the one section above, so the bytes between them are constant,
    // initialised, and as many as the addresses differ by.
    unsafe { std::slice::from_raw_parts(begin, end.addr() - begin.addr()) }
}

/// Where the program is loaded, and the size of the headers before its code.
const BASE: u64 = 0x0040_0000;
const HEADERS: u64 = 64 + 2 * 56;

/// The program as a file in memory that can be executed and no longer written. Made once.
pub(crate) fn program() -> io::Result<BorrowedFd<'static>> {
    static PROGRAM: OnceLock<OwnedFd> = OnceLock::new();
    if let Some(program) = PROGRAM.get() {
        return Ok(program.as_fd());
    }
    let program = make()?;
    Ok(PROGRAM.get_or_init(|| program).as_fd())
}

fn make() -> io::Result<OwnedFd> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    // Kernels before 6.3 don't know the second flag, and don't need it.
    let file = rustix::fs::memfd_create(c"sandbox-init", flags | MemfdFlags::EXEC)
        .or_else(|_| rustix::fs::memfd_create(c"sandbox-init", flags))?;
    rustix::io::write(&file, &elf(code()))?;
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
    elf.extend(62u16.to_le_bytes()); // for x86-64
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
    for word in [0, BASE, BASE, size, size, 0x1000] {
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
