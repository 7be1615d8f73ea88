//! What a gate is made of: what a program sets up, and apart from it what changes while calls pass.

use std::{sync::Arc, time::Duration};

use arc_swap::ArcSwap;

use crate::{
    Approver, ArgsInLog, AuditSink, Changes, Checkpoint, Clock, DelegateError, Durability, Events,
    Metrics, ModeRule, OnNoApprover, Policy, PreflightStep, Questions, Redactor, Registry,
    Remember, ReverseThinker, ReviewCache, Reviewer, SignerDirectory, Spool, SystemClock, Tally,
    Workspace,
    approve::{
        Allowances,
        memory::{Counter, Memory},
    },
    session::{MemorySessions, SessionState},
};

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

/// Whoever applies changes that were permitted, where that is not the gate: another agent, which
/// asked before it writes by itself.
pub trait Delegate: Send + Sync {
    /// Keeps what undoing the changes of this call will need, before anybody applies them. An
    /// error refuses the call.
    fn hand_over(&self, call: u64, changes: &Changes) -> Result<(), DelegateError>;
}

/// Everything a gate is made of. [`GateSetup::new`] gives it safe defaults.
pub struct GateSetup {
    /// The tools.
    pub registry: Arc<Registry>,
    /// Who reads every call and output, after the tool's own reviewers.
    pub reviewers: Vec<Arc<dyn Reviewer>>,
    /// What input reviewers said before. `None`: they are asked every time.
    pub review_cache: Option<ReviewCache>,
    /// Who puts questions to people, tried in order.
    pub approvers: Vec<Arc<dyn Approver>>,
    /// What happens when nobody can be asked.
    pub on_no_approver: OnNoApprover,
    /// Where questions are parked with [`OnNoApprover::Queue`].
    pub approval_queue: Option<Arc<dyn Approver>>,
    /// The same queue, for whoever looks for a question in it after a restart.
    pub questions: Option<Arc<dyn Questions>>,
    /// The people whose keys count here. `None`: nobody's, so an answer is a word at most.
    pub people: Option<Arc<dyn SignerDirectory>>,
    /// What people agreed on beforehand. `None`: nothing.
    pub allowances: Option<Arc<dyn Allowances>>,
    /// The embedding program's own gate.
    pub checkpoint: Option<Arc<dyn Checkpoint>>,
    /// Who argues the other side.
    pub reverse_thinker: Option<Arc<dyn ReverseThinker>>,
    /// The order of the passes between verdict and permit. Reverse thinking or the checkpoint can be
    /// left out: then the other stands for both, for tools that ask for both.
    pub order: Vec<PreflightStep>,
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
    /// Who applies permitted changes, where that is not the gate.
    pub delegate: Option<Arc<dyn Delegate>>,
    /// Takes secrets out of what leaves.
    pub redactor: Arc<Redactor>,
    /// Where "always" is kept.
    pub remember: Option<Arc<dyn Remember>>,
    /// Counts the uses of rules that hold for so many calls.
    pub tally: Arc<dyn Tally>,
    /// What is kept of sessions between their calls.
    pub sessions: Arc<dyn SessionState>,
    /// How much a call may use.
    pub limits: Limits,
    /// Modes of some conversations and clients, in place of the mode of the run.
    pub modes: Vec<ModeRule>,
    /// Where events go out.
    pub events: Events,
    pub(crate) live: LiveState,
}

/// What changes while calls pass, as opposed to what was set up.
pub(crate) struct LiveState {
    /// The rules in force.
    pub(crate) policy: ArcSwap<Box<dyn Policy>>,
    /// What people have answered before.
    pub(crate) memory: Memory,
    /// Held by whoever is asking a person.
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
        GateSetup::boxed(registry, Box::new(policy), sink)
    }

    pub(super) fn boxed(
        registry: Arc<Registry>,
        policy: Box<dyn Policy>,
        sink: Arc<dyn AuditSink>,
    ) -> GateSetup {
        GateSetup {
            registry,
            reviewers: Vec::new(),
            review_cache: None,
            approvers: Vec::new(),
            on_no_approver: OnNoApprover::default(),
            approval_queue: None,
            questions: None,
            people: None,
            allowances: None,
            checkpoint: None,
            reverse_thinker: None,
            order: PreflightStep::ORDER.to_vec(),
            sink,
            args_in_log: ArgsInLog::default(),
            clock: Arc::new(SystemClock),
            spool: None,
            workspace: None,
            durability: Durability::default(),
            delegate: None,
            redactor: Arc::default(),
            remember: None,
            tally: Arc::new(Counter::default()),
            sessions: Arc::new(MemorySessions::default()),
            limits: Limits::default(),
            modes: Vec::new(),
            events: Events::default(),
            live: LiveState {
                policy: ArcSwap::from_pointee(policy),
                memory: Memory::default(),
                asking: tokio::sync::Mutex::default(),
                metrics: Metrics::default(),
            },
        }
    }

    /// Other rules instead. While calls pass, see [`Gate::set_policy`](crate::Gate::set_policy).
    pub fn set_policy(&mut self, policy: impl Policy + 'static) {
        self.live.policy = ArcSwap::from_pointee(Box::new(policy));
    }
}
