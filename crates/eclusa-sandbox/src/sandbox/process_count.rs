//! How many processes a job has. They are counted now and then, so it is a bound on damage; threads are not counted.

use std::time::{Duration, Instant};

use super::survivors::beneath;

/// How often they are counted.
pub(super) const INTERVAL: Duration = Duration::from_millis(200);

/// Counts the processes of a job.
pub(super) struct ProcessCount {
    most: u32,
    next: Instant,
}

impl ProcessCount {
    /// Lets a job have so many.
    pub(super) fn new(most: u32) -> ProcessCount {
        ProcessCount { most, next: Instant::now() }
    }

    /// Whether there are more beneath `root`.
    pub(super) fn exceeded(&mut self, root: i32) -> bool {
        let now = Instant::now();
        if now < self.next {
            return false;
        }
        self.next = now + INTERVAL;
        is_more(beneath(root).len(), self.most)
    }
}

/// Whether so many processes are more than may go on.
pub(super) fn is_more(count: usize, most: u32) -> bool {
    usize::try_from(most).is_ok_and(|most| count > most)
}
