//! The owner itself. It holds and streams and decides nothing: whoever asks it for something has been through the
//! gate.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, PipeReader, PipeWriter, Read as _, Write as _},
    os::fd::{AsFd as _, OwnedFd},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread::JoinHandle,
    time::Duration,
};

use eclusa_sandbox::{Cancel, SandboxError, Sent, SharedNetwork};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    net::{SocketFlags, accept_with, sockopt},
};

use super::{
    agent_process::AgentProcess,
    held_job::{HeldJob, JobInside},
    job_end::watch_job,
    kept_run::keep_running,
    offer::offer,
    places::{SessionPlace, all_sessions, is_ours, session_id},
    records::{JobRecord, JobRecords, now},
    session_log::SessionLog,
    wire::{Answer, Ask, Received, VERSION, ViewAbout, receive, send},
};

/// How long whoever connects has for its message.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long an owner without jobs waits for more.
const IDLE: Duration = Duration::from_secs(600);
/// The most whoever asks at once.
const MAX_CONNECTIONS: usize = 64;
/// How soon it is looked again whether there is room for another.
const SOON: Duration = Duration::from_millis(20);
/// How much of its command names a job.
const MAX_NAME: usize = 40;
/// The most jobs at once.
const MAX_JOBS: usize = 32;

/// The owner of one session. Clones are the same one.
#[derive(Debug, Clone)]
pub(crate) struct SessionOwner(Arc<OwnerState>);

#[derive(Debug)]
struct OwnerState {
    session: String,
    state: PathBuf,
    place: SessionPlace,
    records: JobRecords,
    network: Mutex<Option<SharedNetwork>>,
    jobs: Mutex<BTreeMap<u64, LiveJob>>,
    /// One for each connection that is served.
    connections: Arc<()>,
    /// Written to when a job has ended, or when it is to end itself.
    wake: PipeWriter,
    _lock: File,
}

#[derive(Debug)]
struct LiveJob {
    cancel: Cancel,
    inside: Arc<JobInside>,
    /// What it sees of the workspace, and where that is written to. Closed before its layer goes.
    view: Option<(ViewAbout, OwnedFd)>,
    watch: JoinHandle<()>,
}

