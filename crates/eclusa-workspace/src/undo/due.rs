//! A workspace that keeps within its bounds by itself: after a change, whoever made it, what is kept
//! for undo is made smaller when it is time to.

use std::{fs::File, sync::Arc};

use rustix::fs::{FlockOperation, Mode, OFlags};

use super::{Compacted, Retention};
use crate::{Workspace, commit::IoFailure};

/// After so many changes the history is looked at whole: old contents are compressed, and what is
/// kept is counted anew.
const EVERY: u64 = 16;

/// Of a long history, not before it has grown by one part of so many: each change then pays for as many
/// others at most, however many there are.
const PART: u64 = 8;

impl Workspace {
    /// The same workspace, which keeps within these bounds by itself: after a commit, an adoption or
    /// an undo that takes it beyond them, the oldest goes until they hold again. `tell` hears of it,
    /// and of what kept it from happening; the change itself stands either way.
    #[must_use]
    pub fn compacting(
        self,
        keep: Retention,
        tell: impl Fn(Result<Compacted, IoFailure>) + Send + Sync + 'static,
    ) -> Workspace {
        self.with_after(Arc::new(move |workspace| {
            if let Some(compacted) = workspace.compact_when_due(keep).transpose() {
                tell(compacted);
            }
        }))
    }

    /// Compacts, if it is time to and nobody else is at it.
    fn compact_when_due(&self, keep: Retention) -> Result<Option<Compacted>, IoFailure> {
        // Where it was never counted, it is time to.
        let every = EVERY.max(self.last_sequence() / PART);
        let due = self.kept_tally()?.is_none_or(|it| it.bytes > keep.bytes || it.since >= every);
        if !due {
            return Ok(None);
        }
        match self.compact_alone(false)? {
            None => Ok(None),
            // Below the bound with some room, so that not every change has something to evict.
            Some(_alone) => self.compact_to(keep, keep.bytes - keep.bytes / 8).map(Some),
        }
    }

    /// Keeps others from compacting for as long as it lives. Without `wait`, `None` says that
    /// somebody else is at it.
    pub(super) fn compact_alone(&self, wait: bool) -> Result<Option<File>, IoFailure> {
        let dirs = self.dirs()?;
        let at = |err: rustix::io::Errno| IoFailure::at("compact", self.state())(err.into());
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let private = Mode::from_raw_mode(0o600);
        let file = rustix::fs::openat(&dirs.state, "compacting", flags, private).map_err(at)?;
        let how = match wait {
            true => FlockOperation::LockExclusive,
            false => FlockOperation::NonBlockingLockExclusive,
        };
        loop {
            match rustix::fs::flock(&file, how) {
                Ok(()) => return Ok(Some(file.into())),
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::WOULDBLOCK) => return Ok(None),
                Err(err) => return Err(at(err)),
            }
        }
    }
}
