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
/// The calls that rename.
pub(crate) const RENAMES: &[c_long] = &[libc::SYS_renameat, libc::SYS_renameat2];
/// There is none without directories.
pub(crate) const RENAME: Option<c_long> = None;

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
    "    sub  sp, sp, #32",
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
    // write(3, { ENDED, status }, 8)
    "    str  wzr, [sp]",
    "    mov  x8, #64",
    "    mov  x0, #3",
    "    mov  x1, sp",
    "    mov  x2, #8",
    "    svc  #0",
    "    b    2b",
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
