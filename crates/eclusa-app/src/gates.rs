//! The gate of this program, for every way into it: one list of what a gate is given, and one
//! `match` for what a way into it has otherwise.

use std::{sync::Arc, time::Duration};

use eclusa::{
    Approver, AuditSink, Delegate, Files, Gate, MemoryLog, Registration, Registry, Reviewer, Run,
    Spool, Tool, Workspace, approve::Remember, preflight::Checkpoint, redact::SecretRule,
    registry::RegistryError, spool::MemorySpool, store::Store,
};
use eclusa_tools::{JobHome, Sandboxes};

use eclusa_term::terminal::Everywhere;

use crate::{
    allowances::StoredAllowances,
    context::AppContext,
    failure::Failure,
    rehearsal,
    remember::RuleWriter,
    reviewers,
    rule_uses::RuleUses,
    sessions_kept::KeptSessions,
    shell,
    signers::Signers,
    surface::{Setting, Surface},
    terminal::Terminal,
    undo_retention,
};

/// No limit that anybody waits for, and one that can be added to any clock.
pub const NO_LIMIT: Duration = Duration::from_secs(365 * 86_400);

/// What one use of the gate brings along, which no configuration can say.
#[derive(Default)]
pub struct GateParts {
    /// Where calls are recorded, and everything else is kept. `None`: nowhere, for whoever judges
    /// and runs nothing.
    pub store: Option<Arc<dyn Store>>,
    /// The tools. `None`: those of the program.
    pub registry: Option<Arc<Registry>>,
    /// Who is asked, in order, before the approval queue.
    pub people: Vec<Arc<dyn Approver>>,
    /// Who opens checkpoints, where the configuration names nobody.
    pub checkpoint: Option<Arc<dyn Checkpoint>>,
    /// Where people can answer for always: which rules they want in every workspace.
    pub always: Option<Everywhere>,
    /// Reviewers before those of the configuration.
    pub reviewers: Vec<Arc<dyn Reviewer>>,
    /// Who applies permitted changes, where that is not the gate.
    pub delegate: Option<Arc<dyn Delegate>>,
    /// Stands before the approval queue.
    pub before_queue: Option<BeforeQueue>,
    /// Whether it only shows what would happen: then nobody is asked but `people`.
    pub preview: bool,
    /// What is taken out of all that leaves, besides what the configuration says.
    pub secrets: Vec<SecretRule>,
    /// The run. `None`: that of the command.
    pub run: Option<Run>,
}

/// Makes an approver of the approval queue that does something before it asks.
pub type BeforeQueue = Box<dyn FnOnce(Arc<dyn Approver>) -> Arc<dyn Approver>>;

impl GateParts {
    /// What is recorded in this store, and nobody who is asked.
    pub fn new(store: &Arc<dyn Store>) -> GateParts {
        GateParts { store: Some(store.clone()), ..GateParts::default() }
    }

