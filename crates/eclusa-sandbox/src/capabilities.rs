//! What this machine can hold a command to, found by trying it, and never overstated.

use std::fmt;
use std::path::{Path, PathBuf};

/// Something a sandbox has on a machine that has everything, and has not on this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Missing {
    /// Changes can't be staged in an overlay.
    Staging,
    /// No mount, process, network, IPC and host-name namespaces: the command sees the machine's
    /// processes, metadata outside can be changed where the user may, and a process that leaves
    /// its parents may outlive the call.
    Namespaces,
    /// `/proc` is the machine's own.
    FreshProc,
    /// No Landlock.
    Landlock,
    /// No seccomp filter.
    Seccomp,
    /// Without namespaces, with Landlock before its sixth version, and where no supervisor can look at
    /// system calls: a command can send signals to other processes of the user.
    Signals,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Missing::Staging => "an overlay that stages changes",
            Missing::Namespaces => "namespaces",
            Missing::FreshProc => "a /proc of its own",
            Missing::Landlock => "Landlock",
            Missing::Seccomp => "seccomp filters",
            Missing::Signals => "signals that stay inside",
        })
    }
}

/// How much of a sandbox the kernel enforces. It is recorded with every call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Enforcement {
    /// Every layer, and staging.
    Full,
    /// All but these.
    Partial(Vec<Missing>),
    /// Nothing that would hold: no command should run.
    None,
}

impl fmt::Display for Enforcement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Enforcement::Full => f.write_str("full"),
            Enforcement::None => f.write_str("none"),
            Enforcement::Partial(missing) => {
                f.write_str("partial, without ")?;
                for (n, one) in missing.iter().enumerate() {
                    write!(f, "{}{one}", if n == 0 { "" } else { ", " })?;
                }
                Ok(())
            }
        }
    }
}

/// The ways, best first: how the effects of a command can be kept in hand here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StagingMethod {
    /// Changes go to an overlay that is mounted in a user namespace.
    OverlayInUserNamespace,
    /// Changes go to an overlay that root mounted. No user namespace: it would map one user, and
    /// files of any other could then not be written.
    OverlayAsRoot,
    /// Nothing can be staged in a layer: commands run on the real files, and whoever starts them takes a
    /// snapshot first.
    InPlace,
    /// Nothing that would hold.
    Refuse,
}

impl fmt::Display for StagingMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            StagingMethod::OverlayInUserNamespace => "overlay in a user namespace",
            StagingMethod::OverlayAsRoot => "overlay mounted by root",
            StagingMethod::InPlace => "snapshot of the real files",
            StagingMethod::Refuse => "refuse",
        })
    }
}

/// Which namespaces a sandbox gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Namespaces {
    /// All, in a user namespace that maps the caller alone.
    User,
    /// All but the user namespace, because the caller is root.
    Root,
    /// None.
    None,
}

/// What the self-test found. [`probe`](crate::probe) makes it; a sandbox is built on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostCapabilities {
    pub(crate) namespaces: Namespaces,
    pub(crate) overlay: bool,
    /// Where layers work, if they do anywhere.
    pub(crate) layers: Option<PathBuf>,
    /// Whether a network that was made before can be joined.
    pub(crate) join: bool,
    pub(crate) proc: bool,
    /// Landlock's version; 0 where there is none.
    pub(crate) landlock: u32,
    pub(crate) seccomp: bool,
    /// Whether system calls can be handed to a supervisor.
    pub(crate) notify: bool,
    /// Whether a root can be made in which no socket of the machine is reached, or why not.
    pub(crate) sockets: Result<(), String>,
    /// What the kernel said to each part that it refused, in the order in which they were tried.
    pub(crate) refusals: Vec<PartRefusal>,
}

/// What the kernel said when a part of the sandbox was tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartRefusal {
    /// Which part.
    pub part: Missing,
    /// The number of the error, if the kernel gave one.
    pub errno: Option<i32>,
    /// The step that failed and the error, for people.
    pub text: String,
    /// A program of the sandbox's own, which lies in memory, was not started.
    pub(crate) unstarted: bool,
    /// Layers work here, and not over this workspace.
    pub(crate) is_workspace: bool,
}

impl HostCapabilities {
    /// Which of them this machine can use.
    #[must_use]
    pub fn staging_method(&self) -> StagingMethod {
        let held = self.landlock > 0 && self.seccomp;
        match self.namespaces {
            Namespaces::User if self.overlay && self.seccomp => {
                StagingMethod::OverlayInUserNamespace
            }
            Namespaces::Root if self.overlay && self.seccomp => StagingMethod::OverlayAsRoot,
            _ if held || (self.namespaces != Namespaces::None && self.seccomp) => {
                StagingMethod::InPlace
            }
            _ => StagingMethod::Refuse,
        }
    }

    /// How much of a sandbox is enforced here.
    #[must_use]
    pub fn enforcement(&self) -> Enforcement {
        if self.staging_method() == StagingMethod::Refuse {
            return Enforcement::None;
        }
        let missing = self.missing();
        if missing.is_empty() { Enforcement::Full } else { Enforcement::Partial(missing) }
    }

