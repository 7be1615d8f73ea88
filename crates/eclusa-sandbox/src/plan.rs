//! What a command may reach: the plan that a caller writes and the kernel holds the command to.

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::capabilities::Missing;
use crate::{OwnServers, SharedNetwork};

/// What one command may read, write and use. A new plan allows reading and nothing else.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The program and its arguments. The program is an absolute path, so that nothing is searched.
    pub argv: Vec<OsString>,
    /// The whole environment of the command: nothing is inherited.
    pub env: Vec<(OsString, OsString)>,
    /// Where the command starts.
    pub cwd: PathBuf,
    /// What may be read. Empty: everything that is not hidden. Otherwise these and what the plan
    /// makes writable; [`SYSTEM_ROOTS`] is what most programs need.
    pub read: Vec<PathBuf>,
    /// What may be written at once, without staging.
    pub write: Vec<PathBuf>,
    /// What may be written into a layer of its own, to be looked at before it is real.
    pub stage: Vec<Staging>,
    /// What is neither read nor listed, wherever it lies. Without namespaces its names show, and what is in
    /// it is not read.
    pub hide: Vec<PathBuf>,
    /// Directories beneath a staged one in which nothing can be written all the same. One that is missing is made in
    /// the layer, and stays empty. Only with namespaces.
    pub sealed: Vec<PathBuf>,
    /// Directories that are writable at another place: beneath `/run` or `/tmp`, or one of those that are
    /// [`made`](Plan::made).
    pub mounts: Vec<PrivateMount>,
    /// Empty directories that are seen although the machine has none there, for [`mounts`](Plan::mounts) at them.
    /// Without sockets ([`opens_sockets`](crate::HostCapabilities::opens_sockets)) neither is seen.
    pub made: Vec<PathBuf>,
    /// What `/tmp` and `/var/tmp` are: a directory that lasts. Without one an empty one in memory. Without
    /// namespaces it is written at its own place, which `TMPDIR` names, and without one there is none.
    pub tmp: Option<PathBuf>,
    /// Hosts that a proxy of the caller will let through. With none there is no listener, unless
    /// [`proxy`](Plan::proxy) asks for one, and no network at all.
    pub hosts: Vec<String>,
    /// Whether there is a listener even if no host may be reached: then it is known which were tried.
    pub proxy: bool,
    /// The loopback network that the command shares with others. Without one it has its own.
    pub network: Option<SharedNetwork>,
    /// Where there is no network namespace: the servers of other commands that it reaches besides its own.
    pub servers: OwnServers,
    /// The terminal that is its standard input, output and error and that it is controlled by:
    /// [`pseudo_terminal`](crate::pseudo_terminal) makes one. Without one it has none, and its
    /// output is kept.
    pub terminal: Option<Arc<OwnedFd>>,
    /// Its standard input, read from where it stands. Without one it is empty.
    pub input: Option<Arc<OwnedFd>>,
    /// How much of everything the command may use.
    pub limits: Limits,
    /// How much of the output is kept in memory.
    pub keep: Keep,
    /// What may be lacking on this machine. Empty: only [`Full`](crate::Enforcement::Full) will do.
    pub may_lack: Vec<Missing>,
    /// Whose system calls wait for an answer from outside.
    pub hold: Hold,
    /// What may go on when the command has ended, or its maker has. Only with namespaces.
    pub outlives: Outlives,
    /// Whether the caller gets the mount of the first staged directory ([`Sandbox::take_mount`](crate::Sandbox::take_mount)),
    /// through which changes are shown to a command that goes on.
    pub hands_mount: bool,
    /// A cgroup v2 directory that was delegated to this process and has the controllers `memory`
    /// and `pids` enabled for its children. Without one the caps hold for each process alone.
    pub cgroup: Option<PathBuf>,
}

/// Which system calls of a command wait until somebody outside has looked at them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Hold {
    /// Renames, if something is staged: an overlay refuses to rename a directory of the workspace,
    /// and the sandbox then does it piece by piece ([`notify::help_renames`](crate::notify)).
    #[default]
    Renames,
    /// Nothing.
    Nothing,
}

/// What of a command may go on without whoever started it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Outlives {
    /// Nothing: it ends with the thread that made it, and what it leaves running ends with it.
    #[default]
    Nothing,
    /// What it leaves running: [`Sandbox::wait_or_leave`](crate::Sandbox::wait_or_leave) hands it over.
    Left,
    /// The command itself: [`Sandbox::let_go`](crate::Sandbox::let_go) hands it over.
    All,
}