    /// The same with whoever sits at the terminal, who can answer for always too.
    pub fn asking(store: &Arc<dyn Store>, terminal: Terminal) -> GateParts {
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
    pub fn gate(&self, surface: Surface, mut parts: GateParts) -> Result<Gate, Failure> {
        // A job that is rehearsed comes in by the way that it would.
        let surface = if rehearsal::directory().is_some() { Surface::Rehearsal } else { surface };
        let holds = |setting: Setting| surface.lacks(setting).is_none();
        let log: Arc<dyn AuditSink> = match &parts.store {
            Some(store) => store.clone(),
            None => Arc::new(MemoryLog::default()),
        };
        let registry = match parts.registry {
            Some(registry) => registry,
            None => self.registry_of(surface, parts.store.as_ref())?,
        };
        let workspace = self.workspace_to_change(log.clone())?;
        let rehearsal = rehearsal::scratch(&workspace)?;
        if rehearsal.is_some() {
            (parts.people, parts.checkpoint, parts.preview) = (Vec::new(), None, true);
        }
        let mut redactor = self.redactor()?;
        if !parts.secrets.is_empty() {
            redactor = redactor.with_rules(parts.secrets);
        }
        let redactor = Arc::new(redactor);
        let mut limits = self.config.limits.clone();
        match surface {
            // Whoever typed the command, or the agent that waits for it, can end it.
            Surface::Exec | Surface::Ticket => limits.time_cap = NO_LIMIT,
            // Whoever sits here is asked for as long as it takes.
            Surface::Chat => limits.approval = NO_LIMIT,
            Surface::Hook
            | Surface::Acp
            | Surface::Run
            | Surface::Feed
            | Surface::Mcp
            | Surface::Ask
            | Surface::Undo
            | Surface::Resume
            | Surface::Check
            | Surface::Rehearsal
            | Surface::Plan
            | Surface::Yes
            | Surface::Apply => {}
        }
        // Rules, modes, limits, redaction, and the workspace within its bounds.
        let builder = self.config.builder(&self.paths.workspace, redactor.clone());
        let mut builder = builder
            .registry(registry.clone())
            .log(log.clone())
            .workspace(workspace.clone())
            .limits(limits)
            .approvers(parts.people)
            .tally(Arc::new(RuleUses(self.paths.uses()?)))
            .run(parts.run.unwrap_or_else(|| self.run()));
        if let Some((scratch, plan)) = rehearsal {
            builder = builder.rehearsal(scratch, plan);
        }
        if holds(Setting::Reviewers) {
            let configured = reviewers::configured(&self.config, &self.paths.workspace)?;
            builder = builder.reviewers(parts.reviewers).reviewers(configured);
        }
        let thinker =
            reviewers::reverse_thinker(&self.config, &self.paths.workspace, redactor, log)?;
        if let Some(thinker) = thinker {
            builder = builder.reverse_thinker(thinker);
        }
        let checkpoint = reviewers::checkpoint(&self.config, &self.paths.workspace)?;
        if let Some(checkpoint) = checkpoint.or(parts.checkpoint) {
            builder = builder.checkpoint(checkpoint);
        }
        if let Some(keeper) = parts.always.and_then(|it| self.rule_writer(it)) {
            builder = builder.remember(keeper);
        }
        if let Some(delegate) = parts.delegate {
            builder = builder.delegate(delegate);
        }
        if let Some(store) = &parts.store {
            undo_retention::recover(&workspace, &**store)?;
            builder = builder
                .spool(store.clone())
                .sessions(Arc::new(KeptSessions::new(store.clone())))
                .people(Arc::new(Signers::new(&self.paths)));
            if holds(Setting::Allowances) && !parts.preview {
                let allowances = StoredAllowances::new(self.approval_queue(&**store));
                builder = builder.allowances(Arc::new(allowances));
            }
            if holds(Setting::Queue) && !parts.preview {
                let queue = self.queue_approver(&**store);
                let queue = match parts.before_queue {
                    Some(before) => before(queue),
                    None => queue,
                };
                builder = builder.approval_queue(queue);
            }
            // What is applied by a yes is looked up there, and nobody is asked.
            let answered = matches!(surface, Surface::Yes | Surface::Apply);
            if (holds(Setting::Queue) || answered) && !parts.preview {
                builder = builder.questions(self.approval_queue(&**store));
            }
        }
        // The tools of a hook stand for those of another agent: rules may name others.
        if !matches!(surface, Surface::Hook | Surface::Acp) {
            self.check_tool_names(&registry)?;
        }
        builder.build().map_err(Failure::usage)
    }

    /// The tools of the program, and what died in their sandboxes swept up.
    fn registry_of(
        &self,
        surface: Surface,
        store: Option<&Arc<dyn Store>>,
    ) -> Result<Arc<Registry>, Failure> {
        let jobs = match surface {
            // It ends with its call.
            Surface::Run
            | Surface::Feed
            | Surface::Resume
            | Surface::Undo
            | Surface::Check
            | Surface::Rehearsal
            | Surface::Plan
            | Surface::Yes
            | Surface::Apply => JobHome::Nowhere,
            Surface::Exec
            | Surface::Ticket
            | Surface::Hook
            | Surface::Acp
            | Surface::Mcp
            | Surface::Ask
            | Surface::Chat => JobHome::Here,
        };
        let sandboxes = self.sandboxes_with(&[], jobs)?;
        let Some(store) = store else {
            return self.registry_with(Arc::new(MemorySpool::default()), sandboxes);
        };
        shell::sweep(&sandboxes);
        let spool: Arc<dyn Spool> = store.clone();
        self.registry_with(spool, sandboxes)
    }

    /// A gate that can say what it would do, and keeps no record.
    pub fn judge(&self) -> Result<Gate, Failure> {
        self.gate(Surface::Check, GateParts::default())
    }

    /// The same for these tools.
    pub fn judge_with(&self, registry: Arc<Registry>) -> Result<Gate, Failure> {
        let parts = GateParts { registry: Some(registry), ..GateParts::default() };
        self.gate(Surface::Check, parts)
    }

    /// The gate that an undo passes: other tools, which no model is offered, and a person who has approved by
    /// typing the command.
    pub fn undo_gate(
        &self,
        store: &Arc<dyn Store>,
        tools: impl FnOnce(&Registry, &Workspace, &Sandboxes) -> Result<(), RegistryError>,
        person: Arc<dyn Approver>,
    ) -> Result<Gate, Failure> {
        let sandboxes = self.sandboxes(&[])?;
        let spool: Arc<dyn Spool> = Arc::new(MemorySpool::default());
        let registry = self.registry_with(spool, sandboxes.clone())?;
        let workspace = self.workspace_to_change(store.clone())?;
        tools(&registry, &workspace, &sandboxes).map_err(Failure::usage)?;
        let (registry, people) = (Some(registry), vec![person]);
        let parts = GateParts { registry, people, ..GateParts::new(store) };
        self.gate(Surface::Undo, parts)
    }

    /// The gate that a command passes: these sandboxes, and a `bash` that uses them.
    pub fn gate_to_execute<T: Tool>(
        &self,
        surface: Surface,
        sandboxes: Sandboxes,
        bash: impl FnOnce(Sandboxes, Files) -> T,
        parts: GateParts,
    ) -> Result<Gate, Failure> {
        let spool: Arc<dyn Spool> = match &parts.store {
            Some(store) => store.clone(),
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
}
