//! What goes on without whoever started it: handed from one watch to the next, also in another process.

use std::collections::BTreeSet;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

use super::answering::Answering;
use super::{StartedCommand, survivors};
use crate::clone::{Child, high};
use crate::resource_caps::{Cap, Caps, Group};
use crate::step::{SandboxError, trying};

/// How long processes may take to stand still.
const STILL: Duration = Duration::from_millis(500);

/// A sandbox that runs and that nobody watches. Dropped, it ends.
#[derive(Debug)]
pub struct LeftRunning {
    parts: LeftParts,
    pidfd: OwnedFd,
    status: OwnedFd,
    output: OwnedFd,
    held: Option<OwnedFd>,
    pub(super) mount: Option<OwnedFd>,
    group: Option<Group>,
    pub(super) caps: Caps,
}

/// What is known of it besides its descriptors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftParts {
    /// Its first process.
    pub pid: i32,
    /// Where it writes to, as far as that is counted: its changes first.
    pub written: Vec<PathBuf>,
    /// Where renames of directories are helped.
    pub staged: Vec<PathBuf>,
    /// Its control group.
    pub group: Option<PathBuf>,
    /// Whether the mount of what it stages comes with it.
    pub mount: bool,
}

impl StartedCommand {
    /// Leaves it to somebody else, with the descriptor on which its calls wait. It is not ended here any more.
    pub(super) fn left(
        &mut self,
        held: Option<OwnedFd>,
        written: Vec<PathBuf>,
        staged: Vec<PathBuf>,
    ) -> Result<LeftRunning, SandboxError> {
        let again = |it: &OwnedFd| it.try_clone().map_err(trying("duplicate a descriptor"));
        let (status, output) = (again(&self.status)?, again(&self.output)?);
        let pidfd = again(&self.child.pidfd)?;
        self.child.abandon();
        let group = self.group.take();
        let path = group.as_ref().map(|it| it.path().to_owned());
        let parts = LeftParts { pid: self.child.pid, written, staged, group: path, mount: false };
        let caps = self.caps;
        Ok(LeftRunning { parts, pidfd, status, output, held, mount: None, group, caps })
    }
}

impl LeftRunning {
    /// Takes it apart, to be sent to another process. Nobody may drop the descriptors before they have
    /// arrived there.
    #[must_use]
    pub fn into_parts(self) -> (LeftParts, Vec<OwnedFd>) {
        let LeftRunning { mut parts, pidfd, status, output, held, mount, group, .. } = self;
        parts.mount = mount.is_some();
        if let Some(group) = group {
            group.leave();
        }
        let fds = [pidfd, status, output].into_iter().chain(mount).chain(held).collect();
        (parts, fds)
    }

    /// Puts it together again. The error means that these are not its descriptors.
    pub fn from_parts(parts: LeftParts, fds: Vec<OwnedFd>) -> Result<LeftRunning, SandboxError> {
        let mut fds = fds.into_iter().map(high).collect::<Result<Vec<_>, _>>()?.into_iter();
        let (Some(pidfd), Some(status), Some(output)) = (fds.next(), fds.next(), fds.next()) else {
            return Err(SandboxError::Plan("descriptors of the command are missing".to_owned()));
        };
        let mount = if parts.mount { fds.next() } else { None };
        let held = fds.next();
        let group = parts.group.clone().map(Group::of_others);
        let caps = Caps { memory: Cap::Open, processes: Cap::Open };
        Ok(LeftRunning { parts, pidfd, status, output, held, mount, group, caps })
    }

    /// Its first process.
    #[must_use]
    pub fn pid(&self) -> i32 {
        self.parts.pid
    }

    pub(super) fn written(&self) -> &[PathBuf] {
        &self.parts.written
    }

    pub(super) fn staged(&self) -> &[PathBuf] {
        &self.parts.staged
    }

    /// Whether a control group counts its memory.
    pub(super) fn is_counted(&self) -> bool {
        self.group.is_some()
    }

    /// Its first process, by a descriptor that becomes readable when it has ended.
    #[must_use]
    pub fn pidfd(&self) -> BorrowedFd<'_> {
        use std::os::fd::AsFd as _;
        self.pidfd.as_fd()
    }

    /// Does something while none of its processes runs, so that what they write is whole. `None`: they could not be
    /// stopped.
    pub fn while_stopped<T>(&self, act: impl FnOnce() -> T) -> Option<T> {
        while_stopped(self.pid(), act)
    }

    /// What a watch is made of.
    pub(super) fn taken_over(self) -> (StartedCommand, Answering) {
        let LeftRunning { parts, pidfd, status, output, held, group, caps, .. } = self;
        let child = Child::of_others(parts.pid, pidfd);
        let guardian = None;
        let started =
            StartedCommand { guardian, child, namespace: true, output, status, caps, group };
        (started, Answering::new(held))
    }
}

/// Does something while no process beneath the first one of a sandbox runs. Those that were stopped before stay so.
/// `None`: they could not be stopped, and nothing was done.
pub fn while_stopped<T>(first: i32, act: impl FnOnce() -> T) -> Option<T> {
    while_stopped_until(first, Instant::now() + STILL, act)
}

/// The same, where they must stand still by then.
pub fn while_stopped_until<T>(first: i32, until: Instant, act: impl FnOnce() -> T) -> Option<T> {
    let mut stopped = Stopped(BTreeSet::new());
    loop {
        let all = survivors::beneath(first);
        let moving: Vec<i32> = all.into_iter().filter(|it| !stands(*it)).collect();
        if moving.is_empty() {
            return Some(act());
        }
        if Instant::now() >= until {
            return None;
        }
        for pid in moving {
            send(pid, Signal::STOP);
            stopped.0.insert(pid);
        }
        std::thread::sleep(Duration::from_micros(200));
    }
}

/// Processes that go on when it is dropped, whatever happens.
struct Stopped(BTreeSet<i32>);

impl Drop for Stopped {
    fn drop(&mut self) {
        self.0.iter().for_each(|it| send(*it, Signal::CONT));
    }
}

fn send(pid: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid) {
        let _ = rustix::process::kill_process(pid, signal);
    }
}

/// Whether a process is stopped, or has ended.
fn stands(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit(')').next().unwrap_or_default().trim_start();
    state.is_empty() || state.starts_with(['T', 't', 'Z', 'X', 'x'])
}
