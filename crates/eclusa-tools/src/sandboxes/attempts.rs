//! What a command tried to reach: bounded, however often it tries.

use std::sync::{Arc, Mutex, PoisonError};

use eclusa_sandbox::proxy::Attempt;

/// The most attempts that are told one by one.
const MAX_ATTEMPTS: usize = 50;

/// The attempts of one command, as they come. Clones share them.
#[derive(Debug, Clone, Default)]
pub(super) struct Attempts(Arc<Mutex<AttemptList>>);

#[derive(Debug, Default)]
struct AttemptList {
    attempts: Vec<Attempt>,
    /// How many are not among them.
    more: u64,
}

impl Attempts {
    /// One more. What was refused before in the same way, and what is beyond the bound, is counted.
    pub(super) fn add(&self, attempt: Attempt) {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let again = |it: &Attempt| {
            attempt.outcome.is_err()
                && it.outcome == attempt.outcome
                && (&it.host, it.port) == (&attempt.host, attempt.port)
        };
        if seen.attempts.len() >= MAX_ATTEMPTS || seen.attempts.iter().any(again) {
            seen.more += 1;
        } else {
            seen.attempts.push(attempt);
        }
    }

    /// All that are told, and how many more there were.
    pub(super) fn take(&self) -> (Vec<Attempt>, u64) {
        let seen = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        (seen.attempts, seen.more)
    }
}

#[cfg(test)]
mod tests;
