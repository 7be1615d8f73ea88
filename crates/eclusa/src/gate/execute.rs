//! Fourth gate, the chamber: the permitted call runs. The only file that makes a [`Job`] and a
//! [`Raw`].

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use eclusa_net::HostAccess;
use futures::FutureExt;
use serde_json::Value;
use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};

use crate::{
    CallNesting, Decision, Event, Gate, HiddenPaths, HostRefused, Mode, Origin, Output, Permit,
    Reply, Run, Stop, ToolCall, Touch, Validated,
    audit::ledger::Started,
    gate::{ask_hosts::ask_about_hosts, conversations::bring_from_outside},
    policy::{named_hosts, plainly},
};

/// A permit being used. Tools get this and nothing else.
pub struct Job {
    call: Validated,
    /// Whether a person said yes to the call.
    approved: bool,
    gate: Gate,
    start: Option<u64>,
    until: watch::Sender<Instant>,
    /// A person ended the turn at a call that the tool made.
    aborted: AtomicBool,
    /// Text from outside came in, and that could not be kept.
    unmarked: AtomicBool,
}

impl Job {
    /// The model's id for the call.
    pub fn id(&self) -> &str {
        self.call.id()
    }

    /// The conversation that the call is part of.
    pub fn conversation(&self) -> &str {
        &self.gate.run().conversation
    }

    /// Whether a person is asked in this run, and about what.
    pub fn mode(&self) -> Mode {
        self.gate.run().mode_in_force()
    }

    /// The number of the call in the log; a call that only looks gets one when it ends.
    pub fn number(&self) -> Option<u64> {
        self.start
    }

    /// What this call may not look at: a rule denies it, or wants a person asked first. For tools
    /// that come upon paths nobody named, such as a search; it can go to other threads.
    pub fn hidden(&self) -> HiddenPaths {
        let policy = self.gate.setup().live.policy.load();
        // A policy that panics has hidden everything.
        let hidden = catch_unwind(AssertUnwindSafe(|| policy.hidden(&self.call)));
        let hidden = hidden.unwrap_or_else(|_panic| HiddenPaths::everything());
        match self.gate.run().mode_in_force() {
            // Nobody is asked, so what would be asked about is not hidden either.
            Mode::Yolo => hidden.from(Decision::Deny),
            Mode::ConfirmAll | Mode::ConfirmSensitive | Mode::AutoApprove => hidden,
        }
    }

    /// True when this call may not look at this path of the workspace. Whoever asks about many
    /// paths asks [`hidden`](Job::hidden) once.
    pub fn is_hidden(&self, path: &Path) -> bool {
        self.hidden().hides(path)
    }

    /// Which hosts this call may reach while it runs, as far as rules and people say: for a sandbox,
    /// which holds a command to them. Hosts that the call names are granted where a person said yes
    /// to it; no mode answers for one.
    pub fn host_access(&self) -> HostAccess {
        let policy = self.gate.setup().live.policy.load();
        let access = catch_unwind(AssertUnwindSafe(|| policy.host_access(&self.call)));
        // A policy that panics has closed everything.
        let mut access = access.unwrap_or_else(|_panic| HostAccess::nothing());
        if self.approved {
            access.granted = named_hosts(&self.call);
        }
        if self.gate.run().mode_in_force() == Mode::Yolo {
            access.asked.clear();
        }
        access
    }

    /// True when a person said yes to this call, now or before.
    pub fn is_approved(&self) -> bool {
        self.approved
    }

    /// Asks a person whether this call may run again with these hosts open (`example.com`, with
    /// `:port` where that is not the usual one). The time that takes is not the tool's.
    pub async fn ask_for_hosts(&self, hosts: &[String]) -> bool {
        let asking = self.asking();
        let (setup, run) = (self.gate.setup(), self.gate.run());
        let answered = ask_about_hosts(setup, run, &self.call, hosts).await;
        drop(asking);
        answered.unwrap_or(false)
    }

