//! How much one machine may send: so much a second, and more at once after a pause. A machine that is broken or hostile
//! does not crowd out the others.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// What each machine may send of one kind.
pub(crate) struct Pace {
    /// How many a second.
    rate: u32,
    /// How many at once.
    burst: u32,
    /// When each machine will have paid for all that it sent.
    paid: Mutex<HashMap<u32, Instant>>,
}

impl Pace {
    pub(crate) fn new(rate: u32, burst: u32) -> Pace {
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
mod tests {
    use super::*;

    #[test]
    fn each_machine_has_its_own_pace() {
        let (pace, begin) = (Pace::new(5, 10), Instant::now());
        let at = |millis| begin + Duration::from_millis(millis);
        assert!(pace.allows(1, 10, at(0)) && !pace.allows(1, 1, at(0)), "ten at once");
        assert!(pace.allows(2, 1, at(0)), "another is not held up");
        assert!(!pace.allows(1, 1, at(199)) && pace.allows(1, 1, at(200)), "then five a second");
        assert!(!pace.allows(1, 11, at(60_000)), "never more at once");
        assert!(pace.allows(1, 10, at(60_000)) && !pace.allows(1, 1, at(60_000)));
    }
}
