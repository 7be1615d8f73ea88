//! The gate of this program, for every way into it: one list of what a gate is given, and one
//! `match` for what a way into it has otherwise.

use std::{sync::Arc, time::Duration};

use eclusa::{
    Approver, AuditSink, Delegate, Files, Gate, GateSetup, MemoryLog, Registration, Registry,
    Reviewer, Run, Spool, Tool, Workspace, approve::Remember, preflight::Checkpoint,
    redact::SecretRule, registry::RegistryError, spool::MemorySpool,
};
use eclusa_approvals::People;
use eclusa_store::Store;
use eclusa_tools::Sandboxes;

use crate::{
    allowances::StoredAllowances,
    context::AppContext,
    failure::Failure,
    remember::{Everywhere, RuleWriter},
    reviewers,
    rule_uses::RuleUses,
    sessions_kept::KeptSessions,
    shell,
    surface::{Setting, Surface},
    terminal::Terminal,
    undo_retention,
};

/// No limit that anybody waits for, and one that can be added to any clock.
pub(crate) const AS_LONG_AS_IT_TAKES: Duration = Duration::from_secs(365 * 86_400);

/// What one use of the gate brings along, which no configuration can say.
#[derive(Default)]
pub(crate) struct GateParts {
    /// Where calls are recorded, and everything else is kept. `None`: nowhere, for whoever judges
    /// and runs nothing.
    pub(crate) store: Option<Store>,
    /// The tools. `None`: those of the program.
    pub(crate) registry: Option<Arc<Registry>>,
    /// Who is asked, in order, before the approval queue.
    pub(crate) people: Vec<Arc<dyn Approver>>,
    /// Who opens checkpoints, where the configuration names nobody.
    pub(crate) checkpoint: Option<Arc<dyn Checkpoint>>,
    /// Where people can answer for always: which rules they want in every workspace.
    pub(crate) always: Option<Everywhere>,
    /// Reviewers before those of the configuration.
    pub(crate) reviewers: Vec<Arc<dyn Reviewer>>,
    /// Who applies permitted changes, where that is not the gate.
    pub(crate) delegate: Option<Arc<dyn Delegate>>,
    /// Stands before the approval queue.
    pub(crate) before_queue: Option<BeforeQueue>,
    /// Whether it only shows what would happen: then nobody is asked but `people`.
    pub(crate) preview: bool,
    /// What is taken out of all that leaves, besides what the configuration says.
    pub(crate) secrets: Vec<SecretRule>,
    /// The run. `None`: that of the command.
    pub(crate) run: Option<Run>,
}

/// Makes an approver of the approval queue that does something before it asks.
pub(crate) type BeforeQueue = Box<dyn FnOnce(Arc<dyn Approver>) -> Arc<dyn Approver>>;

impl GateParts {
    /// What is recorded in this store, and nobody who is asked.
    pub(crate) fn new(store: &Store) -> GateParts {
        GateParts { store: Some(store.clone()), ..GateParts::default() }
    }

    /// The same with whoever sits at the terminal, who can answer for always too.
    pub(crate) fn asking(store: &Store, terminal: Terminal) -> GateParts {
        let always = Some(terminal.everywhere());
        let terminal = Arc::new(terminal);
        let people: Vec<Arc<dyn Approver>> = vec![terminal.clone()];
        GateParts { people, checkpoint: Some(terminal), always, ..GateParts::new(store) }
    }
}

