//! The process of an agent: nearest to one of ours, and no shell around it.

use std::{fmt, fs, str::FromStr};

/// A process, and when it was started: its number may be given to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentProcess {
    /// Its number.
    pub pid: i32,
    /// When it was started, as the kernel counts.
    pub start: u64,
}

/// What stands between an agent and us.
const BETWEEN: [&str; 13] = [
    "sh", "bash", "dash", "zsh", "fish", "ksh", "env", "timeout", "nice", "setsid", "stdbuf",
    "busybox", "eclusa",
];

/// How far up is looked.
const MAX_STEPS: usize = 16;

impl AgentProcess {
    /// The nearest process above this one that is no shell and not ours. `None`: there is none but the first
    /// process of the machine.
    pub fn nearest() -> Option<AgentProcess> {
        let mut pid = i32::try_from(std::process::id()).ok()?;
        for _ in 0..MAX_STEPS {
            let (name, above, start) = stat(pid)?;
            let own = u32::try_from(pid).is_ok_and(|it| it == std::process::id());
            if !own && !BETWEEN.contains(&name.as_str()) {
                return (pid > 1).then_some(AgentProcess { pid, start });
            }
            pid = above;
        }
        None
    }

    /// The process of this number, as it is now. One that waits for somebody to ask how it ended has ended.
    pub(crate) fn of(pid: i32) -> Option<AgentProcess> {
        stat(pid).map(|(_, _, start)| AgentProcess { pid, start })
    }
}

/// The name of a process, the one above it, and when it was started.
fn stat(pid: i32) -> Option<(String, i32, u64)> {
    let (name, has_ended, above, start) = any_stat(pid)?;
    (!has_ended).then_some((name, above, start))
}

/// The same, whether it has ended, of any.
fn any_stat(pid: i32) -> Option<(String, bool, i32, u64)> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name is in brackets, and may hold anything.
    let (first, rest) = text.rsplit_once(')')?;
    let name = first.split_once('(')?.1.to_owned();
    let words: Vec<&str> = rest.split_whitespace().collect();
    let has_ended = matches!(words.first(), Some(&("Z" | "X")));
    Some((name, has_ended, words.get(1)?.parse().ok()?, words.get(19)?.parse().ok()?))
}

/// What owners are called, by the name of what they are started as.
const OWNER: &str = "eclusa-session";

/// Owners that have ended, and that the first process of this machine or container has not asked how: where it never
/// does, each owner stays as a zombie.
pub fn unreaped_owners() -> usize {
    let pids = || {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        entries.filter_map(|it| it.file_name().to_str()?.parse::<i32>().ok())
    };
    let is_left = |pid: &i32| {
        any_stat(*pid)
            .is_some_and(|(name, has_ended, above, _)| has_ended && above == 1 && name == OWNER)
    };
    let left: Vec<i32> = pids().filter(is_left).collect();
    if left.is_empty() {
        return 0;
    }
    // One that waits for its orphans has done so a moment later.
    std::thread::sleep(std::time::Duration::from_millis(100));
    left.iter().filter(|it| is_left(it)).count()
}

impl fmt::Display for AgentProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.pid, self.start)
    }
}

impl FromStr for AgentProcess {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<AgentProcess, Self::Err> {
        let (pid, start) = text.split_once(':').unwrap_or((text, ""));
        Ok(AgentProcess { pid: pid.parse()?, start: start.parse()? })
    }
}
