//! The lock itself: the gates in order. Read this file first.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use futures::FutureExt;
use tracing::Instrument as _;

use crate::{
    AuditError, Clock, Event, Events, Explanation, Incoming, Metrics, Mode, ModeRule,
    PermissionClass, Permit, Policy, Questions, Receipt, Redactor, Registered, Registry, Released,
    Reply, Run, SentRequest, SessionError, Spool, Stage, Stop, ToolCall, Validated, Verdict,
    Workspace, reply::millis, run::ResolvedMode, stop::Decider,
};

mod allowance;
mod ask;
mod builder;
mod commit;
mod edit_keys;
pub(crate) mod execute;
mod judge;
mod judge_changes;
pub(crate) mod ledger;
mod own_files;
mod pending;
pub(crate) mod permit;
mod picked;
mod question;
mod rehearsal;
pub(crate) mod release;
pub(crate) mod review;
mod sessions;
pub(crate) mod settle;
mod setup;
mod shown_changes;
mod spending;
mod staging;
mod take;
mod trace;
mod validate;

use ledger::{Entry, Ledger};
use setup::Setup;
use take::{Admitted, NotTaken};

pub use builder::{BuildError, GateBuilder};
pub use pending::kept_job;
pub use rehearsal::{PlannedCall, RehearsalPlan, Would};
pub use setup::{Cut, Delegate, Limits};
pub use take::TakeYes;

/// The lock: a setup, and the run that calls pass it in. Cheap to clone.
///
/// ```
/// use eclusa::prelude::*;
///
/// # #[derive(serde::Deserialize, schemars::JsonSchema)]
/// # struct Nothing {}
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let ring = FnTool::new("ring", "Rings a bell.", |_: Nothing| async { Ok::<_, ToolError>("ding") });
/// let gate = Gate::builder().tool(ring).build()?;
/// // No rule allows it, and there is nobody to ask.
/// let call = ToolCall::new("1", "ring", serde_json::json!({}));
/// assert_eq!(gate.pass_blocking(call)?.code(), "no_approver");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Gate {
    setup: Arc<Setup>,
    ledger: Arc<Ledger>,
    run: Run,
}

impl Gate {
    fn new(setup: Setup, run: Run) -> Gate {
        let ledger = Ledger {
            log: setup.log.clone(),
            clock: setup.clock.clone(),
            redactor: setup.redactor.clone(),
            args: setup.args_in_log,
            time: setup.limits.audit,
        };
        let gate = Gate { setup: Arc::new(setup), ledger: Arc::new(ledger), run: Run::default() };
        gate.for_run(run)
    }

    /// The same setup, for another run. Rules about modes say in which mode its calls pass: they are
    /// looked at here, with the run's own mode, and nowhere else.
    pub fn for_run(&self, mut run: Run) -> Gate {
        run.resolved = ResolvedMode(Some(ModeRule::mode_of(&self.setup.modes, &run)));
        Gate { run, ..self.clone() }
    }

    /// The same gate in exactly this mode, whatever rules about modes say: for calls that are judged
    /// again as they were judged before.
    pub fn in_mode(&self, mode: Mode) -> Gate {
        let run = Run { mode, resolved: ResolvedMode(Some(mode)), ..self.run.clone() };
        Gate { run, ..self.clone() }
    }

    pub(crate) fn setup(&self) -> &Setup {
        &self.setup
    }

    /// The tools.
    pub fn registry(&self) -> &Arc<Registry> {
        &self.setup.registry
    }

    /// Where changes are applied.
    pub fn workspace(&self) -> Option<&Workspace> {
        self.setup.workspace.as_ref()
    }

    /// Where long outputs are kept whole.
    pub fn spool(&self) -> Option<&Arc<dyn Spool>> {
        self.setup.spool.as_ref()
    }

    /// The questions that wait in the approval queue.
    pub fn questions(&self) -> Option<&Arc<dyn Questions>> {
        self.setup.questions.as_ref()
    }

    /// What takes secrets out of all that leaves.
    pub fn redactor(&self) -> &Arc<Redactor> {
        &self.setup.redactor
    }

