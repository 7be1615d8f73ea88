//! The lock itself: the gates in order. Read this file first.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::Duration,
};

use arc_swap::ArcSwap;
use futures::FutureExt;
use tracing::Instrument as _;

use crate::{
    ArgsInLog, AuditSink, Checkpoint, Clock, Durability, Event, Events, Explanation, Incoming,
    Metrics, OnNoApprover, PermissionClass, Permit, Policy, PreflightStep, Redactor, Registry,
    Released, Remember, Reply, ReverseThinker, ReviewCache, Reviewer, Run, Spool, Stage, Stop,
    SystemClock, Tally, ToolCall, Verdict, Workspace,
    approve::memory::{Counter, Memory},
    audit::ledger::{Entry, Ledger, millis},
    stop::Decider,
};

mod ask;
mod conversations;
pub(crate) mod execute;
mod judge;
pub(crate) mod permit;
pub(crate) mod release;
pub(crate) mod review;
pub(crate) mod settle;
pub(crate) mod validate;

/// How much a call may use, and how long anybody may take to decide about it.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Time to run, unless the call asks for another.
    pub time: Duration,
    /// The most time to run that a call can ask for.
    pub time_cap: Duration,
    /// Bytes of output the model gets; 0 means the default.
    pub output: usize,
    /// Which part of a longer output it gets.
    pub cut: Cut,
    /// Concurrent calls of one turn that run at once. All others run alone.
    pub concurrent: usize,
    /// How deep tools may call tools.
    pub depth: usize,
    /// Time for a person to answer. It is not the tool's time.
    pub approval: Duration,
    /// Time for each reviewer.
    pub review: Duration,
    /// Time for a checkpoint, and for reverse thinking.
    pub checkpoint: Duration,
    /// Time for a record, or a spooled output, to become durable.
    pub audit: Duration,
}

/// Which part of an output is kept when it is cut.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Cut {
    /// Four fifths from the start, one fifth from the end.
    #[default]
    HeadTail,
    /// The start alone.
    Head,
}

impl Limits {
    const DEFAULT_OUTPUT: usize = 100 * 1024;

    /// The limit on output: never none.
    pub fn output_bytes(&self) -> usize {
        if self.output == 0 { Limits::DEFAULT_OUTPUT } else { self.output }
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            time: Duration::from_secs(30),
            time_cap: Duration::from_secs(600),
            output: Limits::DEFAULT_OUTPUT,
            cut: Cut::default(),
            concurrent: 10,
            depth: 4,
            approval: Duration::from_secs(600),
            review: Duration::from_secs(30),
            checkpoint: Duration::from_secs(120),
            audit: Duration::from_secs(15),
        }
    }
}

/// Everything a gate is made of. [`GateSetup::new`] furnishes it with safe defaults.
pub struct GateSetup {
    /// The tools.
    pub registry: Arc<Registry>,
    /// Who reads every call and output, after the tool's own reviewers.
    pub reviewers: Vec<Arc<dyn Reviewer>>,
    /// What input reviewers said before. `None`: they are asked every time.
    pub review_cache: Option<ReviewCache>,
    /// The rules; can be exchanged while calls pass.
    pub policy: ArcSwap<Box<dyn Policy>>,
    /// Who puts questions to people, tried in order.
    pub approvers: ask::Approvers,
    /// What happens when nobody can be asked.
    pub on_no_approver: OnNoApprover,
    /// Where questions are parked with [`OnNoApprover::Queue`].
    pub approval_queue: Option<Arc<dyn crate::Approver>>,
    /// The embedding program's own gate.
    pub checkpoint: Option<Arc<dyn Checkpoint>>,
    /// Who argues the other side.
    pub reverse_thinker: Option<Arc<dyn ReverseThinker>>,
    /// The order of the passes between verdict and permit.
    pub order: [PreflightStep; 3],
    /// The log.
    pub sink: Arc<dyn AuditSink>,
    /// How much of the arguments the log holds.
    pub args_in_log: ArgsInLog,
    /// The clock of the log.
    pub clock: Arc<dyn Clock>,
    /// Where long outputs are kept whole.
    pub spool: Option<Arc<dyn Spool>>,
    /// Where changes become real. `None`: nothing can be staged, and changes are discarded.
    pub workspace: Option<Workspace>,
    /// What committed changes survive.
    pub durability: Durability,
    /// Takes secrets out of what leaves.
    pub redactor: Arc<Redactor>,
    /// Where "always" is kept.
    pub remember: Option<Arc<dyn Remember>>,
    /// Counts the uses of rules that hold for so many calls.
    pub tally: Arc<dyn Tally>,
    /// How much a call may use.
    pub limits: Limits,
    /// Where events go out.
    pub events: Events,
    pub(crate) memory: Memory,
    pub(crate) conversations: conversations::Conversations,
    pub(crate) asking: tokio::sync::Mutex<()>,
    pub(crate) metrics: Metrics,
}

