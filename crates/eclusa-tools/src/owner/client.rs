//! Asking the owner of a session, wherever it lives: one message for each connection.

use std::{
    io,
    os::fd::{AsFd as _, OwnedFd},
    path::Path,
    time::Duration,
};

use eclusa_sandbox::{SandboxError, SharedNetwork};
use rustix::net::sockopt;

use super::{
    held_job::{HeldJob, HeldRun},
    places::{SessionPlace, all_sessions, is_ours, session_id},
    wire::{Answer, Ask, ViewAbout, receive, send},
};

/// Why an owner could not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OwnerError {
    /// It speaks another version.
    #[error(
        "jobs of this session were started by eclusa {0}; end them with `eclusa jobs end --all`, and make \
         the call again"
    )]
    Version(String),
    /// It said no.
    #[error("{0}")]
    Refused(String),
    /// It cannot be reached.
    #[error("the owner of the session cannot be reached: {0}; `eclusa jobs end --all` ends it")]
    Lost(#[from] io::Error),
    /// What it sent is no good.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
}

/// How long an owner has for its answer.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long it has where a change waits for it.
const SOON: Duration = Duration::from_millis(200);

/// A connection to the owner of a session, for one message.
#[derive(Debug)]
pub struct OwnerClient {
    socket: OwnedFd,
    pid: i32,
}

impl OwnerClient {
    /// Connects to the owner of a session by its name. `None`: it has none.
    pub fn connect(state: &Path, session: &str) -> Result<Option<OwnerClient>, OwnerError> {
        OwnerClient::connect_to(&all_sessions(state).join(session_id(session)))
    }

    /// Connects to the owner of every session of a workspace that has one.
    pub fn all(state: &Path) -> Vec<Result<OwnerClient, OwnerError>> {
        let entries = std::fs::read_dir(all_sessions(state)).into_iter().flatten().flatten();
        entries.filter_map(|it| OwnerClient::connect_to(&it.path()).transpose()).collect()
    }

    pub(super) fn connect_to(place: &Path) -> Result<Option<OwnerClient>, OwnerError> {
        let Some(place) = SessionPlace::open(place)? else { return Ok(None) };
        let Some(socket) = place.connect()? else { return Ok(None) };
        let pid = is_ours(&socket)?;
        // Jobs that are ended have some seconds.
        sockopt::set_socket_timeout(&socket, sockopt::Timeout::Recv, Some(PATIENCE))
            .map_err(io::Error::from)?;
        sockopt::set_socket_timeout(&socket, sockopt::Timeout::Send, Some(PATIENCE))
            .map_err(io::Error::from)?;
        Ok(Some(OwnerClient { socket, pid }))
    }

    /// The process that it is.
    pub fn pid(&self) -> i32 {
        self.pid
    }

