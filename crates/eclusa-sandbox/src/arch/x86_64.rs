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
/// The calls that give a file another name.
pub(crate) const NAMINGS: &[c_long] =
    &[libc::SYS_rename, libc::SYS_renameat, libc::SYS_renameat2, libc::SYS_link, libc::SYS_linkat];
/// The one that links without directories.
pub(crate) const LINK: Option<c_long> = Some(libc::SYS_link);
/// The one that removes a name without directories.
pub(crate) const UNLINK: Option<c_long> = Some(libc::SYS_unlink);
/// The one that renames without directories.
pub(crate) const RENAME: Option<c_long> = Some(libc::SYS_rename);
/// Calls that take paths and that only this processor has, and which arguments these are.
pub(crate) const PATHS: &[(c_long, &[usize])] = &[
    (libc::SYS_open, &[0]),
    (libc::SYS_creat, &[0]),
    (libc::SYS_stat, &[0]),
    (libc::SYS_lstat, &[0]),
    (libc::SYS_access, &[0]),
    (libc::SYS_readlink, &[0]),
    (libc::SYS_mkdir, &[0]),
    (libc::SYS_mknod, &[0]),
    (libc::SYS_rmdir, &[0]),
    (libc::SYS_unlink, &[0]),
    (libc::SYS_rename, &[0, 1]),
    (libc::SYS_link, &[0, 1]),
    (libc::SYS_symlink, &[1]),
    (libc::SYS_chmod, &[0]),
    (libc::SYS_chown, &[0]),
    (libc::SYS_lchown, &[0]),
    (libc::SYS_utime, &[0]),
    (libc::SYS_utimes, &[0]),
    (libc::SYS_futimesat, &[1]),
];

/// How many registers a debugger sees, and which hold the arguments of a call.
pub(crate) const REGISTERS: usize = 27;
pub(crate) const ARGUMENTS: [usize; 6] = [14, 13, 12, 7, 9, 8];

/// Where the stack of a thread ends.
pub(crate) fn stack(registers: &[u64; REGISTERS]) -> u64 {
    let [.., stack, _, _, _, _, _, _, _] = registers;
    *stack
}

/// Whether a thread was stopped in this call, which it makes again when it goes on (`ERESTARTSYS`).
pub(crate) fn is_made_again(registers: &[u64; REGISTERS], call: i64) -> bool {
    let [_, _, _, _, _, _, _, _, _, _, result, _, _, _, _, number, ..] = registers;
    result.cast_signed() == -512 && number.cast_signed() == call
}

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
    "    sub  rsp, 192",
    // vfork(). The child leaves the stack as it is, apart from the eight bytes of a message.
    "    mov  eax, 58",
    "    syscall",
    "    test eax, eax",
    "    jz   4f",
    "    js   6f",
    "    mov  r15d, eax",
    // What begins with a j outlives whoever started it.
    "    mov  rax, [r13 - 8]",
    "    cmp  byte ptr [rax], 106",
    "    je   20f",
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
    // The command has ended; its number may be given to another. Is anybody left?
    // wait4(-1, rsp + 8, __WALL | WNOHANG, NULL)
    "    xor  r15d, r15d",
    "3:  mov  eax, 61",
    "    mov  rdi, -1",
    "    lea  rsi, [rsp + 8]",
    "    mov  edx, 0x40000001",
    "    xor  r10d, r10d",
    "    syscall",
    "    test eax, eax",
    "    jg   3b",
    "    mov  dword ptr [rsp], 0",
    "    jnz  5f",
    "    mov  dword ptr [rsp], 2",
    // write(3, { ENDED or LEFT, status }, 8)
    "5:  mov  eax, 1",
    "    mov  edi, 3",
    "    mov  rsi, rsp",
    "    mov  edx, 8",
    "    syscall",
    "    cmp  dword ptr [rsp], 2",
    "    jne  8f",
    // read(3, rsp + 8, 1): whether those who are left outlive whoever started them.
    "7:  xor  eax, eax",
    "    mov  edi, 3",
    "    lea  rsi, [rsp + 8]",
    "    mov  edx, 1",
    "    syscall",
    "    cmp  eax, -4",
    "    je   7b",
    "    cmp  eax, 1",
    "    jne  8f",
    "    cmp  byte ptr [rsp + 8], 1",
    "    jne  2b",
    // prctl(PR_SET_PDEATHSIG, 0): from here on all end when nobody has the other end of 3.
    "20: mov  eax, 157",
    "    mov  edi, 1",
    "    xor  esi, esi",
    "    xor  edx, edx",
    "    xor  r10d, r10d",
    "    xor  r8d, r8d",
    "    syscall",
    // rt_sigprocmask(SIG_BLOCK, { SIGCHLD }, NULL, 8)
    "    mov  qword ptr [rsp + 16], 0x10000",
    "    mov  eax, 14",
    "    xor  edi, edi",
    "    lea  rsi, [rsp + 16]",
    "    xor  edx, edx",
    "    mov  r10d, 8",
    "    syscall",
    // signalfd4(-1, { SIGCHLD }, 8, SFD_CLOEXEC)
    "    mov  eax, 289",
    "    mov  edi, -1",
    "    lea  rsi, [rsp + 16]",
    "    mov  edx, 8",
    "    mov  r10d, 0x80000",
    "    syscall",
    "    test eax, eax",
    "    js   8f",
    "    mov  r12d, eax",
    // wait4(-1, rsp + 4, __WALL | WNOHANG, NULL)
    "21: mov  eax, 61",
    "    mov  rdi, -1",
    "    lea  rsi, [rsp + 4]",
    "    mov  edx, 0x40000001",
    "    xor  r10d, r10d",
    "    syscall",
    "    cmp  eax, -10",
    "    je   8f",
    "    test eax, eax",
    "    jz   22f",
    "    cmp  eax, r15d",
    "    jne  21b",
    // write(3, { ENDED, status }, 8)
    "    xor  r15d, r15d",
    "    mov  dword ptr [rsp], 0",
    "    mov  eax, 1",
    "    mov  edi, 3",
    "    mov  rsi, rsp",
    "    mov  edx, 8",
    "    syscall",
    "    jmp  21b",
    // ppoll({ signals: POLLIN, 3: POLLIN | POLLRDHUP }, 2, NULL, NULL, 8)
    "22: mov  dword ptr [rsp + 24], r12d",
    "    mov  dword ptr [rsp + 28], 1",
    "    mov  dword ptr [rsp + 32], 3",
    "    mov  dword ptr [rsp + 36], 0x2001",
    "    mov  eax, 271",
    "    lea  rdi, [rsp + 24]",
    "    mov  esi, 2",
    "    xor  edx, edx",
    "    xor  r10d, r10d",
    "    mov  r8d, 8",
    "    syscall",
    "    cmp  word ptr [rsp + 38], 0",
    "    jne  8f",
    "    cmp  word ptr [rsp + 30], 0",
    "    je   22b",
    // read(signals, rsp + 64, 128)
    "    xor  eax, eax",
    "    mov  edi, r12d",
    "    lea  rsi, [rsp + 64]",
    "    mov  edx, 128",
    "    syscall",
    "    jmp  21b",
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