    /// The clock of the log.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.setup.clock
    }

    /// Where events go out.
    pub fn events(&self) -> &Events {
        &self.setup.events
    }

    /// The rules in force.
    pub fn policy(&self) -> Arc<Box<dyn Policy>> {
        self.setup.state.policy.load_full()
    }

    /// Puts other rules in force, for this gate and every clone of it. A call that a person is
    /// being asked about is judged again with them.
    pub fn set_policy(&self, policy: impl Policy + 'static) {
        self.setup.state.policy.store(Arc::new(Box::new(policy)));
    }

    /// The run.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// What this setup has done so far.
    pub fn metrics(&self) -> &Metrics {
        &self.setup.state.metrics
    }

    /// Takes one call all the way through. Never fails: whatever happens is a [`Reply`].
    pub fn pass(&self, incoming: impl Into<Incoming>) -> impl Future<Output = Reply> + Send {
        self.pass_until(incoming.into(), || None)
    }

    /// Takes one call through, unless at some gate there is a reason to stop: a duplicate id, a
    /// turn that a person has ended.
    pub(crate) fn pass_until(
        &self,
        incoming: Incoming,
        stopped: impl Fn() -> Option<Stop> + Send,
    ) -> impl Future<Output = Reply> + Send {
        let span = trace::span(&self.run, &incoming);
        self.pass_in_span(incoming, stopped).instrument(span)
    }

    async fn pass_in_span(
        &self,
        incoming: Incoming,
        stopped: impl Fn() -> Option<Stop> + Send,
    ) -> Reply {
        let place = self.setup.rehearsal.as_ref().map(|it| (it, it.begin()));
        let (mut entry, readable) = self.ledger.open(&self.run, incoming);
        self.setup.events.send(|| Event::Received {
            session: self.run.session.clone(),
            call: entry.trail.call.id.clone(),
            tool: entry.trail.call.tool.clone(),
        });
        let outcome = match readable.and_then(|()| stopped().map_or(Ok(()), Err)) {
            Ok(()) => match self.admit(&mut entry).await {
                Ok(admitted) => match stopped() {
                    Some(stop) => Err(stop),
                    None => self.carry_out(&mut entry, admitted).await,
                },
                Err(stop) => Err(stop),
            },
            Err(stop) => Err(stop),
        };
        let outcome = outcome.map_err(|it| it.held_or_watched(self.run.watched));
        let destructive = entry.stage() >= Stage::Running
            && entry.trail.tool.as_ref().is_some_and(|it| it.facts().destructive);
        if let Some((rehearsal, place)) = place {
            rehearsal.note(place, &entry.trail, &outcome);
        }
        let reply = entry.close(outcome).await;
        self.setup.state.metrics.count(reply.code(), destructive, reply.time());
        self.setup.events.send(|| Event::Ended {
            session: self.run.session.clone(),
            call: reply.id().to_owned(),
            tool: reply.tool().to_owned(),
            code: reply.code(),
            ms: millis(reply.time()),
        });
        reply
    }

    /// The same as [`pass`](Gate::pass) for programs without an asynchronous runtime, and from
    /// anywhere: the call passes on a thread of its own.
    pub fn pass_blocking(&self, incoming: impl Into<Incoming>) -> std::io::Result<Reply> {
        let incoming = incoming.into();
        std::thread::scope(|scope| {
            // The runtime lives and dies on that thread: none may be dropped inside another.
            let passing = scope.spawn(|| {
                let runtime =
                    tokio::runtime::Builder::new_current_thread().enable_time().build()?;
                Ok(runtime.block_on(self.pass(incoming)))
            });
            passing.join().map_err(|_panic| std::io::Error::other("the call's thread crashed"))?
        })
    }

    /// The tool that a call asks for. In a narrower run ([`Run::tools`]) the others are not there.
    fn find(&self, name: &str) -> Result<Arc<Registered>, Stop> {
        let Some(tools) = &self.run.tools else { return self.setup.registry.find(name) };
        let among = |name: &str| tools.iter().any(|it| it == name);
        match self.setup.registry.find(name) {
            Ok(tool) if among(tool.name()) => Ok(tool),
            Err(Stop::UnknownTool { name, mut nearest }) => {
                nearest.retain(|it| among(it));
                Err(Stop::UnknownTool { name, nearest })
            }
            Err(unavailable @ Stop::Unavailable { .. }) if among(name) => Err(unavailable),
            _ => Err(Stop::UnknownTool { name: name.to_owned(), nearest: Vec::new() }),
        }
    }

    /// What brought text from outside into this session, if anything did.
    pub fn taint(&self) -> Option<Arc<str>> {
        sessions::taint(&self.setup, &self.run)
    }

    /// Notes that text from outside has come into this session, and how: with an attachment,
    /// or before the program was started again. What came first stands.
    /// The error says why that cannot be kept: then the text must not come in.
    pub fn mark_tainted(&self, how: &str) -> Result<(), SessionError> {
        sessions::mark_tainted(&self.setup, &self.run, how)
    }

    /// Puts it on record that this is about to leave for a model. What cannot be recorded is not
    /// sent.
    pub async fn record_sent(&self, sent: &SentRequest<'_>) -> Result<Receipt, AuditError> {
        self.ledger.record_sent(&self.run, sent).await
    }

    /// Ends this session for good: what is kept of it is forgotten, and what tools run for it
    /// ends. Its name is not used again.
    pub fn end_session(&self) {
        sessions::end(&self.setup, &self.run, true);
    }

    /// Leaves this session, which may be taken up again: what people answered for it is
    /// forgotten, and what tools run for it ends. That text from outside came in stays known.
    pub fn leave_session(&self) {
        sessions::end(&self.setup, &self.run, false);
    }

    /// What policy says of a call in this run, and of which class it is. Runs nothing, asks
    /// nobody, records nothing; reviewers are not consulted.
    pub fn check(&self, call: ToolCall) -> Result<(PermissionClass, Verdict), Stop> {
        self.judged(call, |call, verdict| (call.class(), verdict))
    }

    /// The same as [`check`](Gate::check), with everything that the verdict was made of.
    pub fn explain(&self, call: ToolCall) -> Result<Explanation, Stop> {
        // The mode and what this machine can do have a say too.
        self.judged(call, |call, verdict| Explanation {
            verdict,
            ..self.setup.state.policy.load().explain(&call.view())
        })
    }

    /// What is made of a call and the verdict on it, with nothing run, asked or recorded.
    fn judged<T>(
        &self,
        call: ToolCall,
        make: impl FnOnce(&Validated, Verdict) -> T,
    ) -> Result<T, Stop> {
        let (mut entry, _) = self.ledger.open(&self.run, call.into());
        entry.leave_unrecorded();
        let judged = catch_unwind(AssertUnwindSafe(|| {
            let tool = self.find(&entry.trail.call.tool)?;
            let call = validate::validate(tool, &mut entry.trail)?;
            let call = call.with_context(sessions::moment(&self.setup, &self.run));
            let verdict = judge::judge(&self.setup, &self.run, &call);
            Ok(make(&call, verdict))
        }));
        judged.unwrap_or_else(|_panic| Err(Stop::denied(Decider::Gate, "a check crashed")))
    }

    /// The upper gates: everything before the machine is touched.
    async fn admit(&self, entry: &mut Entry<'_>) -> Result<Admitted, Stop> {
        // A reviewer, rule or approver that panics has not said yes.
        let admitted = AssertUnwindSafe(self.try_admit(entry)).catch_unwind().await;
        admitted.unwrap_or_else(|_panic| Err(Stop::denied(Decider::Gate, "a check crashed")))
    }

    async fn try_admit(&self, entry: &mut Entry<'_>) -> Result<Admitted, Stop> {
        if self.run.nesting.depth > self.setup.limits.depth {
            return Err(Stop::TooDeep(self.setup.limits.depth));
        }
        if self.run.cancel.is_cancelled() {
            return Err(Stop::Cancelled { ran: false });
        }
        let tool = self.find(&entry.trail.call.tool)?;
        let call = validate::validate(tool, &mut entry.trail)?;
        let call = call.with_context(sessions::moment(&self.setup, &self.run));
        entry.reached(Stage::Validated);
        let call = review::review(&self.setup, call, &mut entry.trail).await?;
        entry.reached(Stage::Reviewed);
        let call = match self.take_same_call(entry, call).await? {
            NotTaken::Run(call) => call,
            NotTaken::Taken(admitted) => return Ok(admitted),
        };
        let permit = permit::decide(&self.setup, &self.run, call, &mut entry.trail).await?;
        entry.reached(Stage::Permitted);
        Ok(Admitted::ToRun(permit))
    }

    /// The lower gates: run, judge what changed, look at what came out.
    async fn carry_out(&self, entry: &mut Entry<'_>, admitted: Admitted) -> Result<Released, Stop> {
        let carrying = async {
            match admitted {
                Admitted::ToRun(permit) => self.try_carry_out(entry, permit).await,
                // Boxed, because few calls were made before.
                Admitted::Taken(permit, earlier) => {
                    let (about, taken) = *earlier;
                    Box::pin(self.carry_out_taken(entry, permit, &about, taken)).await
                }
            }
        };
        let carried = AssertUnwindSafe(carrying).catch_unwind().await;
        carried.unwrap_or_else(|_panic| match entry.stage() {
            Stage::Running | Stage::Ran | Stage::Settled | Stage::Released => {
                Err(Stop::Withheld("a check crashed".to_owned()))
            }
            Stage::Received | Stage::Validated | Stage::Reviewed | Stage::Permitted => {
                Err(Stop::denied(Decider::Gate, "a check crashed"))
            }
        })
    }

    async fn try_carry_out(&self, entry: &mut Entry<'_>, permit: Permit) -> Result<Released, Stop> {
        if self.run.cancel.is_cancelled() {
            return Err(Stop::Cancelled { ran: false });
        }
        let marked = sessions::mark_tainted_by(&self.setup, &self.run, permit.call());
        entry.trail.taint = marked.map_err(|why| {
            let why = format!("text from outside would come in, and that cannot be kept: {why}");
            Stop::denied(Decider::Gate, why)
        })?;
        let started = entry.start(&permit).await?;
        self.setup.events.send(|| Event::Started {
            session: self.run.session.clone(),
            call: entry.trail.call.id.clone(),
            tool: entry.trail.name().to_owned(),
            number: entry.number(),
        });
        let raw = execute::execute(self, permit, entry.number(), started).await?;
        entry.reached(Stage::Ran);
        // What it reached while it ran counts, too.
        if entry.trail.taint.is_none() && !entry.runs_elsewhere() {
            entry.trail.taint = self.taint();
        }
        if !entry.runs_elsewhere() {
            pending::tell_refusals(&self.setup, &self.run, &mut entry.trail);
        }
        let number = entry.number();
        let (setup, run) = (&self.setup, &self.run);
        let settled = settle::settle(setup, run, raw, number, None, &mut entry.trail).await;
        entry.reached(Stage::Settled);
        let released = release::release(&self.setup, settled, &mut entry.trail).await?;
        entry.reached(Stage::Released);
        Ok(released)
    }
}
