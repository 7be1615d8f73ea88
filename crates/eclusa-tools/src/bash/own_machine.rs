//! What a command is shown of the machine and is the sandbox's own: that is told, so that nobody takes it for the
//! machine's.

use eclusa::Job;
use eclusa_sandbox::Missing;

use crate::sandboxes::Sandboxes;

/// Programs that show interfaces, routes and ports.
const NETWORK: &[&str] = &["arp", "ifconfig", "ip", "netstat", "route", "ss"];
/// Programs that list processes.
const PROCESSES: &[&str] = &["htop", "ps", "pstree", "top"];

/// What to tell of a command that looks at either.
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
    looks.map(|it| it.1.to_owned()).collect()
}
