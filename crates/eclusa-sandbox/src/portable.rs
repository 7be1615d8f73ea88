//! The face of this crate where nothing can be enforced: the level is `none`, and no command starts.
//! Nothing is weakened silently: whoever wants a sandbox is told that there is none.

use std::convert::Infallible;
use std::os::fd::OwnedFd;
use std::path::Path;

use crate::capabilities::{Enforcement, HostCapabilities, Missing, Namespaces, PartRefusal};
use crate::exit::Exit;
use crate::plan::Plan;
use crate::reach::{Cancel, Pipes};
use crate::resource_caps::Caps;
use crate::step::SandboxError;

/// What this system can hold a command to: nothing.
#[must_use]
pub fn probe(_state: &Path) -> HostCapabilities {
    HostCapabilities {
        namespaces: Namespaces::None,
        overlay: false,
        layers: None,
        join: false,
        proc: false,
        landlock: 0,
        seccomp: false,
        notify: false,
        refusals: vec![PartRefusal {
            part: Missing::Namespaces,
            errno: None,
            text: "this build of the program has no sandbox for this system".to_owned(),
        }],
    }
}

/// The same: there is nothing to remember.
#[must_use]
pub fn recall_or_probe(state: &Path, _workspace: &Path) -> HostCapabilities {
    probe(state)
}

/// Nothing is held.
#[must_use]
pub fn surely_holds_something() -> bool {
    false
}

/// Refuses: no command could have it.
pub fn pseudo_terminal() -> std::io::Result<(OwnedFd, OwnedFd)> {
    Err(std::io::ErrorKind::Unsupported.into())
}

/// Nothing was remembered.
pub fn forget(_state: &Path) {}

fn unable(capabilities: &HostCapabilities) -> SandboxError {
    let enforcement = capabilities.enforcement();
    SandboxError::Unable { lacking: Missing::Namespaces, enforcement }
}

/// A command that runs. There is none.
#[derive(Debug)]
pub struct Sandbox(Infallible);

impl Sandbox {
    /// Refuses.
    pub fn spawn(
        _: &Plan,
        capabilities: &HostCapabilities,
        _: impl FnMut(&[u8]) + Send + 'static,
    ) -> Result<Sandbox, SandboxError> {
        Err(unable(capabilities))
    }

    /// Refuses.
    pub fn talk(
        _: &Plan,
        capabilities: &HostCapabilities,
        _: impl FnMut(&[u8]) + Send + 'static,
    ) -> Result<(Sandbox, Pipes), SandboxError> {
        Err(unable(capabilities))
    }

    /// A handle that ends the command, or sends it signals.
    #[must_use]
    pub fn canceller(&self) -> Cancel {
        match self.0 {}
    }

    /// The process group of the command.
    #[must_use]
    pub fn group(&self) -> i32 {
        match self.0 {}
    }

    /// What holds the command.
    #[must_use]
    pub fn enforcement(&self) -> &Enforcement {
        match self.0 {}
    }

    /// What the caps of the plan hold for.
    #[must_use]
    pub fn caps(&self) -> Caps {
        match self.0 {}
    }

    /// The listener of the sandbox.
    pub fn take_listener(&mut self) -> Option<OwnedFd> {
        match self.0 {}
    }

    /// Waits for the end of the command.
    pub fn wait(self) -> Result<Exit, SandboxError> {
        match self.0 {}
    }
}

/// What tests ask of the machine.
pub mod test_support {
    /// There are no namespaces where nothing can be enforced.
    pub fn make_namespaces() -> std::io::Result<()> {
        Err(std::io::ErrorKind::Unsupported.into())
    }
}
