//! What is particular to x86-64: numbers of system calls, and the first process of a sandbox.

use libc::c_long;

use super::ByPath;

/// What the kernel calls this processor where a filter looks at it.
pub(crate) const AUDIT: u32 = 0xc000_003e;
/// What an executable for it says.
pub(crate) const ELF_MACHINE: u16 = 62;
/// From this number on calls are those of the x32 interface.
pub(crate) const OTHER_INTERFACE: Option<u32> = Some(0x4000_0000);

pub(crate) const KEXEC_FILE_LOAD: c_long = libc::SYS_kexec_file_load;
/// What no command needs, and what only this processor has.
pub(crate) const REFUSED: [c_long; 4] =
    [libc::SYS_modify_ldt, libc::SYS_iopl, libc::SYS_ioperm, libc::SYS_ustat];
/// Calls that take a path without a directory before it, and where their mode or flags stand.
pub(crate) const OPEN: [(c_long, u32); 1] = [(libc::SYS_open, 1)];
pub(crate) const CHMOD: [(c_long, u32); 1] = [(libc::SYS_chmod, 1)];
pub(crate) const MKNOD: [(c_long, u32); 1] = [(libc::SYS_mknod, 1)];
/// Those that change what is known of a file.
pub(crate) const METADATA: [(c_long, ByPath); 6] = [
    (libc::SYS_chmod, ByPath::Mode),
    (libc::SYS_chown, ByPath::Owner),
    (libc::SYS_lchown, ByPath::LinkOwner),
    (libc::SYS_utime, ByPath::Seconds),
    (libc::SYS_utimes, ByPath::Times),
    (libc::SYS_futimesat, ByPath::TimesAt),
];
/// The calls that rename.
pub(crate) const RENAMES: &[c_long] = &[libc::SYS_rename, libc::SYS_renameat, libc::SYS_renameat2];
/// The one that renames without directories.
pub(crate) const RENAME: Option<c_long> = Some(libc::SYS_rename);

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

std::arch::global_asm!(
    ".pushsection .rodata.eclusa_guardian, \"a\"",
    ".globl eclusa_guardian_begin",
    ".globl eclusa_guardian_end",
    "eclusa_guardian_begin:",
    "    sub  rsp, 16",
    // read(3, rsp, 4): the number of a process group. Without one there is nothing to guard.
    "    xor  eax, eax",
    "    mov  edi, 3",
    "    mov  rsi, rsp",
    "    mov  edx, 4",
    "    syscall",
    "    cmp  eax, 4",
    "    jne  9f",
    // read(3, rsp + 8, 4): nothing more is written, so that it waits for the end.
    "2:  xor  eax, eax",
    "    mov  edi, 3",
    "    lea  rsi, [rsp + 8]",
    "    mov  edx, 4",
    "    syscall",
    "    cmp  eax, -4",
    "    je   2b",
    // kill(-group, SIGKILL)
    "    mov  edi, [rsp]",
    "    neg  edi",
    "    mov  esi, 9",
    "    mov  eax, 62",
    "    syscall",
    "9:  xor  edi, edi",
    "    mov  eax, 231",
    "    syscall",
    "eclusa_guardian_end:",
    ".popsection",
);
