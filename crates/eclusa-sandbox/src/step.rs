//! The steps of building a sandbox, so that a failure can be named, and the errors of this crate.

use std::io;
use std::path::PathBuf;

#[cfg(enforced)]
use crate::capabilities::PartRefusal;
use crate::capabilities::{Enforcement, Missing};

macro_rules! steps {
    ($($name:ident => $what:literal,)*) => {
        /// One step of building a sandbox, in the order in which they are taken.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[expect(missing_docs, reason = "the text of each is beside it")]
        pub enum Step { $($name,)* }

        impl Step {
            const ALL: &[Step] = &[$(Step::$name,)*];

            /// What the step does, for a message.
            #[must_use]
            pub fn what(self) -> &'static str {
                match self { $(Step::$name => $what,)* }
            }
        }
    };
}

steps! {
    Clone => "make a process in new namespaces",
    Cgroup => "enter the control group",
    Session => "start a session of its own",
    Guardian => "tell the guardian",
    Streams => "connect input and output",
    Groups => "give up supplementary groups",
    UserMap => "map the user into its namespace",
    Join => "join the network that was made for it",
    Private => "make the mounts private",
    Root => "show a directory through an overlay",
    Sockets => "find a socket of the machine refused through an overlay",
    Bind => "take a writable directory",
    Live => "take a directory that is written live",
    Overlay => "lay an overlay over a directory",
    EnterRoot => "enter a root of overlays",
    ReadOnly => "make everything read-only",
    Masks => "prepare what hides secrets",
    Tmp => "mount a private /tmp",
    Run => "mount an empty /run",
    Directories => "make the places of mounts",
    Attach => "attach a directory",
    Seal => "keep a directory from being written",
    Hide => "hide a path",
    Dev => "build a minimal /dev",
    Proc => "mount a /proc of its own",
    Processes => "limit the number of processes",
    Loopback => "switch the loopback interface on",
    Listen => "listen for the proxy",
    HandOver => "hand a descriptor to the caller",
    Directory => "enter the working directory",
    Rlimit => "set a resource limit",
    Capabilities => "drop capabilities",
    NoNewPrivileges => "give up new privileges",
    Landlock => "restrict files with Landlock",
    Descriptors => "close descriptors",
    Orphaned => "stay with its parent, which is gone",
    Seccomp => "filter system calls",
    Init => "start the sandbox's first process",
    StartGuardian => "start the guardian of a command",
    Execute => "execute the program",
}

impl Step {
    pub(crate) fn number(self) -> u8 {
        self as u8
    }

    pub(crate) fn from_number(number: u8) -> Option<Step> {
        Step::ALL.get(usize::from(number)).copied()
    }
}

/// Why a sandbox was not made, or not seen to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SandboxError {
    /// The plan can't be meant.
    #[error("the plan can't be carried out: {0}")]
    Plan(String),
    /// The machine can't hold the command to this plan, and the plan doesn't accept less.
    #[error(
        "this machine lacks {lacking}, and the plan doesn't accept that; enforcement here is {enforcement}"
    )]
    Unable {
        /// The first thing that is missing and not tolerated.
        lacking: Missing,
        /// What there is.
        enforcement: Enforcement,
    },
    /// The kernel refused a step.
    #[error("could not {}{}: {source}", step.what(), quote_path(path.as_ref()))]
    Step {
        /// Which.
        step: Step,
        /// What it was about, where the step is taken for several paths.
        path: Option<PathBuf>,
        /// What the kernel said.
        source: io::Error,
    },
    /// Something outside the sandbox failed.
    #[error("could not {what}: {source}")]
    System {
        /// What was tried.
        what: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

fn quote_path(path: Option<&PathBuf>) -> String {
    path.map(|path| format!(" (`{}`)", path.display())).unwrap_or_default()
}

/// For `map_err`: what was tried outside the sandbox.
pub(crate) fn trying<E: Into<io::Error>>(what: &'static str) -> impl FnOnce(E) -> SandboxError {
    move |error| SandboxError::System { what, source: error.into() }
}

/// For `map_err`: there is no child.
pub(crate) fn not_cloned(source: io::Error) -> SandboxError {
    SandboxError::Step { step: Step::Clone, path: None, source }
}

#[cfg(enforced)]
impl SandboxError {
    /// What it says of a part that it was refused with.
    pub(crate) fn refusing(&self, part: Missing) -> PartRefusal {
        let (unstarted, source) = match self {
            SandboxError::Step { step, source, .. } => {
                (matches!(step, Step::Init | Step::StartGuardian), Some(source))
            }
            SandboxError::System { source, .. } => (false, Some(source)),
            _ => (false, None),
        };
        let errno = source.and_then(io::Error::raw_os_error);
        PartRefusal { part, errno, text: self.to_string(), unstarted, is_workspace: false }
    }
}