/// What its thread or its process waits at.
pub(super) struct Door {
    listener: OwnedFd,
    woken: PipeReader,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl SessionOwner {
    /// The owner of a session. `None`: it has one already.
    pub(super) fn open(state: &Path, session: &str) -> io::Result<Option<(SessionOwner, Door)>> {
        let taken = SessionPlace::take(&all_sessions(state).join(session_id(session)))?;
        let Some((place, lock)) = taken else { return Ok(None) };
        let listener = place.listen()?;
        let (woken, wake) = io::pipe()?;
        let state = OwnerState {
            session: session.to_owned(),
            state: state.to_owned(),
            place,
            records: JobRecords::new(state),
            network: Mutex::default(),
            jobs: Mutex::default(),
            connections: Arc::default(),
            wake,
            _lock: lock,
        };
        Ok(Some((SessionOwner(Arc::new(state)), Door { listener, woken })))
    }

    /// Holds a job, and says which number it has.
    pub(super) fn adopt(&self, job: HeldJob) -> io::Result<u64> {
        let mut jobs = locked(&self.0.jobs);
        if jobs.len() >= MAX_JOBS {
            let text = format!("{MAX_JOBS} jobs run already; end one with `jobs` first");
            return Err(io::Error::other(text));
        }
        let HeldJob { about, run, locks, network, kept } = job;
        if let Some(network) = network {
            locked(&self.0.network).get_or_insert(network);
        }
        let number = self.0.records.new_number()?;
        let mut record = JobRecord {
            job: number,
            session: self.0.session.clone(),
            command: about.command.clone(),
            call: about.call,
            since: now(),
            owner: std::process::id(),
            pid: about.pid,
            start: AgentProcess::of(about.pid).map_or(0, |it| it.start),
            layer: about.layer.clone(),
            ended: None,
            changes: None,
            log: None,
            told: false,
            lost: false,
        };
        let mut output = self.0.records.make_output(number)?;
        if let Some(tmp) = &about.tmp {
            match SessionLog::make(tmp, number) {
                Ok((log, name)) => (output.log, record.log) = (Some(log), Some(name)),
                Err(err) => tracing::debug!("its session does not see what it prints: {err}"),
            }
        }
        output.add(about.early.as_bytes());
        self.0.records.write(&record)?;
        let lost = output.lost();
        let mut sandbox = HeldJob::watch(run, &about, output).map_err(io::Error::other)?;
        let view = sandbox.take_mount().zip(about.layer.clone()).map(|(mount, layer)| {
            let command = about.command.chars().take(MAX_NAME).collect();
            let (root, began) = (about.root.clone(), about.began.clone());
            (ViewAbout { job: number, command, call: about.call, layer, root, began }, mount)
        });
        let cancel = sandbox.canceller();
        let inside = Arc::new(JobInside { about, keeping: Mutex::default() });
        let watched = inside.clone();
        let (records, state) = (self.0.records.clone(), self.0.state.clone());
        let wake = self.0.wake.try_clone()?;
        let owner = Arc::downgrade(&self.0);
        let watch = move || {
            let closed = owner.clone();
            let close = move || {
                if let Some(owner) = closed.upgrade()
                    && let Some(job) = locked(&owner.jobs).get_mut(&number)
                {
                    job.view = None;
                }
            };
            watch_job(sandbox, close, &watched, (&records, &state), record, &lost);
            drop((kept, locks));
            if let Some(owner) = owner.upgrade() {
                // Its own handle: nobody joins it any more.
                locked(&owner.jobs).remove(&number);
            }
            let _ = (&wake).write(&[0]);
        };
        let watch = std::thread::Builder::new().name("job".to_owned()).spawn(watch)?;
        jobs.insert(number, LiveJob { cancel, inside, view, watch });
        Ok(number)
    }

    /// Ends these jobs, or all, and waits until nothing of them is left.
    pub(super) fn end(&self, which: Option<&[u64]>) {
        let wanted = |number: &u64| which.is_none_or(|it| it.contains(number));
        let mut ending: Vec<LiveJob> = {
            let mut jobs = locked(&self.0.jobs);
            jobs.extract_if(.., |number, _| wanted(number)).map(|it| it.1).collect()
        };
        for job in &mut ending {
            job.view = None;
            job.cancel.cancel();
        }
        for job in ending {
            // An error means that it panicked.
            let _ = job.watch.join();
        }
    }

    /// Ends all jobs because the session is over: a later call of one that is taken up again need not be told.
    fn end_with_session(&self) {
        let all: Vec<u64> = locked(&self.0.jobs).keys().copied().collect();
        self.end(None);
        all.into_iter().for_each(|it| self.0.records.note_told(it));
    }

    fn answer(
        &self,
        received: &mut Received,
        idles: bool,
    ) -> Result<(Answer, Vec<OwnedFd>, bool), String> {
        let told = |err: io::Error| err.to_string();
        if let Some(other) = received.other_version().map_err(told)? {
            return Err(format!(
                "the owner of this session speaks version {VERSION}, not {}; end its jobs with `eclusa jobs end \
                 --all`",
                other.v
            ));
        }
        let mut fds = std::mem::take(&mut received.fds).into_iter();
        match received.read::<Ask>().map_err(told)? {
            Ask::Network => {
                let network = locked(&self.0.network);
                let fds = network.as_ref().map(SharedNetwork::descriptors).unwrap_or_default();
                let fds: io::Result<Vec<OwnedFd>> =
                    fds.iter().map(|it| it.try_clone_to_owned()).collect();
                Ok((Answer::default(), fds.map_err(told)?, false))
            }
            Ask::Share => {
                let network = SharedNetwork::from_descriptors(fds.collect());
                let network = network.map_err(|err| err.to_string())?;
                locked(&self.0.network).get_or_insert(network);
                Ok((Answer::default(), Vec::new(), false))
            }
            Ask::Adopt { job, command, locks, network } => {
                if fds.len() != command.saturating_add(locks).saturating_add(network) {
                    return Err("descriptors of the job are missing".to_owned());
                }
                let command = fds.by_ref().take(command).collect();
                let locks = fds.by_ref().take(locks).collect();
                let job = HeldJob::received(*job, command, locks, fds.collect());
                let job = job.map_err(|err: SandboxError| err.to_string())?;
                let number = self.adopt(job).map_err(told)?;
                Ok((Answer { job: Some(number), ..Answer::default() }, Vec::new(), false))
            }
            Ask::End { jobs } => {
                self.end(jobs.as_deref());
                // Without jobs a process of its own is there for nobody.
                Ok((Answer::default(), Vec::new(), idles && jobs.is_none()))
            }
            Ask::Keep { job } => {
                let inside = locked(&self.0.jobs).get(&job).map(|it| it.inside.clone());
                let inside = inside.ok_or_else(|| format!("job {job} has ended"))?;
                let _keeping = locked(&inside.keeping);
                let kept = Some(keep_running(&inside.about, job, &self.0.state)?);
                Ok((Answer { kept, ..Answer::default() }, Vec::new(), false))
            }
            Ask::Offer { job } => {
                let inside = locked(&self.0.jobs).get(&job).map(|it| it.inside.clone());
                let inside = inside.ok_or_else(|| format!("job {job} has ended"))?;
                let mut offered = locked(&inside.keeping);
                let kept = Some(offer(&inside.about, job, &mut offered, &self.0.state)?);
                Ok((Answer { kept, ..Answer::default() }, Vec::new(), false))
            }
            Ask::Judged { job } => {
                if let Some(inside) = locked(&self.0.jobs).get(&job).map(|it| it.inside.clone()) {
                    locked(&inside.keeping).note_judged();
                }
                Ok((Answer::default(), Vec::new(), false))
            }
            Ask::Views => {
                let jobs = locked(&self.0.jobs);
                let mut answer = Answer::default();
                let mut mounts = Vec::new();
                for (about, mount) in jobs.values().filter_map(|it| it.view.as_ref()) {
                    answer.views.push(about.clone());
                    mounts.push(mount.try_clone().map_err(told)?);
                }
                Ok((answer, mounts, false))
            }
            Ask::Signal { job, signal } => {
                let signal: Sent = signal.parse()?;
                let jobs = locked(&self.0.jobs);
                let found = jobs.get(&job).ok_or_else(|| format!("job {job} has ended"))?;
                found.cancel.signal(signal);
                Ok((Answer::default(), Vec::new(), false))
            }
            Ask::Over => {
                self.end_with_session();
                Ok((Answer::default(), Vec::new(), true))
            }
        }
    }

    /// Serves one connection in a thread of its own: whoever says nothing, or asks for something that takes long,
    /// holds nobody up.
    fn serve_apart(&self, socket: OwnedFd, idles: bool) -> io::Result<()> {
        let (owner, counted) = (self.clone(), self.0.connections.clone());
        let serve = move || {
            match owner.serve_one(&socket, idles) {
                Ok(true) => owner.finish(),
                Ok(false) => {}
                Err(err) => tracing::debug!("a message was not answered: {err}"),
            }
            drop(counted);
        };
        std::thread::Builder::new().name("connection".to_owned()).spawn(serve).map(drop)
    }

    /// Serves one connection. True when the session is over.
    fn serve_one(&self, socket: &OwnedFd, idles: bool) -> io::Result<bool> {
        is_ours(socket)?;
        sockopt::set_socket_timeout(socket, sockopt::Timeout::Recv, Some(PATIENCE))?;
        sockopt::set_socket_timeout(socket, sockopt::Timeout::Send, Some(PATIENCE))?;
        let answered = match receive(socket) {
            Ok(None) => return Ok(false),
            Ok(Some(mut received)) => self.answer(&mut received, idles),
            Err(err) => Err(err.to_string()),
        };
        let (answer, fds, over) = answered.unwrap_or_else(|error| {
            (Answer { error: Some(error), ..Answer::default() }, Vec::new(), false)
        });
        let fds: Vec<_> = fds.iter().map(OwnedFd::as_fd).collect();
        send(socket, &answer, &fds)?;
        Ok(over)
    }

    /// Serves until it is told that the session is over, `agent` is gone, or there has been no job for long.
    /// `idles`: whether that ends it.
    pub(super) fn serve(&self, mut door: Door, agent: Option<&OwnedFd>, idles: bool) {
        loop {
            let none = locked(&self.0.jobs).is_empty();
            // Whoever comes while so many are served waits for one of them: those who say nothing go soon.
            let full = Arc::strong_count(&self.0.connections) > MAX_CONNECTIONS;
            let idle = Timespec::try_from(IDLE).ok().filter(|_| idles && none);
            let timeout = if full { Timespec::try_from(SOON).ok() } else { idle };
            let wanted = if full { PollFlags::empty() } else { PollFlags::IN };
            let mut polled =
                vec![PollFd::new(&door.listener, wanted), PollFd::new(&door.woken, PollFlags::IN)];
            polled.extend(agent.map(|it| PollFd::new(it, PollFlags::IN)));
            match poll(&mut polled, timeout.as_ref()) {
                Ok(0) if full => continue,
                Ok(0) => break,
                Ok(_) => {}
                Err(Errno::INTR) => continue,
                Err(_) => break,
            }
            let ready: Vec<bool> = polled.iter().map(|it| !it.revents().is_empty()).collect();
            if ready.get(2) == Some(&true) {
                break;
            }
            if ready.get(1) == Some(&true) {
                let mut byte = [0];
                if !matches!(door.woken.read(&mut byte), Ok(1)) || byte == [OVER] {
                    break;
                }
            }
            if ready.first() == Some(&true)
                && let Ok(socket) = accept_with(&door.listener, SocketFlags::CLOEXEC)
                && let Err(err) = self.serve_apart(socket, idles)
            {
                tracing::debug!("a connection is not served: {err}");
            }
        }
        self.end_with_session();
        self.0.place.remove();
    }

    /// Has whoever serves it end it.
    pub(super) fn finish(&self) {
        let _ = (&self.0.wake).write(&[OVER]);
    }
}

/// Says that the session is over.
const OVER: u8 = 1;
