//! Puts a gate together from parts: the short way for programs that gate their own functions.

use std::{path::PathBuf, sync::Arc};

use super::{Gate, GateSetup, Limits};
use crate::{
    Approver, ArgsInLog, AuditSink, Durability, EffectLimits, MemoryLog, ModeRule, OnNoApprover,
    Policy, PreflightStep, Redactor, Registration, Registry, RegistryError, ReviewCache, Reviewer,
    Rule, Rules, Run, Spool, Tool, Workspace,
};

/// Puts a gate together. Made by [`Gate::builder`].
///
/// What is not given is safe: what no rule allows is asked about, and where nobody can be asked it
/// is denied. Everything that has no method here is a field of [`GateSetup`], which
/// [`setup`](GateBuilder::setup) gives.
#[must_use = "a builder does nothing until `build` is called"]
#[derive(Default)]
pub struct GateBuilder {
    registry: Option<Arc<Registry>>,
    tools: Vec<Registration>,
    rules: Vec<Rule>,
    effects: EffectLimits,
    policy: Option<Box<dyn Policy>>,
    approvers: Vec<Arc<dyn Approver>>,
    reviewers: Vec<Arc<dyn Reviewer>>,
    log: Option<Arc<dyn AuditSink>>,
    spool: Option<Arc<dyn Spool>>,
    root: Option<PathBuf>,
    workspace: Option<Workspace>,
    durability: Durability,
    redactor: Option<Redactor>,
    review_cache: Option<ReviewCache>,
    on_no_approver: OnNoApprover,
    order: Option<Vec<PreflightStep>>,
    args_in_log: ArgsInLog,
    limits: Limits,
    modes: Vec<ModeRule>,
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
    pub fn registry(mut self, registry: Arc<Registry>) -> GateBuilder {
        self.registry = Some(registry);
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

    /// Judges calls with this instead of rules.
    pub fn policy(mut self, policy: impl Policy + 'static) -> GateBuilder {
        self.policy = Some(Box::new(policy));
        self
    }

    /// Adds somebody who can be asked. They are tried in the order in which they were added.
    pub fn approver(mut self, approver: impl Approver + 'static) -> GateBuilder {
        self.approvers.push(Arc::new(approver));
        self
    }

    /// Adds somebody who reads every call and output.
    pub fn reviewer(mut self, reviewer: impl Reviewer + 'static) -> GateBuilder {
        self.reviewers.push(Arc::new(reviewer));
        self
    }

    /// Keeps what reviewers said of a call, for the same call again.
    pub fn review_cache(mut self, cache: ReviewCache) -> GateBuilder {
        self.review_cache = Some(cache);
        self
    }

    /// What happens where nobody can be asked.
    pub fn on_no_approver(mut self, then: OnNoApprover) -> GateBuilder {
        self.on_no_approver = then;
        self
    }

    /// The order of the steps between verdict and permit.
    pub fn order(mut self, order: impl Into<Vec<PreflightStep>>) -> GateBuilder {
        self.order = Some(order.into());
        self
    }

    /// How much of the arguments the log holds.
    pub fn args_in_log(mut self, args: ArgsInLog) -> GateBuilder {
        self.args_in_log = args;
        self
    }

    /// Takes secrets out of what leaves with this.
    pub fn redactor(mut self, redactor: Redactor) -> GateBuilder {
        self.redactor = Some(redactor);
        self
    }

    /// Keeps the records here. Without it they are kept in memory, for as long as the gate lives.
    pub fn log(mut self, log: Arc<dyn AuditSink>) -> GateBuilder {
        self.log = Some(log);
        self
    }

    /// Keeps long outputs whole here.
    pub fn spool(mut self, spool: Arc<dyn Spool>) -> GateBuilder {
        self.spool = Some(spool);
        self
    }

    /// Applies changes here, and judges paths beneath its root.
    pub fn workspace(mut self, workspace: Workspace) -> GateBuilder {
        self.workspace = Some(workspace);
        self
    }

    /// Judges paths beneath this directory, where there is no workspace to apply changes to.
    pub fn root(mut self, root: impl Into<PathBuf>) -> GateBuilder {
        self.root = Some(root.into());
        self
    }

    /// What applied changes survive.
    pub fn durability(mut self, durability: Durability) -> GateBuilder {
        self.durability = durability;
        self
    }

    /// How much a call may use.
    pub fn limits(mut self, limits: Limits) -> GateBuilder {
        self.limits = limits;
        self
    }

    /// Modes of some conversations and clients, in place of the mode of the run.
    pub fn modes(mut self, modes: Vec<ModeRule>) -> GateBuilder {
        self.modes = modes;
        self
    }

    /// What holds for the calls: conversation, mode, deadline.
    pub fn run(mut self, run: Run) -> GateBuilder {
        self.run = run;
        self
    }

    /// The setup that comes of it, for what has no method here.
    pub fn setup(self) -> Result<GateSetup, BuildError> {
        let registry = self.registry.unwrap_or_default();
        for tool in self.tools {
            registry.register(tool)?;
        }
        let log = self.log.unwrap_or_else(|| Arc::new(MemoryLog::default()));
        // Nothing absolute lies in a workspace at an unknown place.
        let root = self.workspace.as_ref().map(|it| it.root().to_owned()).or(self.root);
        let policy: Box<dyn Policy> = match (self.policy, self.rules.is_empty()) {
            (Some(policy), true) => policy,
            (Some(_), false) => return Err(BuildError::RulesAndPolicy),
            (None, _) => {
                let rules = Rules::new(self.rules, &root.unwrap_or_default());
                Box::new(rules.with_effects(self.effects))
            }
        };
        let mut setup = GateSetup::boxed(registry, policy, log);
        setup.approvers = self.approvers;
        setup.reviewers = self.reviewers;
        setup.spool = self.spool;
        setup.workspace = self.workspace;
        setup.durability = self.durability;
        setup.review_cache = self.review_cache;
        setup.on_no_approver = self.on_no_approver;
        setup.args_in_log = self.args_in_log;
        setup.limits = self.limits;
        setup.modes = self.modes;
        if let Some(redactor) = self.redactor {
            setup.redactor = Arc::new(redactor);
        }
        if let Some(order) = self.order {
            setup.order = order;
        }
        Ok(setup)
    }

    /// The gate.
    pub fn build(self) -> Result<Gate, BuildError> {
        let run = self.run.clone();
        Ok(Gate::new(self.setup()?).for_run(run))
    }
}
