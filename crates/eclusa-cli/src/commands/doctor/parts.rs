//! The parts of a sandbox: which of them hold here, what the kernel said to the others, and the one thing
//! that helps.

use eclusa_sandbox::{HostCapabilities, Missing};

/// A part of the sandbox, and how to get it.
pub(super) struct CheckedPart {
    pub(super) name: &'static str,
    pub(super) holds: bool,
    pub(super) detail: String,
    /// What the kernel said.
    pub(super) error: Option<String>,
    /// What helps, if it is missing and nothing else must be had first.
    pub(super) fix: Option<&'static str>,
}

/// All parts, whether they hold or not.
pub(super) fn parts(machine: &HostCapabilities) -> Vec<CheckedPart> {
    let missing = machine.missing();
    let part = |what: Missing, name, detail: &str| {
        let holds = !missing.contains(&what);
        let refusal = machine.refusal(what).filter(|_| !holds);
        CheckedPart {
            name,
            holds,
            detail: detail.to_owned(),
            error: refusal.map(|it| it.text.clone()),
            fix: (!holds).then(|| machine.fix(what)).flatten(),
        }
    };
    let landlock = match machine.landlock_version() {
        0 => "a second layer of file protection".to_owned(),
        version => format!("a second layer of file protection; version {version}"),
    };
    let namespaces = match machine.shares_networks() || missing.contains(&Missing::Namespaces) {
        true => "files outside, processes, network",
        false => {
            "files outside, processes, network; each command has its own loopback, because `setns` is refused"
        }
    };
    let mut parts = vec![
        part(Missing::Staging, "staging", "changes are reviewed before they are applied"),
        part(Missing::Namespaces, "namespaces", namespaces),
        part(Missing::FreshProc, "own /proc", "other processes are not seen"),
        part(Missing::Landlock, "landlock", &landlock),
        part(Missing::Seccomp, "seccomp", "system calls that no command needs"),
    ];
    if missing.contains(&Missing::Signals) {
        parts.push(part(Missing::Signals, "signals", "other processes are not signalled"));
    }
    parts.push(CheckedPart {
        name: "unix sockets",
        holds: machine.opens_sockets(),
        detail: "between processes of a session; those of the machine are out of reach".to_owned(),
        error: machine.why_no_sockets().map(str::to_owned),
        fix: None,
    });
    parts
}
