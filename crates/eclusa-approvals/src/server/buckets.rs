//! Token buckets: how often somebody may do something.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// So many names are remembered; beyond, those with full buckets are forgotten.
const MAX_NAMES: usize = 1_024;

/// Buckets that hold `size` tokens each and fill up within `time`.
pub struct Buckets {
    size: f64,
    time: Duration,
    all: Mutex<HashMap<String, (f64, Instant)>>,
}

impl Buckets {
    /// All of them full.
    pub fn new(size: u32, time: Duration) -> Buckets {
        Buckets { size: f64::from(size), time, all: Mutex::default() }
    }

    /// Takes a token out of the bucket of this name; `false` where there is none.
    pub fn take(&self, name: &str, now: Instant) -> bool {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        let full = |(level, since): &(f64, Instant)| self.level(*level, *since, now) >= self.size;
        if all.len() >= MAX_NAMES {
            all.retain(|_, it| !full(it));
        }
        let (level, since) = all.entry(name.to_owned()).or_insert((self.size, now));
        let filled = self.level(*level, *since, now);
        let left = filled >= 1.0;
        *level = if left { filled - 1.0 } else { filled };
        *since = now;
        left
    }

    fn level(&self, level: f64, since: Instant, now: Instant) -> f64 {
        let passed = now.saturating_duration_since(since).as_secs_f64();
        (level + passed / self.time.as_secs_f64() * self.size).min(self.size)
    }
}

#[cfg(test)]
mod tests;
