//! What would help where a part of the sandbox is missing.

use rustix::io::Errno;

use crate::capabilities::{HostCapabilities, Missing};

/// The first process of a sandbox, and a command's guardian, are programs that lie in memory.
const IN_MEMORY: &str = "let programs run that lie in memory: `sysctl vm.memfd_noexec=1`, or the flag \
                         `attach_disconnected` in the profile of AppArmor that confines this program";

impl HostCapabilities {
    /// What would help first, in a few words; nothing where nothing is missing or nothing helps.
    #[must_use]
    pub fn first_fix(&self) -> Option<&'static str> {
        self.missing().into_iter().find_map(|it| self.fix(it))
    }

    /// The one thing that would help. Nothing where another part must be had first.
    #[must_use]
    pub fn fix(&self, part: Missing) -> Option<&'static str> {
        let is_missing = |part| self.missing().contains(&part);
        let errno = self.refusal(part).and_then(|it| it.errno).map(Errno::from_raw_os_error);
        // This build has no sandbox for this system: nothing that is done to the system helps.
        if self.refusal(Missing::Namespaces).is_some_and(|it| it.errno.is_none()) {
            return None;
        }
        // Somebody refuses to execute what lies in memory.
        let unstarted = |part| {
            let refusal = self.refusal(part);
            refusal.is_some_and(|it| it.unstarted && it.errno == Some(Errno::ACCESS.raw_os_error()))
        };
        match part {
            Missing::Namespaces if unstarted(part) => Some(IN_MEMORY),
            Missing::Seccomp if unstarted(part) => {
                (!unstarted(Missing::Namespaces)).then_some(IN_MEMORY)
            }
            // It was not tried by itself.
            Missing::Landlock if is_missing(Missing::Seccomp) => None,
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
                _ if self.refusal(part).is_some_and(|it| it.is_workspace) => {
                    "put the workspace on ext4, xfs or btrfs, in a directory that tells `a` from `A`"
                }
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
            Missing::Seccomp => Some(match errno {
                Some(Errno::PERM | Errno::ACCESS) => {
                    "in a container, a seccomp profile that lets `seccomp` through"
                }
                _ => "a kernel with CONFIG_SECCOMP_FILTER",
            }),
            Missing::Signals => {
                Some("Linux 6.12 or newer, or a seccomp profile that lets a listener be made")
            }
        }
    }
}

#[cfg(all(test, enforced))]
mod tests;
