//! The memory of a running command, where no control group counts it: what its processes really
//! have, and not the addresses that they reserve. It is looked at, so it is a bound on damage.

use std::fs;
use std::time::{Duration, Instant};

use super::survivors::beneath;

/// How often it is looked at.
pub(super) const INTERVAL: Duration = Duration::from_millis(200);

/// Looks at the memory of a tree of processes.
pub(super) struct MemoryWatch {
    most: u64,
    next: Instant,
}

impl MemoryWatch {
    /// Lets a command have this many bytes.
    pub(super) fn new(most: u64) -> MemoryWatch {
        MemoryWatch { most, next: Instant::now() + INTERVAL }
    }

    /// Whether the processes beneath `root` have more than they may. Memory that several share is
    /// counted once, which takes longer to find out, and is done only when it matters.
    pub(super) fn exceeded(&mut self, root: i32) -> bool {
        let now = Instant::now();
        if now < self.next {
            return false;
        }
        self.next = now + INTERVAL;
        let all = beneath(root);
        let sum = |file: &str, field: &str| -> u64 {
            all.iter().filter_map(|pid| kilobytes(*pid, file, field)).map(|it| it * 1024).sum()
        };
        if sum("status", "RssAnon:") + sum("status", "RssShmem:") <= self.most {
            return false;
        }
        let shared = sum("smaps_rollup", "Pss_Anon:") + sum("smaps_rollup", "Pss_Shmem:");
        shared == 0 || shared > self.most
    }
}

/// A number of kilobytes that the kernel tells of a process.
fn kilobytes(pid: i32, file: &str, field: &str) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/{file}")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(field))?;
    line.split_whitespace().next()?.parse().ok()
}