impl GateSetup {
    /// A setup with these tools, rules and log, where nobody can be asked and nothing is spooled.
    pub fn new(
        registry: Arc<Registry>,
        policy: impl Policy + 'static,
        sink: Arc<dyn AuditSink>,
    ) -> GateSetup {
        GateSetup {
            registry,
            reviewers: Vec::new(),
            review_cache: None,
            policy: ArcSwap::from_pointee(Box::new(policy)),
            approvers: Vec::new(),
            on_no_approver: OnNoApprover::default(),
            approval_queue: None,
            checkpoint: None,
            reverse_thinker: None,
            order: PreflightStep::ORDER,
            sink,
            args_in_log: ArgsInLog::default(),
            clock: Arc::new(SystemClock),
            spool: None,
            workspace: None,
            durability: Durability::default(),
            redactor: Arc::default(),
            remember: None,
            tally: Arc::new(Counter::default()),
            limits: Limits::default(),
            events: Events::default(),
            memory: Memory::default(),
            conversations: conversations::Conversations::default(),
            asking: tokio::sync::Mutex::default(),
            metrics: Metrics::default(),
        }
    }
}

/// The lock: a setup, and the run that calls pass it in. Cheap to clone.
#[derive(Clone)]
pub struct Gate {
    setup: Arc<GateSetup>,
    ledger: Arc<Ledger>,
    run: Run,
}

impl Gate {
    /// Closes the setup around its parts.
    pub fn new(mut setup: GateSetup) -> Gate {
        setup.memory = Memory::new(setup.remember.clone());
        let ledger = Ledger {
            sink: setup.sink.clone(),
            clock: setup.clock.clone(),
            redactor: setup.redactor.clone(),
            args: setup.args_in_log,
            time: setup.limits.audit,
        };
        Gate { setup: Arc::new(setup), ledger: Arc::new(ledger), run: Run::default() }
    }

    /// The same setup, for another run.
    pub fn for_run(&self, run: Run) -> Gate {
        Gate { run, ..self.clone() }
    }

    /// The setup.
    pub fn setup(&self) -> &GateSetup {
        &self.setup
    }

    /// The run.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// What this setup has done so far.
    pub fn metrics(&self) -> &Metrics {
        &self.setup.metrics
    }

    /// Takes one call all the way through. Never fails: whatever happens is a [`Reply`].
    pub fn pass(&self, incoming: impl Into<Incoming>) -> impl Future<Output = Reply> + Send {
        self.pass_unless(incoming.into(), || None)
    }

    /// Takes one call through, unless at some gate there is a reason to stop: a duplicate id, a
    /// turn that a person has ended.
    pub(crate) fn pass_unless(
        &self,
        incoming: Incoming,
        stopped: impl Fn() -> Option<Stop> + Send,
    ) -> impl Future<Output = Reply> + Send {
        let span = self.span(&incoming);
        self.pass_in_span(incoming, stopped).instrument(span)
    }

    async fn pass_in_span(
        &self,
        incoming: Incoming,
        stopped: impl Fn() -> Option<Stop> + Send,
    ) -> Reply {
        let (mut entry, readable) = self.ledger.open(&self.run, incoming);
        self.setup.events.send(|| Event::Received {
            call: entry.trail.call.id.clone(),
            tool: entry.trail.call.tool.clone(),
        });
        let outcome = match readable.and_then(|()| stopped().map_or(Ok(()), Err)) {
            Ok(()) => match self.admit(&mut entry).await {
                Ok(permit) => match stopped() {
                    Some(stop) => Err(stop),
                    None => self.carry_out(&mut entry, permit).await,
                },
                Err(stop) => Err(stop),
            },
            Err(stop) => Err(stop),
        };
        let destructive = entry.stage() >= Stage::Running
            && entry.trail.tool.as_ref().is_some_and(|it| it.facts().destructive);
        let reply = entry.close(outcome).await;
        self.setup.metrics.count(reply.code(), destructive, reply.time());
        self.setup.events.send(|| Event::Ended {
            call: reply.id().to_owned(),
            tool: reply.tool().to_owned(),
            code: reply.code(),
            ms: millis(reply.time()),
        });
        reply
    }