    /// Whether this call, which was sent on to another host, may talk to it (`example.com`, with
    /// `:port` where that is not the usual one). The error says why not. Nobody is asked: what
    /// would have to be asked about is refused, because the call is running already.
    pub fn may_fetch(&self, host: &str) -> Result<(), HostRefused> {
        let own = |it: &Touch| matches!(it, Touch::Fetch(own) if own == host);
        if self.call.touches().iter().any(own) {
            return Ok(());
        }
        let policy = self.gate.setup().live.policy.load();
        let judged = catch_unwind(AssertUnwindSafe(|| policy.judge_host(&self.call, host)));
        let verdict = judged.map_err(|_panic| "the policy crashed")?;
        let verdict = self.gate.run().mode_in_force().apply(verdict);
        match verdict.decision {
            Decision::Allow => Ok(()),
            Decision::Stage | Decision::Ask | Decision::Deny => {
                Err(verdict.why().into_owned().into())
            }
        }
    }

    /// True when this call runs shell text of which no command does more than read, as far as the
    /// text tells: as it was read when the call was judged.
    pub fn only_reads_files(&self) -> bool {
        self.call.only_reads_files()
    }

    /// What is said of a call whose shell text needs a service that no sandbox has.
    pub fn needs_service(&self) -> Option<String> {
        self.call.needs_service()
    }

    /// True when the call was let through to be tried without a network, and a person may be asked
    /// about the hosts that it turns out to want. No mode answers for one.
    pub fn is_tried(&self) -> bool {
        let mode = self.gate.run().mode_in_force();
        let asks = matches!(mode, Mode::ConfirmAll | Mode::ConfirmSensitive);
        asks && !self.approved && self.call.only_fetches()
    }

    /// Another machine was reached: text from outside has come into the conversation. Where that
    /// cannot be kept, nobody gets to see what came.
    pub fn reached_outside(&self) {
        let how = format!("came from the web (`{}`)", plainly(self.call.name()));
        if let Err(why) = bring_from_outside(self.gate.setup(), self.gate.run(), &how) {
            tracing::warn!("that text from outside came in cannot be kept: {why}");
            self.unmarked.store(true, Ordering::Release);
        }
    }

    /// The arguments that were permitted.
    pub fn args(&self) -> &Value {
        self.call.args()
    }

    /// When the time of the run is up.
    pub fn deadline(&self) -> std::time::Instant {
        self.until.borrow().into_std()
    }

    /// Somebody is asked something for the call, by the tool itself. Until this is dropped, the
    /// time is a person's and not the tool's, for as long as a person has to answer.
    pub fn asking(&self) -> Asking<'_> {
        let time = self.gate.setup().limits.approval;
        self.until.send_modify(|until| *until += time);
        Asking { job: self, time, since: Instant::now() }
    }

    /// Resolves when the time of the run is up.
    async fn late(&self) {
        let mut until = self.until.subscribe();
        loop {
            let now = *until.borrow_and_update();
            tokio::select! {
                () = sleep_until(now) => return,
                // It cannot close: it is the job's own.
                _ = until.changed() => {}
            }
        }
    }

    /// Resolves when the caller takes the call back. A tool with something to clean up watches
    /// it; any other is simply dropped.
    pub async fn cancelled(&self) {
        self.gate.run().cancel.cancelled().await;
    }

    /// Tells whoever is listening how far the work has come (0 to 1), and what it is at.
    pub fn progress(&self, fraction: f64, detail: &str) {
        self.gate.setup().events.send(|| Event::Progress {
            conversation: self.gate.run().conversation.clone(),
            call: self.call.id().to_owned(),
            tool: self.call.name().to_owned(),
            fraction: fraction.clamp(0.0, 1.0),
            detail: detail.to_owned(),
        });
    }

    /// Calls another tool: through the whole gate, like any call. Its id is made from this one's.
    pub async fn pass(&self, call: ToolCall) -> Reply {
        let run = Run {
            nesting: CallNesting { parent: self.start, depth: self.gate.run().nesting.depth + 1 },
            deadline: Some(self.deadline()),
            judged_before: None,
            ..self.gate.run().clone()
        };
        let call = ToolCall { id: format!("{}/{}", self.id(), call.id), ..call };
        let gate = self.gate.for_run(run);
        // Boxed because a gate whose tools call the gate has no size otherwise.
        let passing = Box::pin(async move { gate.pass(call.from(Origin::Tool)).await });
        let reply = passing.await;
        if reply.aborted() {
            self.end_turn();
        }
        reply
    }

    /// The gate for a model that works inside this call. Its calls are recorded under this one and
    /// belong to the same conversation; it has no other tools than these, and no looser mode.
    pub fn gate_for_task(&self, task: &str, tools: &[String], mode: Option<Mode>) -> Gate {
        let outer = self.gate.run();
        let among = |it: &&String| outer.tools.as_ref().is_none_or(|all| all.contains(it));
        let run = Run {
            nesting: CallNesting { parent: self.start, depth: outer.nesting.depth + 1 },
            tools: Some(tools.iter().filter(among).cloned().collect()),
            task: Some(task.into()),
            judged_before: None,
            ..outer.clone()
        };
        self.gate.for_run(run.held_to(mode))
    }

    /// The tools that a model is shown in this run, by name.
    pub fn visible_tools(&self) -> Vec<String> {
        let visible = self.gate.setup().registry.visible();
        visible.iter().map(|it| it.name().to_owned()).collect()
    }

    /// A person ended the whole turn at a call that was made inside this one.
    pub fn end_turn(&self) {
        self.aborted.store(true, Ordering::Release);
    }
}

