//! The time that records carry.

use std::time::{SystemTime, UNIX_EPOCH};

/// Tells the time for records.
pub trait Clock: Send + Sync {
    /// Milliseconds since 1970.
    fn unix_ms(&self) -> u64;
}

/// The clock of the machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn unix_ms(&self) -> u64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }
}