    /// The span of a call, named as the OpenTelemetry conventions for generative AI have it.
    fn span(&self, incoming: &Incoming) -> tracing::Span {
        let tool = match incoming {
            Incoming::Call(call) => call.tool.as_str(),
            Incoming::Malformed(bad) => bad.tool.as_deref().unwrap_or_default(),
        };
        tracing::info_span!(
            "execute_tool",
            otel.name = format!("execute_tool {tool}"),
            gen_ai.operation.name = "execute_tool",
            gen_ai.tool.name = tool,
            gen_ai.tool.call.id = incoming.id(),
            gen_ai.tool.type = "function",
            gen_ai.conversation.id = &*self.run.conversation,
            eclusa.decision = tracing::field::Empty,
            eclusa.outcome = tracing::field::Empty,
            error.type = tracing::field::Empty,
        )
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

    /// Ends this conversation: what people answered for it is forgotten, and what tools run for it
    /// ends.
    pub fn end_conversation(&self) {
        conversations::end(&self.setup, &self.run.conversation);
    }

    /// What policy says of a call in this run, and of which class it is. Runs nothing, asks
    /// nobody, records nothing; reviewers are not consulted.
    pub fn check(&self, call: ToolCall) -> Result<(PermissionClass, Verdict), Stop> {
        let (mut entry, _) = self.ledger.open(&self.run, call.into());
        entry.leave_unrecorded();
        let checked = catch_unwind(AssertUnwindSafe(|| {
            let tool = self.setup.registry.find(&entry.trail.call.tool)?;
            let call = validate::validate(tool, &mut entry.trail)?;
            let call = call.with_context(conversations::moment(&self.setup, &self.run));
            Ok((call.class(), judge::judge(&self.setup, &self.run, &call)))
        }));
        checked.unwrap_or_else(|_panic| Err(Stop::denied(Decider::Gate, "a check crashed")))
    }

    /// The same as [`check`](Gate::check), with everything that the verdict was made of.
    pub fn explain(&self, call: ToolCall) -> Result<Explanation, Stop> {
        let (mut entry, _) = self.ledger.open(&self.run, call.into());
        entry.leave_unrecorded();
        let explained = catch_unwind(AssertUnwindSafe(|| {
            let tool = self.setup.registry.find(&entry.trail.call.tool)?;
            let call = validate::validate(tool, &mut entry.trail)?;
            let call = call.with_context(conversations::moment(&self.setup, &self.run));
            // The mode and what this machine can do have a say too.
            let verdict = judge::judge(&self.setup, &self.run, &call);
            Ok(Explanation { verdict, ..self.setup.policy.load().explain(&call) })
        }));
        explained.unwrap_or_else(|_panic| Err(Stop::denied(Decider::Gate, "a check crashed")))
    }

    /// The upper gates: everything before the machine is touched.
    async fn admit(&self, entry: &mut Entry<'_>) -> Result<Permit, Stop> {
        // A reviewer, rule or approver that panics has not said yes.
        let admitted = AssertUnwindSafe(self.try_admit(entry)).catch_unwind().await;
        admitted.unwrap_or_else(|_panic| Err(Stop::denied(Decider::Gate, "a check crashed")))
    }

    async fn try_admit(&self, entry: &mut Entry<'_>) -> Result<Permit, Stop> {
        if self.run.nesting.depth > self.setup.limits.depth {
            return Err(Stop::TooDeep(self.setup.limits.depth));
        }
        if self.run.cancel.is_cancelled() {
            return Err(Stop::Cancelled { ran: false });
        }
        let tool = self.setup.registry.find(&entry.trail.call.tool)?;
        let call = validate::validate(tool, &mut entry.trail)?;
        let call = call.with_context(conversations::moment(&self.setup, &self.run));
        entry.reached(Stage::Validated);
        let call = review::review(&self.setup, call, &mut entry.trail).await?;
        entry.reached(Stage::Reviewed);
        let permit = permit::decide(&self.setup, &self.run, call, &mut entry.trail).await?;
        entry.reached(Stage::Permitted);
        Ok(permit)
    }

    /// The lower gates: run, judge what changed, look at what came out.
    async fn carry_out(&self, entry: &mut Entry<'_>, permit: Permit) -> Result<Released, Stop> {
        let carried = AssertUnwindSafe(self.try_carry_out(entry, permit)).catch_unwind().await;
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
        conversations::mark_tainted(&self.setup, &self.run, permit.call());
        let started = entry.start(&permit).await?;
        self.setup.events.send(|| Event::Started {
            call: entry.trail.call.id.clone(),
            tool: entry.trail.name().to_owned(),
            number: entry.start_seq(),
        });
        let raw = execute::execute(self, permit, entry.start_seq(), started).await?;
        entry.reached(Stage::Ran);
        let number = entry.start_seq();
        let settled = settle::settle(&self.setup, &self.run, raw, number, &mut entry.trail).await;
        entry.reached(Stage::Settled);
        let released = release::release(&self.setup, settled, &mut entry.trail).await?;
        entry.reached(Stage::Released);
        Ok(released)
    }
}
