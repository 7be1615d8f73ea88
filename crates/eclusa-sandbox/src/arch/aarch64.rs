//! What is particular to aarch64: numbers of system calls, and the first process of a sandbox.

use libc::c_long;

use super::ByPath;

/// What the kernel calls this processor where a filter looks at it.
pub(crate) const AUDIT: u32 = 0xc000_00b7;
/// What an executable for it says.
pub(crate) const ELF_MACHINE: u16 = 183;
/// There is one interface.
pub(crate) const OTHER_INTERFACE: Option<u32> = None;

pub(crate) const KEXEC_FILE_LOAD: c_long = 294;
/// What no command needs, and what only this processor has.
pub(crate) const REFUSED: [c_long; 0] = [];
/// Calls that take a path without a directory before it: none.
pub(crate) const OPEN: [(c_long, u32); 0] = [];
pub(crate) const CHMOD: [(c_long, u32); 0] = [];
pub(crate) const MKNOD: [(c_long, u32); 0] = [];
/// Those that change what is known of a file.
pub(crate) const METADATA: [(c_long, ByPath); 0] = [];
/// The calls that give a file another name.
pub(crate) const NAMINGS: &[c_long] = &[libc::SYS_renameat, libc::SYS_renameat2, libc::SYS_linkat];
/// There is none without directories.
pub(crate) const LINK: Option<c_long> = None;
/// Nor to remove a name.
pub(crate) const UNLINK: Option<c_long> = None;
/// There is none without directories.
pub(crate) const RENAME: Option<c_long> = None;
/// Calls that take paths and that only this processor has: none.
pub(crate) const PATHS: &[(c_long, &[usize])] = &[];

/// How many registers a debugger sees, and which hold the arguments of a call.
pub(crate) const REGISTERS: usize = 34;
pub(crate) const ARGUMENTS: [usize; 6] = [0, 1, 2, 3, 4, 5];

/// Where the stack of a thread ends.
pub(crate) fn stack(registers: &[u64; REGISTERS]) -> u64 {
    let [.., stack, _, _] = registers;
    *stack
}

/// Whether a thread was stopped in this call, which it makes again when it goes on: a debugger sees that the
/// kernel has already gone back to where it is made.
pub(crate) fn is_made_again(registers: &[u64; REGISTERS], call: i64) -> bool {
    let [_, _, _, _, _, _, _, _, number, ..] = registers;
    number.cast_signed() == call
}

