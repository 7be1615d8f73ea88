//! What becomes of the process that is made to guard a command.

use std::os::fd::{AsRawFd as _, BorrowedFd, RawFd};

use rustix::io::Errno;

use crate::kernel;

/// What the guardian is made of, in a process that shares the caller's memory.
pub(crate) struct GuardianOrder<'a> {
    pipe: BorrowedFd<'a>,
    nothing: BorrowedFd<'a>,
    program: RawFd,
    /// Why there is none.
    pub(crate) failed: Option<Errno>,
}

impl<'a> GuardianOrder<'a> {
    pub(crate) fn new(
        pipe: BorrowedFd<'a>,
        nothing: BorrowedFd<'a>,
        program: RawFd,
    ) -> GuardianOrder<'a> {
        GuardianOrder { pipe, nothing, program, failed: None }
    }

    /// Becomes the guardian. Returns only if that failed. Nothing allocates here.
    pub(crate) fn fulfil(&mut self) {
        self.failed = Some(self.become_it());
    }

    fn become_it(&self) -> Errno {
        let prepare = || {
            rustix::process::setsid()?;
            rustix::stdio::dup2_stdin(self.nothing)?;
            rustix::stdio::dup2_stdout(self.nothing)?;
            rustix::stdio::dup2_stderr(self.nothing)?;
            kernel::duplicate(self.pipe.as_raw_fd(), 3)?;
            rustix::process::chdir(c"/")?;
            kernel::close_on_exec_from(4)
        };
        if let Err(errno) = prepare() {
            return errno;
        }
        let argv = [c"sandbox-guard".as_ptr(), std::ptr::null()];
        kernel::execute(self.program, &argv, &[std::ptr::null()])
    }
}
