//! What a command is shown of the machine and is the sandbox's own: that is told, so that nobody takes it for the
//! machine's.

use eclusa::Job;
use eclusa_sandbox::Missing;
use serde_json::Value;

use crate::sandboxes::Sandboxes;

/// Programs that show interfaces, routes and ports.
const NETWORK: &[&str] =
    &["arp", "bridge", "ethtool", "ifconfig", "ip", "netstat", "nmcli", "route", "ss", "tc"];
/// Programs that list processes.
const PROCESSES: &[&str] = &["fuser", "htop", "lsof", "pgrep", "pidof", "ps", "pstree", "top"];
/// Said of git's settings.
const SETTINGS: &str = "the settings of git that it shows are those of the sandbox: some are its own (`gc.auto`, \
                        `core.pager`), and of the person's only those are there that start nothing";

/// What to tell of a command that looks at either, or at the settings of git.
pub(super) fn notes(job: &Job, sandboxes: &Sandboxes) -> Vec<String> {
    if sandboxes.capabilities().missing().contains(&Missing::Namespaces) {
        return Vec::new();
    }
    let told = [
        (
            NETWORK,
            "the network that it shows is the sandbox's own: interfaces and ports of this machine are hidden",
        ),
        (
            PROCESSES,
            "the processes that it shows are the sandbox's own: those of this machine are hidden",
        ),
    ];
    let looks = told.into_iter().filter(|it| job.runs_any(it.0));
    let lists = job.args().get("command").and_then(Value::as_str).is_some_and(lists_settings);
    looks.map(|it| it.1).chain(lists.then_some(SETTINGS)).map(str::to_owned).collect()
}

/// Whether a text has git show settings that are not the repository's alone.
fn lists_settings(text: &str) -> bool {
    let shows = ["--global", "--system", "--list", "-l", "list", "--get-regexp", "--show-origin"];
    let own = ["--local", "--worktree", "--file", "-f"];
    text.split(['\n', ';', '|', '&']).any(|part| {
        let words: Vec<&str> = part.split_whitespace().collect();
        let among = |all: &[&str]| words.iter().any(|it| all.contains(it));
        words.windows(2).any(|it| it == ["git", "config"]) && among(&shows) && !among(&own)
    })
}
