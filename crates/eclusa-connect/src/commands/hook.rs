//! `eclusa hook AGENT`: another agent asks before each of its tool calls; one process for each.
//!
//! It answers once, in the agent's language. Whatever ends without a verdict is a denial: silence,
//! a crash, an event or a configuration that cannot be read, a log that cannot be written, a
//! signal. Should this process not even start, the tail of the installed line says no.

use std::{
    io::{Read as _, Write as _},
    process::ExitCode,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::signal::unix::{SignalKind, signal};

use crate::commands::global::Global;
use crate::{AgentSpec, HookEvent, HookEventKind, HookOutput, ResultNote};

mod after;
mod agent_denials;
mod ahead;
mod allowed_calls;
mod before;
mod own_server;
pub(super) mod pre_images;
mod session;
mod watched;

use session::HookSession;

/// The longest event that is read.
const MAX_EVENT: u64 = 16 << 20;
/// How long a verdict may take, and how long while a person is asked: what the installed hooks
/// allow, less a margin.
const LIMITS: AnswerLimits =
    AnswerLimits { verdict: Duration::from_secs(10), question: Duration::from_secs(870) };

/// Room for reading shell text that is nested deeply.
const STACK: usize = 8 << 20;

/// How long an answer may take.
#[derive(Debug, Clone, Copy)]
struct AnswerLimits {
    verdict: Duration,
    question: Duration,
}

/// Whether a person is being asked, and what else there is time for.
#[derive(Debug, Clone, Default)]
struct PersonAsked(Arc<AtomicBool>, Arc<AtomicU64>);

impl PersonAsked {
    fn begin(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// True when somebody was asked; where the call may run, they said yes.
    fn has_begun(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    /// A command runs ahead, for so long at most.
    fn allow(&self, time: Duration) {
        self.1.store(u64::try_from(time.as_millis()).unwrap_or(u64::MAX), Ordering::Release);
    }

    fn limit(&self, limits: AnswerLimits) -> Duration {
        let limit = if self.has_begun() { limits.question } else { limits.verdict };
        limit.saturating_add(Duration::from_millis(self.1.load(Ordering::Acquire)))
    }
}

/// How far the answer has come.
#[derive(Debug, Clone, Default)]
struct HookProgress {
    /// The event, once it is read: what fails afterwards fails in its shape.
    event: Arc<OnceLock<HookEvent>>,
    asking: PersonAsked,
    /// The agent is watched and not held: nothing that fails stops it.
    watched: Arc<AtomicBool>,
}

/// Which hook of an agent this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookTurn {
    /// It judges.
    First,
    /// It sees whether the first has allowed the call as it is now: some agents run a call whose hook
    /// ran out of time.
    Second,
}

/// Reads one event from stdin and answers it.
pub fn run(global: Global, agent: &str, turn: HookTurn) -> ExitCode {
    let agent = match AgentSpec::named(agent) {
        Ok(agent) => agent,
        Err(err) => {
            let stderr = format!("eclusa: {err}\n");
            return print(&HookOutput { stderr, code: 2, ..HookOutput::default() });
        }
    };
    let progress = HookProgress::default();
    let (send, receive) = tokio::sync::oneshot::channel();
    let worker = {
        let progress = progress.clone();
        // Nobody waits for this thread: when time is up, the process ends around it.
        std::thread::Builder::new()
            .stack_size(STACK)
            .spawn(move || send.send(work(&global, agent, turn, &progress)))
    };
    let output = match worker {
        Ok(_) => wait(agent, LIMITS, &progress, receive),
        Err(err) => {
            agent.failure(agent.gate_event(), &format!("no thread could be started: {err}"))
        }
    };
    print(&output)
}

/// Waits for the answer, as long as there is time and nobody ends us.
fn wait(
    agent: &AgentSpec,
    limits: AnswerLimits,
    progress: &HookProgress,
    receive: tokio::sync::oneshot::Receiver<HookOutput>,
) -> HookOutput {
    let failed = |why: &str| match progress.event.get() {
        Some(_) if progress.watched.load(Ordering::Acquire) => watched::unseen(why),
        Some(event) => event.failure(why),
        None => agent.failure(agent.gate_event(), why),
    };
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(err) => return failed(&format!("the hook could not start: {err}")),
    };
    let began = Instant::now();
    runtime.block_on(async {
        tokio::select! {
            answered = receive => match answered {
                Ok(output) => output,
                Err(_) => failed("the hook crashed"),
            },
            () = too_late(began, limits, &progress.asking) => failed("no verdict in time"),
            () = ended() => failed("the hook was ended from outside"),
        }
    })
}

async fn too_late(began: Instant, limits: AnswerLimits, asking: &PersonAsked) {
    while let Some(left) = asking.limit(limits).checked_sub(began.elapsed()) {
        tokio::time::sleep(left.min(limits.verdict)).await;
    }
}

/// Resolves when somebody ends us politely.
async fn ended() {
    let one = |kind: SignalKind| async move {
        match signal(kind) {
            Ok(mut signal) => drop(signal.recv().await),
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        () = one(SignalKind::terminate()) => {}
        () = one(SignalKind::interrupt()) => {}
        () = one(SignalKind::hangup()) => {}
    }
}

/// An answer that nobody takes is an error, and an error is a denial.
fn print(output: &HookOutput) -> ExitCode {
    let mut err = std::io::stderr().lock();
    let mut out = std::io::stdout().lock();
    let _ = err.write_all(output.stderr.as_bytes());
    let written = out.write_all(output.stdout.as_bytes()).and_then(|()| out.flush());
    match written {
        Ok(()) => ExitCode::from(output.code),
        Err(_) => ExitCode::from(2),
    }
}

/// Everything between the event and its answer.
fn work(global: &Global, agent: &AgentSpec, turn: HookTurn, progress: &HookProgress) -> HookOutput {
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().take(MAX_EVENT + 1).read_to_end(&mut bytes);
    if let Err(err) = read {
        return agent.failure(agent.gate_event(), &format!("the event cannot be read: {err}"));
    }
    if bytes.len() as u64 > MAX_EVENT {
        return agent.failure(agent.gate_event(), "the event is longer than 16 MiB");
    }
    let event = match agent.read_event(&bytes) {
        Ok(event) => progress.event.get_or_init(|| event),
        Err(err) => return agent.failure(agent.gate_event(), &err.to_string()),
    };
    let watched = watched::is_watched(global, event);
    progress.watched.store(watched, Ordering::Release);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let answered = match runtime {
        Ok(runtime) if watched => runtime.block_on(watched::answer(global, event, turn)),
        Ok(runtime) => runtime.block_on(answer(global, event, turn, &progress.asking)),
        Err(err) => Err(format!("the hook could not start: {err}")),
    };
    answered.unwrap_or_else(|why| if watched { watched::unseen(&why) } else { event.failure(&why) })
}

async fn answer(
    global: &Global,
    event: &HookEvent,
    turn: HookTurn,
    asking: &PersonAsked,
) -> Result<HookOutput, String> {
    match event.kind {
        HookEventKind::Before if turn == HookTurn::Second => {
            let session = HookSession::open(global, event)?;
            Ok(event.answer(&before::confirm(&session, event)))
        }
        _ if turn == HookTurn::Second => Ok(HookOutput::default()),
        HookEventKind::Before => {
            let session = HookSession::open(global, event)?;
            Ok(event.answer(&before::judge(&session, event, asking).await?))
        }
        HookEventKind::After => {
            let session = HookSession::open(global, event)?;
            Ok(event.answer_result(&after::record(&session, event).await?))
        }
        HookEventKind::Asked => {
            ahead::asked(&HookSession::open(global, event)?, event)?;
            Ok(HookOutput::default())
        }
        HookEventKind::SessionEnd => {
            let session = HookSession::open(global, event)?;
            after::end(&session).await?;
            Ok(event.answer_result(&ResultNote::default()))
        }
        HookEventKind::Settings => settings(global, event),
        HookEventKind::SessionStart | HookEventKind::Other => Ok(HookOutput::default()),
    }
}

/// Settings that change while the agent runs. Those that would lose us do not count for this session.
fn settings(global: &Global, event: &HookEvent) -> Result<HookOutput, String> {
    let workspace = Some(session::root(event)?);
    match super::agents::holds(&Global { workspace, ..global.clone() }, event.agent) {
        Ok(true) => Ok(HookOutput::default()),
        Ok(false) => Err("this change would switch off the hooks that ask eclusa".to_owned()),
        Err(failure) => Err(failure.lines().join("; ")),
    }
}

#[cfg(test)]
mod tests;
