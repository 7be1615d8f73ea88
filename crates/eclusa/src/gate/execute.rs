//! Fourth gate, the chamber: the permitted call runs. The only file that makes a [`Raw`] and asks
//! for a [`Job`].

use std::{panic::AssertUnwindSafe, path::Path, sync::Arc, time::Duration};

use futures::{FutureExt, future::BoxFuture};
use tokio::time::Instant;

use crate::{
    CallNesting, Changes, Events, Gate, Job, Mode, Output, Permit, Policy, Registry, Reply, Run,
    SessionError, Stop, ToolCall, Validated,
    gate::{
        ask::{hosts::ask_about_hosts, signature::ask_to_sign},
        judge::can_stage,
        ledger::Started,
        sessions,
        take::TakeYes,
    },
    tool::{Chamber, FinishedJob, OpenedHosts, SignatureRequest, SignatureYes},
};

impl Chamber for Gate {
    fn run(&self) -> &Run {
        Gate::run(self)
    }

    fn policy(&self) -> Arc<Box<dyn Policy>> {
        Gate::policy(self)
    }

    fn is_rehearsal(&self) -> bool {
        self.setup().rehearsal.is_some()
    }

    fn root(&self) -> Option<&Path> {
        self.setup().workspace.as_ref().map(|it| it.root())
    }

    fn registry(&self) -> &Registry {
        &self.setup().registry
    }

    fn events(&self) -> &Events {
        &self.setup().events
    }

    fn time_to_answer(&self) -> Duration {
        self.setup().limits.approval
    }

    fn ask_about_hosts<'a>(
        &'a self,
        call: &'a Validated,
        hosts: &'a [String],
        beside: Option<&'a str>,
    ) -> BoxFuture<'a, Option<OpenedHosts>> {
        Box::pin(ask_about_hosts(self.setup(), Gate::run(self), call, hosts, beside))
    }

    fn ask_to_sign<'a>(
        &'a self,
        call: &'a Validated,
        request: &'a SignatureRequest,
        changes: &'a Changes,
    ) -> BoxFuture<'a, Option<SignatureYes>> {
        Box::pin(ask_to_sign(self.setup(), Gate::run(self), call, request, changes))
    }

    fn is_tainted(&self) -> bool {
        sessions::moment(self.setup(), Gate::run(self)).taint.is_some()
    }

    fn mark_tainted(&self, how: &str) -> Result<(), SessionError> {
        Gate::mark_tainted(self, how)
    }

    fn take_unasked(&self, call: u64) -> Option<BoxFuture<'static, Reply>> {
        let (run, setup) = (Gate::run(self), self.setup());
        let applies =
            !run.ahead && !run.dry_run && setup.rehearsal.is_none() && setup.delegate.is_none();
        let gate = applies.then(|| self.clone())?;
        Some(Box::pin(async move { gate.take(call, TakeYes::Unasked).await }))
    }

    fn pass(&self, run: Run, call: ToolCall) -> BoxFuture<'static, Reply> {
        let gate = self.for_run(run);
        // Boxed because a gate whose tools call the gate has no size otherwise.
        Box::pin(async move { gate.pass(call).await })
    }
}

impl Gate {
    /// The gate for a model that works inside a call that runs here. Its calls are recorded under
    /// that one and belong to the same session; it has no other tools than these, and no
    /// looser mode.
    pub fn for_task(&self, job: &Job, task: &str, tools: &[String], mode: Option<Mode>) -> Gate {
        let outer = job.run();
        let among = |it: &&String| outer.tools.as_ref().is_none_or(|all| all.contains(it));
        let run = Run {
            nesting: CallNesting { parent: job.number(), depth: outer.nesting.depth + 1 },
            tools: Some(tools.iter().filter(among).cloned().collect()),
            task: Some(task.into()),
            judged_before: None,
            ..outer.clone()
        };
        self.for_run(run.held_to(mode))
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

/// What a call did when it ran before: nothing is run.
pub(crate) fn take_up(permit: Permit, output: Output, time: Duration, _: Started) -> Raw {
    Raw { call: spend(permit), output, time }
}

/// A permit is spent once.
fn spend(permit: Permit) -> Validated {
    permit.into_call()
}

/// Runs the tool, and turns whatever happens into an output or a [`Stop`].
pub(crate) async fn execute(
    gate: &Gate,
    permit: Permit,
    start: Option<u64>,
    _: Started,
) -> Result<Raw, Stop> {
    let run = gate.run();
    let (approved, files) = (permit.is_approved(), permit.bound_files().map(str::to_owned));
    let call = spend(permit);
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
    // What it does is not real before it is settled.
    let staged = can_stage(gate.setup(), &call) && gate.setup().delegate.is_none();
    let stopped = |stop| if staged { Stop::Unapplied(Box::new(stop)) } else { stop };
    let job = Job::new(call, (approved, files), Box::new(gate.clone()), start, until);
    // The call of `run` itself may panic too, before there is a future to poll.
    let work = AssertUnwindSafe(job.work()).catch_unwind();
    let ran = tokio::select! {
        biased;
        ran = work => ran,
        () = job.late() => return Err(stopped(Stop::TimedOut(limit))),
        () = run.cancel.cancelled() => return Err(stopped(Stop::Cancelled { ran: true })),
    };
    let FinishedJob { call, aborted, unmarked } = job.finish();
    if aborted {
        return Err(stopped(Stop::Aborted { ran: true }));
    }
    if unmarked {
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
        Err(_panic) => return Err(stopped(Stop::Panicked)),
    };
    Ok(Raw { call, output, time: began.elapsed() })
}