/// One directory that is written through an overlay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Staging {
    /// The real directory. It appears at its own path, and is not changed.
    pub lower: PathBuf,
    /// Directories that cover it, the uppermost first: what others have written over it and nobody has applied.
    pub covers: Vec<PathBuf>,
    /// Where changes go: an empty directory on the same filesystem, so that a commit can rename.
    pub upper: PathBuf,
    /// The overlay's own scratch directory: empty, beside `upper`.
    pub work: PathBuf,
    /// Directories beneath `lower`, relative to it, that are written at once and can't be undone.
    /// One that is missing is made, because it is going to be real.
    pub live: Vec<PathBuf>,
}

/// A directory of the caller's that a command sees, and may write to, at another place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrivateMount {
    /// Where it is.
    pub source: PathBuf,
    /// Where the command sees it: beneath `/run` or `/tmp`.
    pub target: PathBuf,
}

/// How much a command may use before it is stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Time on the clock, from the moment the command starts.
    pub wall: Option<Duration>,
    /// From the polite end (SIGTERM) to the certain one (SIGKILL).
    pub grace: Duration,
    /// Processor time of each process.
    pub cpu: Option<Duration>,
    /// Memory of the whole sandbox: what its processes have, not what they reserve. Exact with a
    /// cgroup; otherwise looked at five times a second, so that it is a bound on damage.
    pub memory: Option<u64>,
    /// Processes at once. Without a cgroup, and as root, the kernel can't count below 301.
    pub processes: Option<u32>,
    /// Processes at once of what goes on without whoever started it, threads not counted: counted when a command
    /// leaves some running, and otherwise as long as the command runs, five times a second. For a job alone.
    pub going_on: Option<u32>,
    /// Size of any one file.
    pub file: Option<u64>,
    /// By how much the filesystem beneath the first stage or writable root may shrink. Looked at
    /// five times a second, so it is a bound on damage and not an exact quota.
    pub disk: Option<u64>,
    /// Size of the private `/tmp`, where it is in memory.
    pub tmp: u64,
    /// Bytes of output after which the command is ended. `None`: it may go on; only
    /// [`Keep`] bounds the memory.
    pub output: Option<u64>,
}

/// How much of the output is kept: its beginning and its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keep {
    /// Bytes from the start.
    pub head: usize,
    /// Bytes from the end.
    pub tail: usize,
}

/// The directories that programs are installed in.
pub const SYSTEM_ROOTS: [&str; 9] =
    ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc", "/opt", "/nix/store"];

/// Where bash is looked for, so that one on PATH can't take its place.
const BASH: [&str; 3] = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"];

impl Plan {
    /// A plan for `argv`, started in `cwd`, which may write nothing.
    #[must_use]
    pub fn new(argv: Vec<OsString>, cwd: impl Into<PathBuf>) -> Plan {
        Plan {
            argv,
            env: Vec::new(),
            cwd: cwd.into(),
            read: Vec::new(),
            write: Vec::new(),
            stage: Vec::new(),
            hide: Vec::new(),
            sealed: Vec::new(),
            mounts: Vec::new(),
            made: Vec::new(),
            tmp: None,
            hosts: Vec::new(),
            proxy: false,
            network: None,
            servers: OwnServers::default(),
            terminal: None,
            input: None,
            limits: Limits::default(),
            keep: Keep::default(),
            may_lack: Vec::new(),
            hold: Hold::default(),
            outlives: Outlives::default(),
            hands_mount: false,
            cgroup: None,
        }
    }

    /// A plan for a shell text: a bash at a known place that reads no start-up file, no
    /// `BASH_ENV` and no functions from the environment.
    #[must_use]
    pub fn bash(text: &str, cwd: impl Into<PathBuf>) -> Plan {
        let bash = BASH.iter().find(|path| Path::new(path).exists()).unwrap_or(&"/bin/bash");
        let argv = [bash, "--norc", "--noprofile", "-p", "-c", text];
        Plan::new(argv.into_iter().map(OsString::from).collect(), cwd)
    }

    /// Where what a job writes is counted: its first layer, and its `/tmp`.
    #[cfg(enforced)]
    pub(crate) fn written(&self) -> Vec<PathBuf> {
        self.stage.first().map(|it| &it.upper).into_iter().chain(&self.tmp).cloned().collect()
    }
}

impl Default for Limits {
    /// Thirty seconds, two of grace, and room for an ordinary build.
    fn default() -> Limits {
        Limits {
            wall: Some(Duration::from_secs(30)),
            grace: Duration::from_secs(2),
            cpu: None,
            memory: Some(8 << 30),
            processes: Some(1024),
            going_on: None,
            file: Some(4 << 30),
            disk: Some(8 << 30),
            tmp: 1 << 30,
            output: None,
        }
    }
}

impl Default for Keep {
    /// A hundred kilobytes: four fifths from the start, one from the end (C16).
    fn default() -> Keep {
        Keep { head: 80_000, tail: 20_000 }
    }
}