impl AppContext {
    /// The gate of a way into it. INVARIANT: there is no other place that makes one (tidy holds
    /// that), so that what is configured holds everywhere; what does not is said by
    /// [`Surface::lacks`], with its reason.
    pub(crate) fn gate(&self, surface: Surface, parts: GateParts) -> Result<Gate, Failure> {
        let holds = |setting: Setting| surface.lacks(setting).is_none();
        let log: Arc<dyn AuditSink> = match &parts.store {
            Some(store) => Arc::new(store.clone()),
            None => Arc::new(MemoryLog::default()),
        };
        let registry = match parts.registry {
            Some(registry) => registry,
            None => self.registry_of(parts.store.as_ref())?,
        };
        // Rules, modes, limits, redaction, and the workspace within its bounds.
        let mut setup = self.setup(registry, log)?;
        if holds(Setting::Reviewers) {
            setup.reviewers = parts.reviewers;
            setup.reviewers.extend(reviewers::configured(&self.config, &self.paths.workspace)?);
        }
        setup.approvers = parts.people;
        setup.checkpoint = parts.checkpoint;
        reviewers::set_preflight(&self.config, &self.paths.workspace, &mut setup)?;
        setup.tally = Arc::new(RuleUses(self.paths.uses()));
        setup.remember = parts.always.and_then(|it| self.rule_writer(it));
        setup.delegate = parts.delegate;
        if !parts.secrets.is_empty() {
            setup.redactor = Arc::new(setup.redactor.with_rules(parts.secrets));
        }
        if let Some(store) = &parts.store {
            if let Some(workspace) = &setup.workspace {
                undo_retention::recover(workspace, store)?;
            }
            setup.spool = Some(Arc::new(store.clone()));
            setup.sessions = Arc::new(KeptSessions::new(store.clone()));
            setup.people = Some(Arc::new(People::new(self.paths.people())));
            if holds(Setting::Allowances) && !parts.preview {
                let allowances = StoredAllowances::new(self.approval_queue(store));
                setup.allowances = Some(Arc::new(allowances));
            }
            if holds(Setting::Queue) && !parts.preview {
                let queue = self.asked_queue(store);
                setup.approval_queue = Some(match parts.before_queue {
                    Some(before) => before(queue),
                    None => queue,
                });
                setup.questions = Some(Arc::new(self.approval_queue(store)));
            }
        }
        match surface {
            // Whoever typed the command, or the agent that waits for it, can end it.
            Surface::Exec | Surface::Ticket => setup.limits.time_cap = AS_LONG_AS_IT_TAKES,
            // Whoever sits here is asked for as long as it takes.
            Surface::Chat => setup.limits.approval = AS_LONG_AS_IT_TAKES,
            // Their tools stand for those of another agent: rules may name others.
            Surface::Hook | Surface::Acp => {}
            Surface::Run
            | Surface::Feed
            | Surface::Mcp
            | Surface::Ask
            | Surface::Undo
            | Surface::Resume
            | Surface::Check => {}
        }
        if !matches!(surface, Surface::Hook | Surface::Acp) {
            self.names_are_known(&setup.registry)?;
        }
        Ok(Gate::new(setup).for_run(parts.run.unwrap_or_else(|| self.run())))
    }

    /// The tools of the program, and what died in their sandboxes swept up.
    fn registry_of(&self, store: Option<&Store>) -> Result<Arc<Registry>, Failure> {
        let sandboxes = self.sandboxes(&[])?;
        let Some(store) = store else {
            return self.registry_with(Arc::new(MemorySpool::default()), sandboxes);
        };
        shell::sweep(&sandboxes);
        let spool: Arc<dyn Spool> = Arc::new(store.clone());
        self.registry_with(spool, sandboxes)
    }

    /// A gate that can say what it would do, and keeps no record.
    pub(crate) fn judge(&self) -> Result<Gate, Failure> {
        self.gate(Surface::Check, GateParts::default())
    }

    /// The same for these tools.
    pub(crate) fn judge_with(&self, registry: Arc<Registry>) -> Result<Gate, Failure> {
        let parts = GateParts { registry: Some(registry), ..GateParts::default() };
        self.gate(Surface::Check, parts)
    }

    /// The gate that an undo passes: other tools, which no model is offered, and a person who has
    /// said yes by typing the command.
    pub(crate) fn gate_to_take_back(
        &self,
        store: &Store,
        tools: impl FnOnce(&Registry, &Workspace) -> Result<(), RegistryError>,
        person: Arc<dyn Approver>,
    ) -> Result<Gate, Failure> {
        let registry = self.registry()?;
        let workspace = self.workspace_to_change(Arc::new(store.clone()))?;
        tools(&registry, &workspace).map_err(Failure::usage)?;
        let (registry, people) = (Some(registry), vec![person]);
        let parts = GateParts { registry, people, ..GateParts::new(store) };
        self.gate(Surface::Undo, parts)
    }

    /// The gate that a command passes: these sandboxes, and a `bash` that uses them.
    pub(crate) fn gate_to_execute<T: Tool>(
        &self,
        surface: Surface,
        sandboxes: Sandboxes,
        bash: impl FnOnce(Sandboxes, Files) -> T,
        parts: GateParts,
    ) -> Result<Gate, Failure> {
        let spool: Arc<dyn Spool> = match &parts.store {
            Some(store) => Arc::new(store.clone()),
            None => Arc::new(MemorySpool::default()),
        };
        let registry = self.registry_with(spool, sandboxes.clone())?;
        let bash = bash(sandboxes, self.files()?);
        registry.register(Registration::new(bash).replace().lazy()).map_err(Failure::usage)?;
        self.gate(surface, GateParts { registry: Some(registry), ..parts })
    }

    /// What keeps "always" as rules in files, where the person has a place for them.
    fn rule_writer(&self, everywhere: Everywhere) -> Option<Arc<dyn Remember>> {
        let file = self.paths.config.clone()?;
        Some(Arc::new(RuleWriter::new(self.paths.workspace_rules(), file, everywhere)))
    }

    /// A setup of these tools and this log, with what is configured and nobody who can be asked.
    fn setup(
        &self,
        registry: Arc<Registry>,
        sink: Arc<dyn AuditSink>,
    ) -> Result<GateSetup, Failure> {
        let workspace = self.workspace_to_change(sink.clone())?;
        let builder = self.config.builder(&self.paths.workspace, |file| self.secret_file(file));
        let builder = builder.map_err(Failure::usage)?.registry(registry).log(sink);
        builder.workspace(workspace).setup().map_err(Failure::usage)
    }
}
