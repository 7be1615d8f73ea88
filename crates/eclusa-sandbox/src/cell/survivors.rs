//! Ending a tree of processes where no namespace ends it for us.

use std::fs;

use rustix::process::{Pid, Signal};

/// How often the tree is looked at before the rest is left to be reported by others.
const ROUNDS: usize = 200;

/// The processes beneath `root`, without it.
fn beneath(root: i32) -> Vec<i32> {
    let mut found = Vec::new();
    let mut look = vec![root];
    while let Some(pid) = look.pop() {
        let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else { continue };
        for task in tasks.flatten() {
            let children = fs::read_to_string(task.path().join("children")).unwrap_or_default();
            let children = children.split_whitespace().filter_map(|child| child.parse().ok());
            for child in children.filter(|child| !found.contains(child)).collect::<Vec<i32>>() {
                found.push(child);
                look.push(child);
            }
        }
    }
    found
}

/// Sends a signal to everything beneath `root`.
pub(super) fn signal_all(root: i32, signal: Signal) {
    for pid in beneath(root) {
        if let Some(pid) = Pid::from_raw(pid) {
            let _ = rustix::process::kill_process(pid, signal);
        }
    }
}

/// Kills everything beneath `root` until there is nothing. Orphans come back to `root`, because it
/// is a subreaper; a process that forks faster than we look is stopped first.
pub(super) fn kill_all(root: i32) {
    for _ in 0..ROUNDS {
        if beneath(root).is_empty() {
            return;
        }
        signal_all(root, Signal::STOP);
        signal_all(root, Signal::KILL);
        std::thread::yield_now();
    }
}