    /// Whether a command is held by everything that counts. A `/proc` of its own may be missing: others'
    /// memory, environment and descriptors stay shut all the same, and only their command lines show.
    #[must_use]
    pub fn holds_commands(&self) -> bool {
        self.missing().iter().all(|it| *it == Missing::FreshProc)
    }

    /// Whether a command that may write nothing is held: by namespaces, or by Landlock, and by a filter. What
    /// such a command may still do without namespaces is to read what is not hidden, and to see names,
    /// numbers and command lines.
    #[must_use]
    pub fn holds_reading(&self) -> bool {
        self.staging_method() != StagingMethod::Refuse
    }

    /// What a command that writes can do outside of what it may write, where it is not held: empty with
    /// namespaces, and without them where a supervisor looks at its system calls. That files outside cannot be
    /// emptied is held wherever a command runs at all.
    #[must_use]
    pub fn lacks_outside(&self) -> Vec<&'static str> {
        let metadata = self.namespaces != Namespaces::None || self.notify;
        let parts = [
            (self.keeps_signals(), "signals to other processes"),
            (metadata, "mode, owner, times and attributes of files outside"),
        ];
        parts.into_iter().filter(|(held, _)| !held).map(|(_, what)| what).collect()
    }

    /// Whether signals, truncation and metadata outside are held for a command that writes.
    #[must_use]
    pub fn holds_outside(&self) -> bool {
        self.holds_reading() && self.lacks_outside().is_empty()
    }

    fn keeps_signals(&self) -> bool {
        self.namespaces != Namespaces::None || self.landlock >= 6 || self.notify
    }

    /// Whether the commands of one session can share a loopback network. Otherwise each has its own.
    #[must_use]
    pub fn shares_networks(&self) -> bool {
        self.join
    }

    /// Whether commands may use sockets of the file system among themselves: where everything else is enforced and
    /// those of the machine are out of reach. Plans that write somewhere at once are the exception.
    #[must_use]
    pub fn opens_sockets(&self) -> bool {
        self.sockets.is_ok() && self.enforcement() == Enforcement::Full
    }

    /// Why they may not.
    #[must_use]
    pub fn why_no_sockets(&self) -> Option<&str> {
        match &self.sockets {
            _ if self.opens_sockets() => None,
            Err(why) if self.enforcement() == Enforcement::Full => Some(why),
            _ => Some("only where everything else is enforced"),
        }
    }

    /// Everything that is missing, in the order of [`Missing`].
    #[must_use]
    pub fn missing(&self) -> Vec<Missing> {
        let namespaces = self.namespaces != Namespaces::None;
        let parts = [
            (namespaces && self.overlay, Missing::Staging),
            (namespaces, Missing::Namespaces),
            (namespaces && self.proc, Missing::FreshProc),
            (self.landlock > 0, Missing::Landlock),
            (self.seccomp, Missing::Seccomp),
            (self.landlock == 0 || self.keeps_signals(), Missing::Signals),
        ];
        parts.into_iter().filter(|(there, _)| !there).map(|(_, missing)| missing).collect()
    }

    /// Where the layers of staged commands lie: the state directory, or the first other place that can
    /// carry them. `None` where nothing can be staged.
    #[must_use]
    pub fn layers(&self) -> Option<&Path> {
        self.layers.as_deref().filter(|_| self.overlay)
    }

    /// What the kernel said to the first thing it refused, where something is missing.
    #[must_use]
    pub fn because(&self) -> Option<&str> {
        self.refusals.first().map(|it| it.text.as_str())
    }

    /// What the kernel said to a part that is missing.
    #[must_use]
    pub fn refusal(&self, part: Missing) -> Option<&PartRefusal> {
        self.refusals.iter().find(|it| it.part == part)
    }

    pub(crate) fn refused(&mut self, refusal: PartRefusal) {
        if self.refusal(refusal.part).is_none() {
            self.refusals.push(refusal);
        }
    }

    /// The version of Landlock, 0 where there is none.
    #[must_use]
    pub fn landlock_version(&self) -> u32 {
        self.landlock
    }

    /// The same machine with an older Landlock, for tests of what is held there.
    #[doc(hidden)]
    #[must_use]
    pub fn with_landlock(mut self, version: u32) -> HostCapabilities {
        self.landlock = self.landlock.min(version);
        self
    }

    /// The same machine where sockets of the file system stay closed, for tests.
    #[doc(hidden)]
    #[must_use]
    pub fn without_sockets(mut self) -> HostCapabilities {
        self.sockets = Err("taken away".to_owned());
        self
    }

    /// The same machine without one of its abilities, for tests of the lower levels.
    #[doc(hidden)]
    #[must_use]
    pub fn without(mut self, missing: Missing) -> HostCapabilities {
        match missing {
            Missing::Staging => self.overlay = false,
            Missing::Namespaces => {
                self.namespaces = Namespaces::None;
                self.overlay = false;
                self.join = false;
                self.proc = false;
            }
            Missing::FreshProc => self.proc = false,
            Missing::Landlock => self.landlock = 0,
            Missing::Seccomp => {
                self.seccomp = false;
                self.notify = false;
            }
            Missing::Signals => {
                self.notify = false;
                return self.with_landlock(5);
            }
        }
        self
    }
}
