//! How much one machine may send: so much a second, and more at once after a pause. A machine that is broken or hostile
//! does not crowd out the others.

use std::{
    collections::HashMap,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use crate::{Database, ServerError, store::questions};

/// How many shipments of a machine an instance takes a second, and how many at once after a pause.
const SHIPMENTS: (u32, u32) = (5, 100);

/// The same for questions.
const QUESTIONS: (u32, u32) = (20, 200);

/// How many questions of all machines may wait.
const MAX_WAITING: u32 = 100_000;

/// What each machine may send of one kind.
pub(crate) struct Pace {
    /// How many a second.
    rate: u32,
    /// How many at once.
    burst: u32,
    /// When each machine will have paid for all that it sent.
    paid: Mutex<HashMap<u32, Instant>>,
}

/// What machines may send, each and together.
pub(crate) struct Quotas {
    pub(crate) shipping: Pace,
    pub(crate) asking: Pace,
    /// How many questions more may wait, as it was a second ago.
    waiting_room: AtomicU64,
}

impl Quotas {
    pub(crate) fn new() -> Quotas {
        Quotas {
            shipping: Pace::new(SHIPMENTS.0, SHIPMENTS.1),
            asking: Pace::new(QUESTIONS.0, QUESTIONS.1),
            waiting_room: AtomicU64::new(MAX_WAITING.into()),
        }
    }

    /// Looks how many questions wait.
    pub(crate) async fn look(&self, database: &Database) -> Result<(), ServerError> {
        let waiting = questions::pending(database, MAX_WAITING).await?;
        self.waiting_room.store(u64::from(MAX_WAITING).saturating_sub(waiting), Relaxed);
        Ok(())
    }

    /// How many questions more may wait.
    pub(crate) fn waiting_room(&self) -> u64 {
        self.waiting_room.load(Relaxed)
    }
}

impl Pace {
    fn new(rate: u32, burst: u32) -> Pace {
        Pace { rate, burst, paid: Mutex::default() }
    }

    /// Whether a machine may send so many now. What it may not is not counted.
    pub(crate) fn allows(&self, machine: u32, count: usize, now: Instant) -> bool {
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        let each = Duration::from_secs(1) / self.rate;
        let mut all = self.paid.lock().unwrap_or_else(PoisonError::into_inner);
        let paid = all.entry(machine).or_insert(now);
        let next = (*paid).max(now) + each.saturating_mul(count);
        let allowed = next.saturating_duration_since(now) <= each.saturating_mul(self.burst);
        if allowed {
            *paid = next;
        }
        allowed
    }
}

#[cfg(test)]
mod tests;
