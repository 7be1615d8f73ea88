//! One look at the store for everybody who waits in this process: it wakes those whose question
//! has changed, and says that they are still there.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use tokio::{sync::Notify, time::Instant};

use super::{HOLD, holder, rows};
use crate::SqliteStore;

/// How often those who wait say that they are still there.
const RENEW: Duration = Duration::from_secs(20);

/// Everybody who waits through one queue.
#[derive(Debug, Default)]
pub(super) struct Watcher {
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    by_question: HashMap<u64, Arc<Notify>>,
    /// Whether a task looks.
    looking: bool,
}

/// Somebody who waits for a question; woken whenever it changes.
#[derive(Debug)]
pub(super) struct WatchedQuestion {
    watcher: Arc<Watcher>,
    id: u64,
    pub(super) changed: Arc<Notify>,
}

impl Watcher {
    /// Waits for this question too. The first one starts the task that looks.
    pub(super) fn watch(
        self: &Arc<Watcher>,
        store: &SqliteStore,
        poll: Duration,
        id: u64,
    ) -> WatchedQuestion {
        let changed = Arc::new(Notify::new());
        // What changes from here on is told; what changed before, the caller sees for itself.
        let point = rows::last_change(store).unwrap_or_default();
        let mut waiting = self.waiting();
        waiting.by_question.insert(id, changed.clone());
        let first = !std::mem::replace(&mut waiting.looking, true);
        drop(waiting);
        if first {
            tokio::spawn(look(Arc::downgrade(self), store.clone(), poll, point));
        }
        WatchedQuestion { watcher: self.clone(), id, changed }
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for WatchedQuestion {
    fn drop(&mut self) {
        let mut waiting = self.watcher.waiting();
        let ours = |it: &Arc<Notify>| Arc::ptr_eq(it, &self.changed);
        if waiting.by_question.get(&self.id).is_some_and(ours) {
            waiting.by_question.remove(&self.id);
        }
    }
}

/// Looks until nobody waits any more.
async fn look(watcher: Weak<Watcher>, store: SqliteStore, poll: Duration, mut seen: u64) {
    let mut renewed = Instant::now();
    loop {
        let mut answered = std::pin::pin!(store.inner.answered.notified());
        answered.as_mut().enable();
        let Some(watcher) = watcher.upgrade() else { return };
        let changed = rows::changed_after(&store, seen);
        {
            let mut waiting = watcher.waiting();
            if waiting.by_question.is_empty() {
                waiting.looking = false;
                return;
            }
            let waiting = &waiting.by_question;
            match changed {
                // Whoever waits looks for itself; a store that cannot be read is its to report.
                Err(_) => waiting.values().for_each(|it| it.notify_one()),
                Ok((changed, point)) => {
                    seen = point;
                    changed.iter().filter_map(|id| waiting.get(id)).for_each(|it| it.notify_one());
                }
            }
        }
        drop(watcher);
        if renewed.elapsed() >= RENEW {
            renewed = Instant::now();
            let until = store.inner.options.clock.unix_ms().saturating_add(HOLD);
            let renewing =
                store.write_later(move |tx| rows::renew(tx, holder::this_process(), until));
            if let Err(err) = renewing.await {
                tracing::warn!("pending approvals could not be renewed: {err}");
            }
        }
        tokio::select! {
            () = answered => {}
            () = tokio::time::sleep(poll) => {}
        }
    }
}
