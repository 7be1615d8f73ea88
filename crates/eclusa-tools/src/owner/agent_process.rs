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
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name is in brackets, and may hold anything.
    let (first, rest) = text.rsplit_once(')')?;
    let name = first.split_once('(')?.1.to_owned();
    let words: Vec<&str> = rest.split_whitespace().collect();
    if matches!(words.first(), Some(&("Z" | "X"))) {
        return None;
    }
    Some((name, words.get(1)?.parse().ok()?, words.get(19)?.parse().ok()?))
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
