//! Puts a gate together from parts: the short way for programs that gate their own functions.

use std::{path::PathBuf, sync::Arc};

use super::{Gate, GateSetup, Limits};
use crate::{
    Approver, AuditSink, MemoryLog, Policy, Registration, Registry, RegistryError, Reviewer, Rule,
    Rules, Run, Spool, Tool, Workspace,
};

/// Puts a gate together. Made by [`Gate::builder`].
///
/// What is not given is safe: what no rule allows is asked about, and where nobody can be asked it
/// is denied. Everything that has no method here is a field of [`GateSetup`], which
/// [`setup`](GateBuilder::setup) gives.
#[must_use = "a builder does nothing until `build` is called"]
#[derive(Default)]
pub struct GateBuilder {
    tools: Vec<Registration>,
    rules: Vec<Rule>,
    policy: Option<Box<dyn Policy>>,
    approvers: Vec<Arc<dyn Approver>>,
    reviewers: Vec<Arc<dyn Reviewer>>,
    log: Option<Arc<dyn AuditSink>>,
    spool: Option<Arc<dyn Spool>>,
    root: Option<PathBuf>,
    workspace: Option<Workspace>,
    limits: Limits,
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

    /// Adds a rule. Their order does not matter: the strictest that applies decides.
    pub fn rule(mut self, rule: Rule) -> GateBuilder {
        self.rules.push(rule);
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

    /// Keeps the records here. Without it they are kept in memory, for as long as the gate lives.
    pub fn log(mut self, log: Arc<impl AuditSink + 'static>) -> GateBuilder {
        self.log = Some(log);
        self
    }

    /// Keeps long outputs whole here.
    pub fn spool(mut self, spool: Arc<impl Spool + 'static>) -> GateBuilder {
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

    /// How much a call may use.
    pub fn limits(mut self, limits: Limits) -> GateBuilder {
        self.limits = limits;
        self
    }

    /// What holds for the calls: conversation, mode, deadline.
    pub fn run(mut self, run: Run) -> GateBuilder {
        self.run = run;
        self
    }

    /// The setup that comes of it, for what has no method here.
    pub fn setup(self) -> Result<GateSetup, BuildError> {
        let registry = Registry::new();
        for tool in self.tools {
            registry.register(tool)?;
        }
        let log = self.log.unwrap_or_else(|| Arc::new(MemoryLog::default()));
        // Nothing absolute lies in a workspace at an unknown place.
        let root = self.workspace.as_ref().map(|it| it.root().to_owned()).or(self.root);
        let policy: Box<dyn Policy> = match (self.policy, self.rules.is_empty()) {
            (Some(policy), true) => policy,
            (Some(_), false) => return Err(BuildError::RulesAndPolicy),
            (None, _) => Box::new(Rules::new(self.rules, &root.unwrap_or_default())),
        };
        let mut setup = GateSetup::boxed(Arc::new(registry), policy, log);
        setup.approvers = self.approvers;
        setup.reviewers = self.reviewers;
        setup.spool = self.spool;
        setup.workspace = self.workspace;
        setup.limits = self.limits;
        Ok(setup)
    }

    /// The gate.
    pub fn build(self) -> Result<Gate, BuildError> {
        let run = self.run.clone();
        Ok(Gate::new(self.setup()?).for_run(run))
    }
}
