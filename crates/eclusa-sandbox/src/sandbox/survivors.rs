//! Reaching every process of a tree, and ending it where no namespace ends it for us.

use std::fs;

use rustix::process::{Pid, Signal};

use super::Sent;

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

/// Sends a signal to everything beneath `root`, or to those who handle it.
pub(super) fn send(root: i32, sent: Sent) {
    let all = beneath(root);
    let handling: Vec<i32> = match sent.all {
        true => Vec::new(),
        false => all.iter().copied().filter(|pid| handles(*pid, sent.signal)).collect(),
    };
    for pid in if handling.is_empty() { all } else { handling } {
        if let Some(pid) = Pid::from_raw(pid) {
            let _ = rustix::process::kill_process(pid, sent.signal);
        }
    }
}

/// Whether a process has a handler for a signal.
fn handles(pid: i32, signal: Signal) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let caught = caught.and_then(|it| u64::from_str_radix(it.trim(), 16).ok()).unwrap_or(0);
    let bit = u32::try_from(signal.as_raw() - 1).unwrap_or(63);
    caught.checked_shr(bit).is_some_and(|it| it & 1 == 1)
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
