//! Puts a gate together from its parts.

use std::{path::PathBuf, sync::Arc};

use arc_swap::ArcSwap;

use super::{Delegate, Gate, Limits, RehearsalPlan, rehearsal::Rehearsal, setup::Setup};
use crate::{
    Approver, ArgsInLog, AuditSink, Checkpoint, Clock, Durability, EffectLimits, Events, ModeRule,
    OnNoApprover, Policy, PreflightStep, Questions, Redactor, Registration, Registry,
    RegistryError, Remember, ReverseThinker, ReviewCache, Reviewer, Rule, Rules, Run,
    SignerDirectory, Spool, Tally, Tool, Workspace,
    approve::{Allowances, memory::Memory},
    session::SessionState,
    workspace::ScratchWorkspace,
};

/// Puts a gate together. Made by [`Gate::builder`].
///
/// What is not given is safe: what no rule allows is asked about, and where nobody can be asked it
/// is denied. Parts that a program goes on using itself are shared with it in an `Arc`.
#[must_use = "a builder does nothing until `build` is called"]
#[derive(Default)]
pub struct GateBuilder {
    setup: Setup,
    tools: Vec<Registration>,
    rules: Vec<Rule>,
    effects: EffectLimits,
    policy: Option<Box<dyn Policy>>,
    root: Option<PathBuf>,
    run: Run,
}

/// Why a gate could not be put together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    /// A tool cannot be registered.
    #[error(transparent)]
    Tool(#[from] RegistryError),
    /// There are rules, and a policy that would not look at them.
    #[error("rules belong to a policy of their own: use `rule` or `policy`, not both")]
    RulesAndPolicy,
}

impl Gate {
    /// The parts of a gate, to be put together.
    ///
    /// ```
    /// use eclusa::prelude::*;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Greet { name: String }
    ///
    /// let gate = Gate::builder()
    ///     .tool(FnTool::new("greet", "Greets somebody.", |it: Greet| async move {
    ///         Ok::<_, ToolError>(format!("Hello, {}!", it.name))
    ///     }))
    ///     .rule(Rule::new(Decision::Allow).tool(["greet"])?)
    ///     .build()?;
    /// let call = ToolCall::new("1", "greet", serde_json::json!({"name": "Ada"}));
    /// assert_eq!(gate.pass_blocking(call)?.content(), "Hello, Ada!");
    /// # Ok(())
    /// # }
    /// ```
    pub fn builder() -> GateBuilder {
        GateBuilder::default()
    }
}

impl GateBuilder {
    /// Adds a tool that the program vouches for.
    pub fn tool(self, tool: impl Tool) -> GateBuilder {
        self.registration(Registration::new(tool))
    }

    /// Adds a tool with what the program says of it: whose it is, who reviews it.
    pub fn registration(mut self, registration: Registration) -> GateBuilder {
        self.tools.push(registration);
        self
    }

    /// Uses the tools of this registry, and adds the others to it.
    pub fn registry(mut self, registry: impl Into<Arc<Registry>>) -> GateBuilder {
        self.setup.registry = registry.into();
        self
    }

    /// Adds a rule. Their order does not matter: the strictest that applies decides.
    pub fn rule(mut self, rule: Rule) -> GateBuilder {
        self.rules.push(rule);
        self
    }

    /// Adds rules.
    pub fn rules(mut self, rules: impl IntoIterator<Item = Rule>) -> GateBuilder {
        self.rules.extend(rules);
        self
    }

    /// How much a call may change, beside what rules say of it.
    pub fn effects(mut self, limits: EffectLimits) -> GateBuilder {
        self.effects = limits;
        self
    }

    /// Judges calls with this instead of rules. [`Gate::set_policy`] exchanges it while calls pass.
    pub fn policy(mut self, policy: impl Policy + 'static) -> GateBuilder {
        self.policy = Some(Box::new(policy));
        self
    }

    /// Adds somebody who can be asked. They are tried in the order in which they were added.
    pub fn approver(self, approver: impl Approver + 'static) -> GateBuilder {
        self.approvers(vec![Arc::new(approver)])
    }

    /// Adds people who can be asked, in this order.
    pub fn approvers(mut self, approvers: Vec<Arc<dyn Approver>>) -> GateBuilder {
        self.setup.approvers.extend(approvers);
        self
    }

    /// What happens where nobody can be asked.
    pub fn on_no_approver(mut self, then: OnNoApprover) -> GateBuilder {
        self.setup.on_no_approver = then;
        self
    }

    /// Where questions are parked with [`OnNoApprover::Queue`].
    pub fn approval_queue(mut self, queue: Arc<dyn Approver>) -> GateBuilder {
        self.setup.approval_queue = Some(queue);
        self
    }

    /// The same queue, for whoever looks for a question in it after a restart.
    pub fn questions(mut self, questions: Arc<dyn Questions>) -> GateBuilder {
        self.setup.questions = Some(questions);
        self
    }

    /// The people whose keys count here. Without it nobody's do: an answer is a word at most.
    pub fn people(mut self, people: Arc<dyn SignerDirectory>) -> GateBuilder {
        self.setup.people = Some(people);
        self
    }

    /// What people agreed on beforehand.
    pub fn allowances(mut self, allowances: Arc<dyn Allowances>) -> GateBuilder {
        self.setup.allowances = Some(allowances);
        self
    }

    /// Where "always" is kept.
    pub fn remember(mut self, keeper: Arc<dyn Remember>) -> GateBuilder {
        self.setup.state.memory = Memory::new(keeper);
        self
    }

    /// Adds somebody who reads every call and output, after the tool's own reviewers.
    pub fn reviewer(self, reviewer: impl Reviewer + 'static) -> GateBuilder {
        self.reviewers(vec![Arc::new(reviewer)])
    }

