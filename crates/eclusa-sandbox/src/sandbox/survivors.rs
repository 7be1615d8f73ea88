//! Reaching every process of a tree, and ending it where no namespace ends it for us.

use std::fs;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

use crate::reach::Sent;

/// The processes beneath `root`, without it.
pub(super) fn beneath(root: i32) -> Vec<i32> {
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

/// Kills a whole process group at once, and waits until nobody of it runs. Nobody can leave the
/// group (the filter sees to that), and the kernel lets nobody fork who is about to be killed, so
/// that none is missed.
pub(super) fn kill_group(leader: i32, patience: Duration) {
    let Some(group) = Pid::from_raw(leader) else { return };
    let until = Instant::now() + patience;
    loop {
        let _ = rustix::process::kill_process_group(group, Signal::KILL);
        if !runs(leader) || Instant::now() >= until {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Whether a process of this group still runs. Those that only wait for somebody to ask how they
/// ended do not.
fn runs(group: i32) -> bool {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = processes.filter_map(|it| it.file_name().to_str()?.parse::<u32>().ok());
    numbers.into_iter().any(|pid| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // The name of the program is in brackets, and may hold anything.
        let mut words = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
        let state = words.next().unwrap_or("X");
        let theirs = words.nth(1).and_then(|it| it.parse::<i32>().ok());
        theirs == Some(group) && !matches!(state, "Z" | "X" | "x")
    })
}
