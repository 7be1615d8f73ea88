//! The parts of a sandbox: which of them hold here, what the kernel said to the others, and the one thing
//! that helps.

use eclusa_sandbox::{HostCapabilities, Missing};
use rustix::io::Errno;

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
            fix: (!holds).then(|| fix(machine, what)).flatten(),
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

/// What would help first, in a few words; nothing where nothing is missing or nothing helps.
pub(in crate::commands) fn first_fix(machine: &HostCapabilities) -> Option<&'static str> {
    machine.missing().into_iter().find_map(|it| fix(machine, it))
}

/// The one thing that would help. Nothing where another part must be had first.
fn fix(machine: &HostCapabilities, part: Missing) -> Option<&'static str> {
    let is_missing = |part| machine.missing().contains(&part);
    let errno = machine.refusal(part).and_then(|it| it.errno).map(Errno::from_raw_os_error);
    // This build has no sandbox for this system: nothing that is done to the system helps.
    if machine.refusal(Missing::Namespaces).is_some_and(|it| it.errno.is_none()) {
        return None;
    }
    match part {
        // They come with namespaces.
        Missing::Staging | Missing::FreshProc if is_missing(Missing::Namespaces) => None,
        Missing::Namespaces => Some(match errno {
            Some(Errno::NOSYS) => {
                "Linux 5.12 or newer; in a container, one whose seccomp profile is newer"
            }
            Some(Errno::NOSPC) => "`sysctl user.max_user_namespaces=15000`",
            Some(Errno::ACCESS) => {
                "`sudo eclusa install --apparmor`: a profile of AppArmor for this program alone"
            }
            _ => {
                "let users make them: `sysctl kernel.unprivileged_userns_clone=1`; in a container, a \
                 seccomp profile that lets `clone`, `setns` and mounts through (docs/sandbox.md has it)"
            }
        }),
        Missing::Staging => Some(match errno {
            Some(Errno::NODEV) => "`modprobe overlay`",
            _ => {
                "put the state on ext4, xfs, btrfs or tmpfs, not on an overlay (a container's own \
                 disk): `--state DIR`"
            }
        }),
        Missing::FreshProc => Some(
            "something is mounted over parts of /proc, as containers do: run it outside one, or with \
             `--security-opt systempaths=unconfined`",
        ),
        Missing::Landlock => Some(
            "Linux 5.13 or newer with `landlock` among the `lsm=` of the kernel's command line",
        ),
        Missing::Seccomp => Some("a kernel with CONFIG_SECCOMP_FILTER"),
        Missing::Signals => {
            Some("Linux 6.12 or newer, or a seccomp profile that lets a listener be made")
        }
    }
}