    fn ask(self, ask: &Ask, fds: &[std::os::fd::BorrowedFd<'_>]) -> Result<Told, OwnerError> {
        send(&self.socket, ask, fds)?;
        let received = receive(&self.socket)?;
        let gone = || io::Error::other("it went away before it answered");
        let received = received.ok_or_else(gone)?;
        if let Some(other) = received.other_version()? {
            return Err(OwnerError::Version(other.program));
        }
        let answer: Answer = received.read()?;
        match answer.error {
            Some(error) => Err(OwnerError::Refused(error)),
            None => Ok(Told { answer, fds: received.fds }),
        }
    }

    /// The network of the session, if it has one.
    pub fn network(self) -> Result<Option<SharedNetwork>, OwnerError> {
        let fds = self.ask(&Ask::Network, &[])?.fds;
        match fds.is_empty() {
            true => Ok(None),
            false => Ok(Some(SharedNetwork::from_descriptors(fds)?)),
        }
    }

    /// Hands the network of a command over that still runs. Where the session has one, that stays.
    pub(crate) fn share(self, network: &SharedNetwork) -> Result<(), OwnerError> {
        self.ask(&Ask::Share, &network.descriptors()).map(drop)
    }

    /// Hands a job over, and says which number it has.
    pub(crate) fn adopt(self, job: HeldJob) -> Result<u64, OwnerError> {
        let HeldJob { mut about, run, locks, network, kept } = job;
        let HeldRun::Left(left) = run else {
            return Err(OwnerError::Refused("the command is watched elsewhere".to_owned()));
        };
        let (parts, command) = left.into_parts();
        (about.written, about.staged) = (parts.written, parts.staged);
        (about.group, about.mount) = (parts.group, parts.mount);
        let network = network.as_ref().map(SharedNetwork::descriptors).unwrap_or_default();
        let (commands, others) = (command.len(), locks.len());
        let mut fds: Vec<_> = command.iter().chain(&locks).map(OwnedFd::as_fd).collect();
        fds.extend(&network);
        let ask = Ask::Adopt {
            job: Box::new(about),
            command: commands,
            locks: others,
            network: network.len(),
        };
        let told = self.ask(&ask, &fds)?;
        drop(kept);
        told.answer.job.ok_or_else(|| OwnerError::Refused("it gave the job no number".to_owned()))
    }

    /// What its jobs see of the workspace: the mount of each. A change does not wait for long.
    pub(super) fn views(self) -> Result<Vec<(ViewAbout, OwnedFd)>, OwnerError> {
        sockopt::set_socket_timeout(&self.socket, sockopt::Timeout::Recv, Some(SOON))
            .map_err(io::Error::from)?;
        let told = self.ask(&Ask::Views, &[])?;
        Ok(told.answer.views.into_iter().zip(told.fds).collect())
    }

    /// Keeps what a job that runs has written to the workspace so far, to be applied as [`run_of_job`], and says how
    /// many paths that are.
    ///
    /// [`run_of_job`]: crate::run_of_job
    pub fn keep(self, job: u64) -> Result<usize, OwnerError> {
        Ok(self.ask(&Ask::Keep { job }, &[])?.answer.kept.unwrap_or(0))
    }

    /// Keeps what a job that runs has written since the last look, as [`offer_of_job`], and says how many paths that
    /// are.
    ///
    /// [`offer_of_job`]: super::offer_of_job
    pub(crate) fn offer(self, job: u64) -> Result<usize, OwnerError> {
        Ok(self.ask(&Ask::Offer { job }, &[])?.answer.kept.unwrap_or(0))
    }

    /// Says that rules have judged what was offered of a job.
    pub(crate) fn note_judged(self, job: u64) -> Result<(), OwnerError> {
        self.ask(&Ask::Judged { job }, &[]).map(drop)
    }

    /// Ends these jobs, or all, and returns when they have ended.
    pub fn end(self, jobs: Option<Vec<u64>>) -> Result<(), OwnerError> {
        self.ask(&Ask::End { jobs }, &[]).map(drop)
    }

    /// Sends a signal to a job.
    pub fn signal(self, job: u64, signal: &str) -> Result<(), OwnerError> {
        self.ask(&Ask::Signal { job, signal: signal.to_owned() }, &[]).map(drop)
    }

    /// The session is over: it ends with everything it holds.
    pub fn over(self) -> Result<(), OwnerError> {
        self.ask(&Ask::Over, &[]).map(drop)
    }

    /// Who it is, to be ended where it does not understand us.
    pub fn twin(&self) -> OwnerProcess {
        OwnerProcess(self.pid)
    }
}

/// The process that is an owner.
#[derive(Debug, Clone, Copy)]
pub struct OwnerProcess(i32);

impl OwnerProcess {
    /// Ends it. Its jobs end with it.
    pub fn kill(self) {
        if let Some(pid) = rustix::process::Pid::from_raw(self.0) {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        }
    }
}

/// What an owner has told.
struct Told {
    answer: Answer,
    fds: Vec<OwnedFd>,
}
