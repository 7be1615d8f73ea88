//! What a gate is made of: what [`GateBuilder`](super::GateBuilder) was given, and apart from it what
//! changes while calls pass.

use std::{path::Path, sync::Arc, time::Duration};

use arc_swap::ArcSwap;

use super::rehearsal::Rehearsal;
use crate::{
    Approver, ArgsInLog, AuditSink, Changes, Checkpoint, Clock, DelegateError, Durability, Events,
    MemoryLog, Metrics, ModeRule, OnNoApprover, Policy, PreflightStep, Proof, Questions, Redactor,
    Registry, ReverseThinker, ReviewCache, Reviewer, Rules, SignerDirectory, Spool, SystemClock,
    Tally, Workspace,
    approve::{
        Allowances, KEEP,
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
    /// How long a question is kept that nobody waits for, and a yes that nobody has taken.
    pub keep: Duration,
    /// How sure it must be who answers, whatever rules say.
    pub proof: Proof,
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
            keep: KEEP,
            proof: Proof::Word,
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

/// What a gate is made of. Safe by default; the methods of [`GateBuilder`](super::GateBuilder) say
/// what each part is for.
pub(crate) struct Setup {
    pub(crate) registry: Arc<Registry>,
    pub(crate) reviewers: Vec<Arc<dyn Reviewer>>,
    pub(crate) review_cache: Option<ReviewCache>,
    pub(crate) approvers: Vec<Arc<dyn Approver>>,
    pub(crate) on_no_approver: OnNoApprover,
    pub(crate) approval_queue: Option<Arc<dyn Approver>>,
    pub(crate) questions: Option<Arc<dyn Questions>>,
    pub(crate) people: Option<Arc<dyn SignerDirectory>>,
    pub(crate) allowances: Option<Arc<dyn Allowances>>,
    pub(crate) checkpoint: Option<Arc<dyn Checkpoint>>,
    pub(crate) reverse_thinker: Option<Arc<dyn ReverseThinker>>,
    pub(crate) order: Vec<PreflightStep>,
    pub(crate) log: Arc<dyn AuditSink>,
    pub(crate) args_in_log: ArgsInLog,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) spool: Option<Arc<dyn Spool>>,
    pub(crate) workspace: Option<Workspace>,
    pub(crate) durability: Durability,
    pub(crate) delegate: Option<Arc<dyn Delegate>>,
    pub(crate) rehearsal: Option<Rehearsal>,
    pub(crate) redactor: Arc<Redactor>,
    pub(crate) tally: Arc<dyn Tally>,
    pub(crate) sessions: Arc<dyn SessionState>,
    pub(crate) limits: Limits,
    pub(crate) modes: Vec<ModeRule>,
    pub(crate) events: Events,
    pub(crate) state: GateState,
}

/// What changes while calls pass, as opposed to what was set up.
pub(crate) struct GateState {
    /// The rules in force.
    pub(crate) policy: ArcSwap<Box<dyn Policy>>,
    /// What people have answered before.
    pub(crate) memory: Memory,
    /// Held by whoever is asking a person.
    pub(crate) asking: tokio::sync::Mutex<()>,
    pub(crate) metrics: Metrics,
}

impl Default for Setup {
    fn default() -> Setup {
        // Nothing absolute lies in a workspace at an unknown place.
        let policy: Box<dyn Policy> = Box::new(Rules::new(Vec::new(), Path::new("")));
        Setup {
            registry: Arc::default(),
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
            log: Arc::new(MemoryLog::default()),
            args_in_log: ArgsInLog::default(),
            clock: Arc::new(SystemClock),
            spool: None,
            workspace: None,
            durability: Durability::default(),
            delegate: None,
            rehearsal: None,
            redactor: Arc::default(),
            tally: Arc::new(Counter::default()),
            sessions: Arc::new(MemorySessions::default()),
            limits: Limits::default(),
            modes: Vec::new(),
            events: Events::default(),
            state: GateState {
                policy: ArcSwap::from_pointee(policy),
                memory: Memory::default(),
                asking: tokio::sync::Mutex::default(),
                metrics: Metrics::default(),
            },
        }
    }
}
