//! In which era a server is talked to: what is known of it, and what was settled.

use std::sync::{
    Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use rmcp::model::DiscoverResult;
use tokio::sync::{Notify, OnceCell};

use crate::era::Era;

/// The era of a server, as far as it is known.
#[derive(Default)]
pub(super) struct EraChoice {
    /// The era that the next start begins with: a server told it too late for the start before, or
    /// it was settled.
    known: Mutex<Option<Era>>,
    /// Whether it said that it speaks both.
    both: AtomicBool,
    change: Notify,
    /// Filled by the first call.
    pub(super) settled: OnceCell<()>,
}

impl EraChoice {
    pub(super) fn known(&self) -> MutexGuard<'_, Option<Era>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes what a server says about itself.
    pub(super) fn discovered(&self, found: &DiscoverResult) {
        self.both.store(Era::includes_legacy(found), Ordering::Relaxed);
    }

    pub(super) fn speaks_both(&self) -> bool {
        self.both.load(Ordering::Relaxed)
    }

    /// Has the server started again.
    pub(super) fn change(&self) {
        self.change.notify_one();
    }

    /// Waits until the server shall be started again.
    pub(super) async fn changed(&self) {
        self.change.notified().await;
    }
}