std::arch::global_asm!(
    ".pushsection .rodata.eclusa_init, \"a\"",
    ".globl eclusa_init_begin",
    ".globl eclusa_init_end",
    "eclusa_init_begin:",
    // argc, &argv[1] and envp, as the kernel laid them out.
    "    ldr  x19, [sp]",
    "    add  x20, sp, #16",
    "    add  x21, x20, x19, lsl #3",
    // prctl(PR_SET_DUMPABLE, 0): nobody in the sandbox looks into this process.
    "    mov  x8, #167",
    "    mov  x0, #4",
    "    mov  x1, #0",
    "    mov  x2, #0",
    "    mov  x3, #0",
    "    mov  x4, #0",
    "    svc  #0",
    // Without a command this was only a trial: exit(0).
    "    cmp  x19, #2",
    "    b.lo 8f",
    // fcntl(3, F_SETFD, FD_CLOEXEC)
    "    mov  x8, #25",
    "    mov  x0, #3",
    "    mov  x1, #2",
    "    mov  x2, #1",
    "    svc  #0",
    "    sub  sp, sp, #192",
    // vfork(), which is clone(CLONE_VM | CLONE_VFORK | SIGCHLD). The child leaves the stack as it is,
    // apart from the eight bytes of a message.
    "    mov  x8, #220",
    "    mov  x0, #0x4111",
    "    mov  x1, #0",
    "    mov  x2, #0",
    "    mov  x3, #0",
    "    mov  x4, #0",
    "    svc  #0",
    "    cmp  x0, #0",
    "    b.eq 4f",
    "    b.lt 6f",
    "    mov  w22, w0",
    // What begins with a j outlives whoever started it.
    "    ldr  x0, [x20, #-8]",
    "    ldrb w0, [x0]",
    "    cmp  w0, #106",
    "    b.eq 20f",
    // wait4(-1, sp + 4, __WALL, NULL), for ever, until there is nobody left.
    "2:  mov  x8, #260",
    "    mov  x0, #-1",
    "    add  x1, sp, #4",
    "    mov  x2, #0x40000000",
    "    mov  x3, #0",
    "    svc  #0",
    "    cmn  x0, #10",
    "    b.eq 8f",
    "    cmp  w0, w22",
    "    b.ne 2b",
    // The command has ended; its number may be given to another. Is anybody left?
    // wait4(-1, sp + 8, __WALL | WNOHANG, NULL)
    "    mov  w22, #0",
    "3:  mov  x8, #260",
    "    mov  x0, #-1",
    "    add  x1, sp, #8",
    "    mov  x2, #0x40000000",
    "    add  x2, x2, #1",
    "    mov  x3, #0",
    "    svc  #0",
    "    cmp  x0, #0",
    "    b.gt 3b",
    "    mov  w1, #0",
    "    b.ne 5f",
    "    mov  w1, #2",
    // write(3, { ENDED or LEFT, status }, 8)
    "5:  str  w1, [sp]",
    "    mov  x8, #64",
    "    mov  x0, #3",
    "    mov  x1, sp",
    "    mov  x2, #8",
    "    svc  #0",
    "    ldr  w1, [sp]",
    "    cmp  w1, #2",
    "    b.ne 8f",
    // read(3, sp + 8, 1): whether those who are left outlive whoever started them.
    "7:  mov  x8, #63",
    "    mov  x0, #3",
    "    add  x1, sp, #8",
    "    mov  x2, #1",
    "    svc  #0",
    "    cmn  x0, #4",
    "    b.eq 7b",
    "    cmp  x0, #1",
    "    b.ne 8f",
    "    ldrb w1, [sp, #8]",
    "    cmp  w1, #1",
    "    b.ne 2b",
    // prctl(PR_SET_PDEATHSIG, 0): from here on all end when nobody has the other end of 3.
    "20: mov  x8, #167",
    "    mov  x0, #1",
    "    mov  x1, #0",
    "    mov  x2, #0",
    "    mov  x3, #0",
    "    mov  x4, #0",
    "    svc  #0",
    // rt_sigprocmask(SIG_BLOCK, { SIGCHLD }, NULL, 8)
    "    mov  x1, #0x10000",
    "    str  x1, [sp, #16]",
    "    mov  x8, #135",
    "    mov  x0, #0",
    "    add  x1, sp, #16",
    "    mov  x2, #0",
    "    mov  x3, #8",
    "    svc  #0",
    // signalfd4(-1, { SIGCHLD }, 8, SFD_CLOEXEC)
    "    mov  x8, #74",
    "    mov  x0, #-1",
    "    add  x1, sp, #16",
    "    mov  x2, #8",
    "    mov  x3, #0x80000",
    "    svc  #0",
    "    cmp  x0, #0",
    "    b.lt 8f",
    "    mov  w23, w0",
    // wait4(-1, sp + 4, __WALL | WNOHANG, NULL)
    "21: mov  x8, #260",
    "    mov  x0, #-1",
    "    add  x1, sp, #4",
    "    mov  x2, #0x40000000",
    "    add  x2, x2, #1",
    "    mov  x3, #0",
    "    svc  #0",
    "    cmn  x0, #10",
    "    b.eq 8f",
    "    cmp  x0, #0",
    "    b.eq 22f",
    "    cmp  w0, w22",
    "    b.ne 21b",
    // write(3, { ENDED, status }, 8)
    "    mov  w22, #0",
    "    str  wzr, [sp]",
    "    mov  x8, #64",
    "    mov  x0, #3",
    "    mov  x1, sp",
    "    mov  x2, #8",
    "    svc  #0",
    "    b    21b",
    // ppoll({ signals: POLLIN, 3: POLLIN | POLLRDHUP }, 2, NULL, NULL, 8)
    "22: str  w23, [sp, #24]",
    "    mov  w0, #1",
    "    str  w0, [sp, #28]",
    "    mov  w0, #3",
    "    str  w0, [sp, #32]",
    "    mov  w0, #0x2001",
    "    str  w0, [sp, #36]",
    "    mov  x8, #73",
    "    add  x0, sp, #24",
    "    mov  x1, #2",
    "    mov  x2, #0",
    "    mov  x3, #0",
    "    mov  x4, #8",
    "    svc  #0",
    "    ldrh w0, [sp, #38]",
    "    cbnz w0, 8f",
    "    ldrh w0, [sp, #30]",
    "    cbz  w0, 22b",
    // read(signals, sp + 64, 128)
    "    mov  x8, #63",
    "    mov  w0, w23",
    "    add  x1, sp, #64",
    "    mov  x2, #128",
    "    svc  #0",
    "    b    21b",
    // The child: execve(argv[1], &argv[1], envp)
    "4:  mov  x8, #221",
    "    ldr  x0, [x20]",
    "    mov  x1, x20",
    "    mov  x2, x21",
    "    svc  #0",
    // write(3, { NOT_EXECUTED, errno }, 8); exit(127)
    "6:  neg  w0, w0",
    "    str  w0, [sp, #4]",
    "    mov  w0, #1",
    "    str  w0, [sp]",
    "    mov  x8, #64",
    "    mov  x0, #3",
    "    mov  x1, sp",
    "    mov  x2, #8",
    "    svc  #0",
    "    mov  x0, #127",
    "    b    9f",
    "8:  mov  x0, #0",
    "9:  mov  x8, #94",
    "    svc  #0",
    "eclusa_init_end:",
    ".popsection",
);

std::arch::global_asm!(
    ".pushsection .rodata.eclusa_guardian, \"a\"",
    ".globl eclusa_guardian_begin",
    ".globl eclusa_guardian_end",
    "eclusa_guardian_begin:",
    "    sub  sp, sp, #16",
    // read(3, sp, 4): the number of a process group. Without one there is nothing to guard.
    "    mov  x8, #63",
    "    mov  x0, #3",
    "    mov  x1, sp",
    "    mov  x2, #4",
    "    svc  #0",
    "    cmp  x0, #4",
    "    b.ne 9f",
    // read(3, sp + 8, 4): nothing more is written, so that it waits for the end.
    "2:  mov  x8, #63",
    "    mov  x0, #3",
    "    add  x1, sp, #8",
    "    mov  x2, #4",
    "    svc  #0",
    "    cmn  x0, #4",
    "    b.eq 2b",
    // kill(-group, SIGKILL)
    "    ldr  w0, [sp]",
    "    neg  w0, w0",
    "    sxtw x0, w0",
    "    mov  x1, #9",
    "    mov  x8, #129",
    "    svc  #0",
    "9:  mov  x0, #0",
    "    mov  x8, #94",
    "    svc  #0",
    "eclusa_guardian_end:",
    ".popsection",
);
