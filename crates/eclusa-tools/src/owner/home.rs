//! The two homes of an owner: a thread of a process that lives as long as the session, or a process of its own.

use std::{
    ffi::OsString,
    io::{self, Write as _},
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    thread::JoinHandle,
};

use eclusa_sandbox::start_apart;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::{
    agent_process::AgentProcess,
    client::{OwnerClient, OwnerError},
    held_job::HeldJob,
    session_owner::SessionOwner,
};

/// Where jobs live.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum JobHome {
    /// In this process, which lives as long as the session.
    #[default]
    Here,
    /// In this process, and what a command leaves running is ended.
    Nowhere,
    /// In a process of their own, which this program starts: `eclusa session`.
    Apart {
        /// The program.
        program: PathBuf,
        /// Whether they end with the agent that this process is a call of.
        with_agent: bool,
    },
}

impl JobHome {
    /// In a process of their own, which is this program.
    pub fn apart(with_agent: bool) -> JobHome {
        JobHome::Apart { program: "/proc/self/exe".into(), with_agent }
    }
}

/// An owner in this process. Dropped, it ends with everything it holds.
#[derive(Debug)]
pub(crate) struct OwnerHere {
    owner: SessionOwner,
    thread: Option<JoinHandle<()>>,
}

impl OwnerHere {
    /// Starts one. `None`: the session has one elsewhere.
    pub(crate) fn start(state: &Path, session: &str) -> io::Result<Option<OwnerHere>> {
        let Some((owner, door)) = SessionOwner::open(state, session)? else { return Ok(None) };
        let serving = owner.clone();
        let thread = std::thread::Builder::new().name("session-owner".to_owned());
        let thread = thread.spawn(move || serving.serve(door, None, false))?;
        Ok(Some(OwnerHere { owner, thread: Some(thread) }))
    }

    /// Holds a job, and says which number it has.
    pub(crate) fn adopt(&self, job: HeldJob) -> io::Result<u64> {
        self.owner.adopt(job)
    }
}

impl Drop for OwnerHere {
    fn drop(&mut self) {
        self.owner.finish();
        if let Some(thread) = self.thread.take() {
            // An error means that it panicked.
            let _ = thread.join();
        }
    }
}

/// Says that an owner is there.
const READY: &str = "ready";

/// Starts an owner in a process of its own, which outlives this one.
pub(crate) fn start_owner(
    program: &Path,
    state: &Path,
    session: &str,
    with_agent: bool,
) -> Result<OwnerClient, OwnerError> {
    let mut args: Vec<OsString> = vec!["session".into(), state.into(), session.into()];
    let agent = if with_agent { AgentProcess::nearest() } else { None };
    args.extend(agent.map(|it| it.to_string().into()));
    let said = start_apart(program, &args)?;
    match OwnerClient::connect(state, session)? {
        Some(client) => Ok(client),
        None => Err(OwnerError::Refused(format!("the owner of the session did not start: {said}"))),
    }
}

/// What `eclusa session` does: is the owner of a session until that is over. The words are its arguments; it says
/// on standard output when it is there, and nothing later.
pub fn run_owner(words: &[OsString]) -> io::Result<()> {
    let (Some(state), Some(session)) = (words.first(), words.get(1).and_then(|it| it.to_str()))
    else {
        return Err(io::Error::other("say which session: `eclusa session STATE SESSION`"));
    };
    let agent = words.get(2).and_then(|it| it.to_str()?.parse().ok());
    let opened = SessionOwner::open(Path::new(state), session);
    let text = match &opened {
        Ok(Some(_)) => READY.to_owned(),
        Ok(None) => "the session has an owner".to_owned(),
        Err(err) => err.to_string(),
    };
    writeln!(io::stdout(), "{text}")?;
    eclusa_sandbox::forget_streams()?;
    let Some((owner, door)) = opened? else { return Ok(()) };
    let gone = match agent {
        None => None,
        // One that has ended by now is gone.
        Some(agent) => match watched(&agent) {
            None => return Ok(()),
            watched => watched,
        },
    };
    owner.serve(door, gone.as_ref(), true);
    Ok(())
}

/// A descriptor that becomes readable when the agent has ended. `None`: it has, or is another by now.
fn watched(agent: &AgentProcess) -> Option<OwnedFd> {
    let pid = Pid::from_raw(agent.pid)?;
    let opened = pidfd_open(pid, PidfdFlags::empty()).ok()?;
    (AgentProcess::of(agent.pid).as_ref() == Some(agent)).then_some(opened)
}
