//! The gates of this program: one for each kind of command, from the same rules and reviewers.

use std::{sync::Arc, time::Duration};

use eclusa::{
    Approver, Files, Gate, GateSetup, MemoryLog, Registration, Registry, Reviewer, Spool, Tool,
    Workspace, registry::RegistryError,
};
use eclusa_approvals::People;
use eclusa_store::Store;
use eclusa_tools::Sandboxes;

use crate::{
    allowances::StoredAllowances, context::AppContext, failure::Failure, remember::RuleWriter,
    reviewers, rule_uses::RuleUses, shell, terminal::Terminal, undo_retention,
};

/// No limit that anybody waits for, and one that can be added to any clock.
pub const AS_LONG_AS_IT_TAKES: Duration = Duration::from_secs(365 * 86_400);

impl AppContext {
    /// A gate that can say what it would do, and keeps no record.
    pub fn judge(&self) -> Result<Gate, Failure> {
        self.judge_with(self.registry()?)
    }

    /// The same for these tools.
    pub fn judge_with(&self, registry: Arc<Registry>) -> Result<Gate, Failure> {
        let setup = self.setup(registry, Arc::new(MemoryLog::default()))?;
        Ok(Gate::new(setup).for_run(self.run()))
    }

    /// The whole gate.
    pub fn gate(&self, store: &Store, terminal: Terminal) -> Result<Gate, Failure> {
        self.gate_with(store, terminal, Vec::new())
    }

    /// The whole gate, with reviewers besides those from configuration.
    pub fn gate_with(
        &self,
        store: &Store,
        terminal: Terminal,
        reviewers: Vec<Arc<dyn Reviewer>>,
    ) -> Result<Gate, Failure> {
        let setup = self.furnished(store, terminal, reviewers)?;
        Ok(Gate::new(setup).for_run(self.run()))
    }

    /// The whole setup, before it is closed: another door can add who else is asked.
    pub fn furnished(
        &self,
        store: &Store,
        terminal: Terminal,
        mut reviewers: Vec<Arc<dyn Reviewer>>,
    ) -> Result<GateSetup, Failure> {
        let spool: Arc<dyn Spool> = Arc::new(store.clone());
        let sandboxes = self.sandboxes(&[])?;
        let registry = self.registry_with(spool.clone(), sandboxes.clone())?;
        let mut setup = self.setup(registry, Arc::new(store.clone()))?;
        if let Some(workspace) = &setup.workspace {
            undo_retention::recover(workspace, store)?;
            shell::sweep(&sandboxes);
        }
        setup.spool = Some(spool);
        self.set_queue(&mut setup, store);
        let everywhere = terminal.everywhere();
        let terminal = Arc::new(terminal);
        setup.approvers = vec![terminal.clone()];
        setup.checkpoint = Some(terminal);
        reviewers::set_preflight(&self.config, &self.paths.workspace, &mut setup)?;
        setup.tally = Arc::new(RuleUses(self.paths.uses()));
        if let Some(file) = &self.paths.config {
            let writer = RuleWriter::new(self.paths.workspace_rules(), file.clone(), everywhere);
            setup.remember = Some(Arc::new(writer));
        }
        reviewers.extend(self.reviewers()?);
        setup.reviewers = reviewers;
        Ok(setup)
    }

    /// The gate that an undo passes: the same rules and reviewers, but other tools, which no model
    /// is offered, and a person who has said yes by typing the command.
    pub fn gate_to_take_back(
        &self,
        store: &Store,
        tools: impl FnOnce(&Registry, &Workspace) -> Result<(), RegistryError>,
        person: Arc<dyn Approver>,
    ) -> Result<Gate, Failure> {
        let registry = self.registry()?;
        let workspace = self.workspace()?;
        tools(&registry, &workspace).map_err(Failure::usage)?;
        let mut setup = self.setup(registry, Arc::new(store.clone()))?;
        undo_retention::recover(&workspace, store)?;
        setup.approvers = vec![person];
        setup.reviewers = self.reviewers()?;
        Ok(Gate::new(setup).for_run(self.run()))
    }

    /// The gate that a command which a person typed passes: the same rules and reviewers, these
    /// sandboxes, and those who speak for the person.
    pub fn gate_to_execute<T: Tool>(
        &self,
        store: &Store,
        sandboxes: Sandboxes,
        bash: impl FnOnce(Sandboxes, Files) -> T,
        people: Vec<Arc<dyn Approver>>,
    ) -> Result<Gate, Failure> {
        self.gate_to_execute_for(store, sandboxes, bash, people, None)
    }

    /// The same, with a queue for questions that nobody of them can take.
    pub fn gate_to_execute_for<T: Tool>(
        &self,
        store: &Store,
        sandboxes: Sandboxes,
        bash: impl FnOnce(Sandboxes, Files) -> T,
        people: Vec<Arc<dyn Approver>>,
        queue: Option<Arc<dyn Approver>>,
    ) -> Result<Gate, Failure> {
        let registry = self.registry_with(Arc::new(store.clone()), sandboxes.clone())?;
        let bash = bash(sandboxes, self.files()?);
        registry.register(Registration::new(bash).replace().lazy()).map_err(Failure::usage)?;
        let mut setup = self.setup(registry, Arc::new(store.clone()))?;
        undo_retention::recover(&self.workspace()?, store)?;
        setup.spool = Some(Arc::new(store.clone()));
        setup.approvers = people;
        if queue.is_some() {
            setup.questions = Some(Arc::new(self.approval_queue(store)));
        }
        setup.people = Some(Arc::new(People::new(self.paths.people())));
        setup.approval_queue = queue;
        setup.reviewers = self.reviewers()?;
        // Whoever typed the command can end it.
        setup.limits.time_cap = AS_LONG_AS_IT_TAKES;
        Ok(Gate::new(setup).for_run(self.run()))
    }

    /// Lets questions wait in the queue of this store, and people answer whose keys are known here.
    pub fn set_queue(&self, setup: &mut GateSetup, store: &Store) {
        setup.approval_queue = Some(self.asked_queue(store));
        setup.questions = Some(Arc::new(self.approval_queue(store)));
        setup.people = Some(Arc::new(People::new(self.paths.people())));
        let allowances = StoredAllowances::new(self.approval_queue(store));
        setup.allowances = Some(Arc::new(allowances));
    }

    /// The reviewers that are configured.
    pub fn reviewers(&self) -> Result<Vec<Arc<dyn Reviewer>>, Failure> {
        reviewers::configured(&self.config, &self.paths.workspace)
    }
}
