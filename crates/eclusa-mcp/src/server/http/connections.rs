//! Bounded connections: one that has not sent a whole request makes room for a new one, so that slow
//! clients never keep others out.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

/// The connections that are open.
pub(super) struct Connections {
    room: Arc<Semaphore>,
    numbers: AtomicU64,
    /// Those whose client has not sent a whole request yet, the one that began first in front.
    unfinished: Mutex<BTreeMap<u64, CancellationToken>>,
}

/// A connection. Dropping it makes room for another.
pub(super) struct Slot {
    all: Arc<Connections>,
    number: Mutex<u64>,
    /// Cancelled when the connection must make room.
    pub(super) closing: CancellationToken,
    _permit: OwnedSemaphorePermit,
}

impl Connections {
    pub(super) fn new(most: usize) -> Arc<Connections> {
        Arc::new(Connections {
            room: Arc::new(Semaphore::new(most)),
            numbers: AtomicU64::new(0),
            unfinished: Mutex::default(),
        })
    }

    /// Room for one more. Where there is none, the connection that has been sending a request for
    /// longest is closed; where every client has sent one, this waits until one is answered.
    pub(super) async fn admit(self: &Arc<Connections>) -> Option<Slot> {
        if self.room.available_permits() == 0
            && let Some((_, oldest)) = self.unfinished().pop_first()
        {
            oldest.cancel();
        }
        let permit = self.room.clone().acquire_owned().await.ok()?;
        let slot = Slot {
            all: self.clone(),
            number: Mutex::new(0),
            closing: CancellationToken::new(),
            _permit: permit,
        };
        slot.begin();
        Some(slot)
    }

    fn unfinished(&self) -> MutexGuard<'_, BTreeMap<u64, CancellationToken>> {
        self.unfinished.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slot {
    /// The client may send a request from here on.
    pub(super) fn begin(&self) {
        let number = self.all.numbers.fetch_add(1, Ordering::Relaxed);
        let before = std::mem::replace(&mut *self.number(), number);
        let mut unfinished = self.all.unfinished();
        unfinished.remove(&before);
        unfinished.insert(number, self.closing.clone());
    }

    /// The client has sent a whole request: the connection stays until it is answered.
    pub(super) fn received(&self) {
        let number = *self.number();
        self.all.unfinished().remove(&number);
    }

    fn number(&self) -> MutexGuard<'_, u64> {
        self.number.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.received();
    }
}

#[cfg(test)]
mod tests;