/// A person is asked something for a call that runs.
#[must_use = "the tool's time runs on when it is dropped"]
pub struct Asking<'a> {
    job: &'a Job,
    time: Duration,
    since: Instant,
}

impl Asking<'_> {
    /// How long the person has.
    pub fn time(&self) -> Duration {
        self.time
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        let rest = self.time.saturating_sub(self.since.elapsed());
        self.job.until.send_modify(|until| *until -= rest);
    }
}

/// Output nobody has looked at, of a call whose changes nobody has judged.
pub struct Raw {
    call: Validated,
    output: Output,
    time: Duration,
}

impl Raw {
    /// Opens it. Visible to the crate, called by `settle.rs` alone (tidy holds that).
    pub(crate) fn unseal_for_settling(self) -> (Validated, Output, Duration) {
        (self.call, self.output, self.time)
    }
}

/// Runs the tool, and turns whatever happens into an output or a [`Stop`].
pub(crate) async fn execute(
    gate: &Gate,
    permit: Permit,
    start: Option<u64>,
    _: Started,
) -> Result<Raw, Stop> {
    let run = gate.run();
    let approved = permit.is_approved();
    let call = permit.into_call();
    let limits = &gate.setup().limits;
    let wanted = call.call().time.or_else(|| call.tool().tool().time(call.args()));
    let limit =
        wanted.unwrap_or(limits.time).min(call.tool().time_cap().unwrap_or(limits.time_cap));
    let began = Instant::now();
    let until = match run.deadline {
        Some(deadline) => Instant::from_std(deadline).min(began + limit),
        None => began + limit,
    };
    if until <= began {
        return Err(Stop::TooLate);
    }
    let until = watch::Sender::new(until);
    let (gate, aborted, unmarked) = (gate.clone(), AtomicBool::default(), AtomicBool::default());
    let job = Job { call, approved, gate, start, until, aborted, unmarked };
    // The call of `run` itself may panic too, before there is a future to poll.
    let work = AssertUnwindSafe(async { job.call.tool().tool().run(&job).await }).catch_unwind();
    let ran = tokio::select! {
        biased;
        ran = work => ran,
        () = job.late() => return Err(Stop::TimedOut(limit)),
        () = run.cancel.cancelled() => return Err(Stop::Cancelled { ran: true }),
    };
    if job.aborted.load(Ordering::Acquire) {
        return Err(Stop::Aborted { ran: true });
    }
    if job.unmarked.load(Ordering::Acquire) {
        let why = "text from outside came in, and that could not be kept";
        return Err(Stop::Withheld(why.to_owned()));
    }
    let output = match ran {
        Ok(Ok(output)) => output,
        Ok(Err(failed)) => Output {
            text: failed.output,
            data: failed.data,
            error: Some(failed.message),
            ..Output::default()
        },
        Err(_panic) => return Err(Stop::Panicked),
    };
    Ok(Raw { call: job.call, output, time: began.elapsed() })
}
