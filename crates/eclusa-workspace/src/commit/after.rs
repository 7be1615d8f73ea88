//! What follows a change that was made: how much it keeps is noted, and whoever keeps the history
//! within bounds has a turn.

use std::sync::Arc;

use super::{
    IoFailure, Workspace,
    lock::{KeptTally, LockGuard},
    op::{Op, StepKind},
};

/// What is done after a change, once others may make theirs.
pub(super) type AfterChange = Arc<dyn Fn(&Workspace) + Send + Sync>;

impl Workspace {
    /// Does this after every change that is made here.
    pub(crate) fn with_after(mut self, after: AfterChange) -> Workspace {
        self.after = Some(after);
        self
    }

    /// A change was made, and the lock is free.
    pub(crate) fn after_change(&self) {
        if let Some(after) = &self.after {
            after(self);
        }
    }

    /// Notes what a transaction keeps that was just made. It is an estimate: what cannot be noted is
    /// counted the next time that everything is.
    pub(super) fn note_kept<'a>(&self, held: &LockGuard<'_>, ops: impl Iterator<Item = &'a Op>) {
        if self.after.is_none() {
            return;
        }
        let kept =
            |it: &&Op| it.other.is_none() && matches!(it.act, StepKind::Swap | StepKind::Take);
        let sizes = ops.filter(kept).filter_map(|it| it.old.as_ref()?.id.map(|it| it.size));
        if let Err(err) = held.add_kept(sizes.fold(0, u64::saturating_add)) {
            tracing::warn!("the undo data cannot be recorded: {err}");
        }
    }

    /// What is known of how much is kept, at some moment. `None`: it was never counted.
    pub(crate) fn kept_tally(&self) -> Result<Option<KeptTally>, IoFailure> {
        self.ready()?.lock.tally().map_err(IoFailure::at("read the lock of", self.state()))
    }
}
