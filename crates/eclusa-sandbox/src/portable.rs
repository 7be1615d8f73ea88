//! The face of this crate where nothing can be enforced: the level is `none`, and no command starts.
//! Nothing is weakened silently: whoever wants a sandbox is told that there is none.

use std::convert::Infallible;
use std::os::fd::OwnedFd;
use std::path::Path;

use crate::capabilities::{Enforcement, HostCapabilities, Missing, Namespaces, PartRefusal};
use crate::exit::Exit;
use crate::plan::{Keep, Limits, Plan};
use crate::proxy::ProxyListener;
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
        sockets: Err("this build of the program has no sandbox for this system".to_owned()),
        refusals: vec![PartRefusal {
            part: Missing::Namespaces,
            errno: None,
            text: "this build of the program has no sandbox for this system".to_owned(),
            unstarted: false,
            is_workspace: false,
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

/// Refuses: there are no layers here.
pub fn enter_scratch(_root: &Path, _upper: &Path, _work: &Path) -> Result<OwnedFd, SandboxError> {
    let source = std::io::ErrorKind::Unsupported.into();
    Err(SandboxError::System { what: "lay a scratch layer", source })
}

/// Nothing is started that could inherit.
pub fn inherit_nothing() -> std::io::Result<()> {
    Ok(())
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
    pub fn take_listener(&mut self) -> Option<ProxyListener> {
        match self.0 {}
    }

    /// The mount of what is staged.
    pub fn take_mount(&mut self) -> Option<OwnedFd> {
        match self.0 {}
    }

    /// Waits for the end of the command.
    pub fn wait(self) -> Result<Exit, SandboxError> {
        match self.0 {}
    }

    /// Waits for the end of the command.
    pub fn wait_or_leave(self) -> Result<(Exit, Option<LeftRunning>), SandboxError> {
        match self.0 {}
    }

    /// Leaves the command running.
    pub fn let_go(self) -> Result<LeftRunning, Box<(Option<Exit>, SandboxError)>> {
        match self.0 {}
    }

    /// Watches what somebody else has left running.
    pub fn adopt(
        left: LeftRunning,
        _: &Limits,
        _: Keep,
        _: impl FnMut(&[u8]) + Send + 'static,
    ) -> Result<Sandbox, SandboxError> {
        match left.0 {}
    }
}

/// A sandbox that runs and that nobody watches. There is none.
#[derive(Debug)]
pub struct LeftRunning(Infallible);

/// What is known of it besides its descriptors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftParts {
    /// Its first process.
    pub pid: i32,
    /// Where it writes to.
    pub written: Vec<std::path::PathBuf>,
    /// Where renames of directories are helped.
    pub staged: Vec<std::path::PathBuf>,
    /// Its control group.
    pub group: Option<std::path::PathBuf>,
    /// Whether the mount of what it stages comes with it.
    pub mount: bool,
}

impl LeftRunning {
    /// Takes it apart.
    #[must_use]
    pub fn into_parts(self) -> (LeftParts, Vec<OwnedFd>) {
        match self.0 {}
    }

    /// Refuses.
    pub fn from_parts(_: LeftParts, _: Vec<OwnedFd>) -> Result<LeftRunning, SandboxError> {
        Err(SandboxError::Plan("no command runs here".to_owned()))
    }

    /// Its first process.
    #[must_use]
    pub fn pid(&self) -> i32 {
        match self.0 {}
    }

    /// Does something while none of its processes runs.
    pub fn while_stopped<T>(&self, _: impl FnOnce() -> T) -> Option<T> {
        match self.0 {}
    }
}

/// There is nobody to stop.
pub fn while_stopped<T>(_: i32, _: impl FnOnce() -> T) -> Option<T> {
    None
}

/// There is nobody to stop.
pub fn while_stopped_until<T>(_: i32, _: std::time::Instant, _: impl FnOnce() -> T) -> Option<T> {
    None
}

/// There are none.
#[must_use]
pub fn processes_of(_: i32) -> Vec<i32> {
    Vec::new()
}

/// There are none.
#[must_use]
pub fn listening_ports(_: i32) -> Vec<u16> {
    Vec::new()
}

/// What tests ask of the machine.
pub mod test_support {
    /// There are no namespaces where nothing can be enforced.
    pub fn make_namespaces() -> std::io::Result<()> {
        Err(std::io::ErrorKind::Unsupported.into())
    }
}
