//! Who ends a command when the program that watches it is gone, where no namespace does: a process of its
//! own session, outside everything that holds the command. It reads from a pipe whose other end the
//! program has, and when that closes, however the program ended, it kills the command's process group.
//!
//! INVARIANT: the guardian is gone before the first process of the command is reaped. Until then
//! nobody else can have the number of the group.

use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};

use crate::child::GuardianOrder;
use crate::clone::{self, Child};
use crate::init;
use crate::step::{SandboxError, Step, not_cloned, trying};

/// A guardian that waits. Dropping it dismisses it: it kills nobody.
pub(crate) struct Guardian {
    _process: Child,
    /// What it listens to.
    pipe: OwnedFd,
}

impl Guardian {
    /// Starts one. `pipe` has both ends of a pipe, and `nothing` is `/dev/null`; all lie above the
    /// descriptors that a child rearranges.
    pub(crate) fn start(
        pipe: (OwnedFd, OwnedFd),
        nothing: BorrowedFd<'_>,
    ) -> Result<Guardian, SandboxError> {
        let program = init::guardian().map_err(trying("make the guardian's program"))?;
        let program = program.as_raw_fd();
        let mut order = GuardianOrder::new(pipe.0.as_fd(), nothing, program);
        let process = clone::guardian(&mut order).map_err(not_cloned)?;
        match order.failed {
            Some(errno) => Err(SandboxError::Step {
                step: Step::StartGuardian,
                path: None,
                source: errno.into(),
            }),
            None => Ok(Guardian { _process: process, pipe: pipe.1 }),
        }
    }

    /// Where the first process of the command writes its number, which is that of its group.
    pub(crate) fn pipe(&self) -> BorrowedFd<'_> {
        self.pipe.as_fd()
    }
}