    /// Adds reviewers, in this order.
    pub fn reviewers(mut self, reviewers: Vec<Arc<dyn Reviewer>>) -> GateBuilder {
        self.setup.reviewers.extend(reviewers);
        self
    }

    /// Keeps what reviewers said of a call, for the same call again.
    pub fn review_cache(mut self, cache: ReviewCache) -> GateBuilder {
        self.setup.review_cache = Some(cache);
        self
    }

    /// The program's own gate, for tools that need one.
    pub fn checkpoint(mut self, checkpoint: Arc<dyn Checkpoint>) -> GateBuilder {
        self.setup.checkpoint = Some(checkpoint);
        self
    }

    /// Who argues the other side, for tools that need it.
    pub fn reverse_thinker(mut self, thinker: Arc<dyn ReverseThinker>) -> GateBuilder {
        self.setup.reverse_thinker = Some(thinker);
        self
    }

    /// The order of the steps between verdict and permit. Reverse thinking or the checkpoint can be
    /// left out: then the other stands for both, for tools that ask for both.
    pub fn order(mut self, order: impl Into<Vec<PreflightStep>>) -> GateBuilder {
        self.setup.order = order.into();
        self
    }

    /// Keeps the records here. Without it they are kept in memory, for as long as the gate lives.
    pub fn log(mut self, log: Arc<dyn AuditSink>) -> GateBuilder {
        self.setup.log = log;
        self
    }

    /// How much of the arguments the log holds.
    pub fn args_in_log(mut self, args: ArgsInLog) -> GateBuilder {
        self.setup.args_in_log = args;
        self
    }

    /// The clock of the log.
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> GateBuilder {
        self.setup.clock = clock;
        self
    }

    /// Keeps long outputs whole here.
    pub fn spool(mut self, spool: Arc<dyn Spool>) -> GateBuilder {
        self.setup.spool = Some(spool);
        self
    }

    /// Takes secrets out of what leaves with this.
    pub fn redactor(mut self, redactor: impl Into<Arc<Redactor>>) -> GateBuilder {
        self.setup.redactor = redactor.into();
        self
    }

    /// Applies changes here, and judges paths beneath its root. Without it nothing can be staged,
    /// and changes are discarded.
    pub fn workspace(mut self, workspace: Workspace) -> GateBuilder {
        self.setup.workspace = Some(workspace);
        self
    }

    /// Judges paths beneath this directory, where there is no workspace to apply changes to.
    pub fn root(mut self, root: impl Into<PathBuf>) -> GateBuilder {
        self.root = Some(root.into());
        self
    }

    /// What applied changes survive.
    pub fn durability(mut self, durability: Durability) -> GateBuilder {
        self.setup.durability = durability;
        self
    }

    /// Who applies permitted changes, where that is not the gate.
    pub fn delegate(mut self, delegate: Arc<dyn Delegate>) -> GateBuilder {
        self.setup.delegate = Some(delegate);
        self
    }

    /// Rehearses: calls pass as they would, nobody is asked, no host is opened, and what they change is
    /// applied to this scratch workspace, in place of any other. What they would have come to is in the plan.
    ///
    /// A workspace that nothing covers is refused by its type:
    ///
    /// ```compile_fail
    /// use eclusa::{RehearsalPlan, prelude::*};
    ///
    /// let (workspace, _) = Workspace::open("/home/me/project", "/home/me/state").unwrap();
    /// let gate = Gate::builder().rehearsal(workspace, RehearsalPlan::default());
    /// ```
    pub fn rehearsal(mut self, scratch: ScratchWorkspace, plan: RehearsalPlan) -> GateBuilder {
        self.setup.rehearsal = Some(Rehearsal::new(scratch, plan));
        self
    }

    /// Counts the uses of rules that hold for so many calls.
    pub fn tally(mut self, tally: Arc<dyn Tally>) -> GateBuilder {
        self.setup.tally = tally;
        self
    }

    /// What is kept of sessions between their calls.
    pub fn sessions(mut self, sessions: Arc<dyn SessionState>) -> GateBuilder {
        self.setup.sessions = sessions;
        self
    }

    /// How much a call may use.
    pub fn limits(mut self, limits: Limits) -> GateBuilder {
        self.setup.limits = limits;
        self
    }

    /// Modes of some sessions and clients, in place of the mode of the run.
    pub fn modes(mut self, modes: Vec<ModeRule>) -> GateBuilder {
        self.setup.modes = modes;
        self
    }

    /// Where events go out.
    pub fn events(mut self, events: Events) -> GateBuilder {
        self.setup.events = events;
        self
    }

    /// What holds for the calls: session, mode, deadline.
    pub fn run(mut self, run: Run) -> GateBuilder {
        self.run = run;
        self
    }

    /// The gate.
    pub fn build(self) -> Result<Gate, BuildError> {
        let mut setup = self.setup;
        if let Some(rehearsal) = &setup.rehearsal {
            setup.workspace = Some(rehearsal.scratch().workspace().clone());
        }
        for tool in self.tools {
            setup.registry.register(tool)?;
        }
        let policy: Box<dyn Policy> = match (self.policy, self.rules.is_empty()) {
            (Some(policy), true) => policy,
            (Some(_), false) => return Err(BuildError::RulesAndPolicy),
            (None, _) => {
                // Nothing absolute lies in a workspace at an unknown place.
                let root = setup.workspace.as_ref().map(|it| it.root().to_owned()).or(self.root);
                let rules = Rules::new(self.rules, &root.unwrap_or_default());
                Box::new(rules.with_effects(self.effects))
            }
        };
        setup.state.policy = ArcSwap::from_pointee(policy);
        Ok(Gate::new(setup, self.run))
    }
}
