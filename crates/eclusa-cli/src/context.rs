//! Everything that a command works with: the place, the configuration, and the gate made of them.

use std::{io, path::Path, sync::Arc, time::Duration};

use eclusa::{
    Approver, AuditSink, Durability, Endpoint, Files, Gate, GateSetup, MemorySpool, Mode, Redactor,
    Registration, Registry, RegistryError, ReviewCache, Reviewer, Rules, Run, Scene, Spool, Tool,
    Workspace,
};
use eclusa_config::{Config, ConfigErrors, Layer};
use eclusa_store::{ApprovalQueue, Options, Store};
use eclusa_tools::{
    FileToolContext, PagedOutput, Todo, ToolSearch,
    diagnostics::Diagnostics,
    search::{Glob, Grep, List},
    web::{self, Fetcher, HostRules, WebFetch},
};

use crate::{
    args::Global,
    checks::Checks,
    command_tool::CommandTool,
    examples,
    failure::Failure,
    paths::{self, Paths},
    person,
    read_text::read_text,
    remember::RuleWriter,
    reviewers::{ExternalReviewer, ReviewerEndpoint, service::Service},
    rule_uses::RuleUses,
    secrets, shell,
    spawn::Program,
    terminal::Terminal,
    trust, undo_retention,
};

/// No limit that anybody waits for, and one that can be added to any clock.
pub(crate) const AS_LONG_AS_IT_TAKES: Duration = Duration::from_secs(365 * 86_400);

/// The place, and what was configured for it.
pub(crate) struct AppContext {
    pub(crate) paths: Paths,
    pub(crate) config: Config,
    pub(crate) mode: Mode,
    pub(crate) dry_run: bool,
}

impl AppContext {
    /// Finds the place and reads its configuration.
    pub(crate) fn open(global: &Global) -> Result<AppContext, Failure> {
        let paths = Paths::find(global)?;
        let mut layers = layers(&paths)?;
        if let Some(mode) = global.mode {
            // As a layer, so that it cannot loosen what the administrator says either.
            layers.push(Layer::of_person("--mode", format!("mode = \"{mode}\"")));
        }
        let mut config = Config::load(&layers).map_err(unusable)?;
        config.block_places(&paths.workspace, paths.out_of_reach());
        Ok(AppContext { mode: config.mode, dry_run: global.dry_run, paths, config })
    }

    /// Where this takes place, for descriptions.
    pub(crate) fn scene(&self) -> Scene {
        let name = self.paths.workspace.file_name().unwrap_or_default();
        Scene { workspace: name.to_string_lossy().into_owned(), ..Scene::default() }
    }

    /// Opens the log, and makes it if it is not there.
    pub(crate) fn store(&self) -> Result<Store, Failure> {
        let durability = match self.config.durability {
            Durability::PowerLoss => eclusa_store::Durability::PowerLoss,
            Durability::Crash => eclusa_store::Durability::Crash,
        };
        let options = Options { durability, ..Options::default() };
        let store = Store::open(&self.paths.store, options).map_err(Failure::failed)?;
        if let Err(err) = store.set_workspace(&self.paths.workspace.to_string_lossy()) {
            tracing::warn!("lists of approvals cannot say where this workspace is: {err}");
        }
        Ok(store)
    }

    /// The workspace, where changes become real and are undone. Nothing is made by naming it.
    pub(crate) fn workspace(&self) -> Result<Workspace, Failure> {
        let workspace = Workspace::named(&self.paths.workspace, self.paths.undo());
        let workspace = workspace.map_err(Failure::failed)?;
        Ok(match paths::git_excludes() {
            Some(excludes) => workspace.with_excludes(&excludes),
            None => workspace,
        })
    }

    /// The tools, to look at: nothing that was kept can be read with them.
    pub(crate) fn registry(&self) -> Result<Arc<Registry>, Failure> {
        self.registry_with(Arc::new(MemorySpool::default()))
    }

    /// The tools: the built-in ones, the examples, and those from configuration.
    fn registry_with(&self, spool: Arc<dyn Spool>) -> Result<Arc<Registry>, Failure> {
        let registry = Arc::new(Registry::default());
        let files = Files::open(&self.paths.workspace, self.config.blocked.clone());
        let files = files.map_err(Failure::failed)?;
        self.looking(&registry, &files).map_err(Failure::usage)?;
        self.built_in(&registry, files.clone(), spool).map_err(Failure::usage)?;
        shell::add(&registry, self, files.clone(), shell::sandboxes(self, &[])?)
            .map_err(Failure::usage)?;
        examples::add(&registry, files).map_err(Failure::usage)?;
        for settings in &self.config.tools {
            let tool = CommandTool::new(settings.clone(), self.paths.workspace.clone());
            let misnamed = |err| Failure::usage(format!("{}: {err}", settings.origin));
            // A name that the person gave wins, also over another name of a tool that is here.
            if let Some(other) = registry.get(&settings.name)
                && other.name() != settings.name
            {
                registry.remove(other.name()).map_err(misnamed)?;
            }
            registry.register(Registration::new(tool).replace()).map_err(misnamed)?;
        }
        Ok(registry)
    }

    /// The tools that look: for files, for text in them, at the web, at what checks say.
    fn looking(&self, registry: &Registry, files: &Files) -> Result<(), RegistryError> {
        registry.add(List::new(files.clone()))?;
        registry.add(Glob::new(files.clone()))?;
        registry.add(Grep::new(files.clone()))?;
        let web = &self.config.web;
        let limits = web::Limits {
            time: web.time,
            bytes: web.bytes,
            most_bytes: web.most_bytes,
            redirects: web.redirects,
            keep: web.keep,
        };
        // Which hosts, the rules say for each call and each redirect.
        registry.add(WebFetch::new(Fetcher::new(HostRules::every_host(), limits)))?;
        let checks = self.config.checks.clone();
        if checks.is_empty() {
            return Ok(());
        }
        let runner = Checks { workspace: self.paths.workspace.clone() };
        registry.add(Diagnostics::new(checks, files.clone(), runner))
    }

    fn built_in(
        &self,
        registry: &Arc<Registry>,
        files: Files,
        spool: Arc<dyn Spool>,
    ) -> Result<(), RegistryError> {
        FileToolContext::new(files).max_size(self.config.max_file_size).add_to(registry)?;
        registry.add(PagedOutput::new(spool))?;
        registry.add(ToolSearch::new(registry, self.scene()))?;
        registry.add(Todo::new())?;
        registry.register(Registration::new(eclusa_mcp::Approve).deferred())
    }

    /// A gate that can say what it would do, and keeps no record.
    pub(crate) fn judge(&self) -> Result<Gate, Failure> {
        let setup = self.setup(self.registry()?, Arc::new(eclusa::MemoryLog::default()))?;
        Ok(Gate::new(setup).for_run(self.run()))
    }

    /// The whole gate.
    pub(crate) fn gate(&self, store: &Store, terminal: Terminal) -> Result<Gate, Failure> {
        self.gate_with(store, terminal, Vec::new())
    }

    /// The whole gate, with reviewers besides those from configuration.
    pub(crate) fn gate_with(
        &self,
        store: &Store,
        terminal: Terminal,
        reviewers: Vec<Arc<dyn Reviewer>>,
    ) -> Result<Gate, Failure> {
        let setup = self.furnished(store, terminal, reviewers)?;
        Ok(Gate::new(setup).for_run(self.run()))
    }

    /// The whole setup, before it is closed: another door can add who else is asked.
    pub(crate) fn furnished(
        &self,
        store: &Store,
        terminal: Terminal,
        mut reviewers: Vec<Arc<dyn Reviewer>>,
    ) -> Result<GateSetup, Failure> {
        let spool: Arc<dyn Spool> = Arc::new(store.clone());
        let registry = self.registry_with(spool.clone())?;
        let mut setup = self.setup(registry, Arc::new(store.clone()))?;
        if let Some(workspace) = &setup.workspace {
            undo_retention::recover(workspace, store)?;
            shell::sweep(&shell::sandboxes(self, &[])?);
        }
        setup.spool = Some(spool);
        let queue = Arc::new(ApprovalQueue::new(store.clone()));
        setup.approval_queue = Some(queue.clone());
        setup.questions = Some(queue);
        let everywhere = terminal.everywhere();
        let terminal = Arc::new(terminal);
        setup.approvers = vec![terminal.clone()];
        setup.checkpoint = Some(terminal);
        setup.tally = Arc::new(RuleUses(self.paths.uses()));
        if let Some(file) = &self.paths.config {
            let writer = RuleWriter::new(self.paths.workspace_rules(), file.clone(), everywhere);
            setup.remember = Some(Arc::new(writer));
        }
        reviewers.extend(self.reviewers()?);
        setup.reviewers = reviewers;
        if let Some((time, size)) = self.config.review_cache {
            setup.review_cache = Some(ReviewCache::new(time, size));
        }
        Ok(setup)
    }

    /// The gate that an undo passes: the same rules and reviewers, but other tools, which no model
    /// is offered, and a person who has said yes by typing the command.
    pub(crate) fn gate_to_take_back(
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

    /// The gate that a command which a person typed passes: the same rules and reviewers, the
    /// person's own sandboxes, and those who speak for the person.
    pub(crate) fn gate_to_execute<T: Tool>(
        &self,
        store: &Store,
        bash: impl FnOnce(Files) -> T,
        people: Vec<Arc<dyn Approver>>,
    ) -> Result<Gate, Failure> {
        let registry = self.registry_with(Arc::new(store.clone()))?;
        let files = Files::open(&self.paths.workspace, self.config.blocked.clone());
        let bash = bash(files.map_err(Failure::failed)?);
        registry.register(Registration::new(bash).replace()).map_err(Failure::usage)?;
        let mut setup = self.setup(registry, Arc::new(store.clone()))?;
        undo_retention::recover(&self.workspace()?, store)?;
        setup.spool = Some(Arc::new(store.clone()));
        setup.approvers = people;
        setup.reviewers = self.reviewers()?;
        // Whoever typed the command can end it.
        setup.limits.time_cap = AS_LONG_AS_IT_TAKES;
        Ok(Gate::new(setup).for_run(self.run()))
    }

    /// The run that this command is.
    pub(crate) fn run(&self) -> Run {
        Run {
            mode: self.mode,
            dry_run: self.dry_run,
            principal: person::name().into(),
            conversation: "command-line".into(),
            ..Run::default()
        }
    }

    fn setup(
        &self,
        registry: Arc<Registry>,
        sink: Arc<dyn AuditSink>,
    ) -> Result<GateSetup, Failure> {
        let rules = Rules::new(self.config.rules.clone(), &self.paths.workspace)
            .with_effects(self.config.effects.clone());
        self.names_are_known(&registry)?;
        let mut setup = GateSetup::new(registry, rules, sink);
        setup.redactor = Arc::new(self.redactor()?);
        setup.on_no_approver = self.config.on_no_approver;
        setup.order = self.config.order;
        setup.limits = self.config.limits.clone();
        setup.args_in_log = self.config.args_in_log;
        setup.workspace = Some(self.workspace()?);
        setup.durability = self.config.commit_durability;
        Ok(setup)
    }

    /// What takes secrets out of whatever leaves.
    pub(crate) fn redactor(&self) -> Result<Redactor, Failure> {
        let beside = self.paths.config.as_deref().and_then(Path::parent);
        secrets::redactor(&self.config.redact, beside.unwrap_or(&self.paths.workspace))
    }

    /// A rule about a tool that is spelt otherwise would never apply (C19). The workspace's own
    /// file may know tools that this person does not have; that is only told.
    pub(crate) fn names_are_known(&self, registry: &Registry) -> Result<(), Failure> {
        let project = format!("{}:", self.paths.project().display());
        let unknown = self.config.unknown_tools(registry).into_iter();
        // Those are there for whoever takes something back, and can be ruled about all the same.
        for unknown in unknown.filter(|it| !["undo", "redo"].contains(&it.name.as_str())) {
            if !unknown.origin.starts_with(&project) {
                return Err(Failure::usage(unknown).hint("`eclusa tools` lists the tools"));
            }
            tracing::warn!("{unknown}");
        }
        Ok(())
    }

    fn reviewers(&self) -> Result<Vec<Arc<dyn Reviewer>>, Failure> {
        let mut reviewers: Vec<Arc<dyn Reviewer>> = Vec::new();
        for settings in &self.config.reviewers {
            let time = settings.time.unwrap_or(self.config.limits.review);
            let at = reached(&settings.reach, &self.paths.workspace, time)
                .map_err(|err| Failure::usage(format!("{}: {err}", settings.origin)))?;
            reviewers.push(Arc::new(ExternalReviewer { settings: settings.clone(), time, at }));
        }
        Ok(reviewers)
    }
}

fn reached(reach: &Endpoint, workspace: &Path, time: Duration) -> Result<ReviewerEndpoint, String> {
    Ok(match reach {
        Endpoint::Command(command) => ReviewerEndpoint::Command(Program {
            command: command.clone(),
            directory: workspace.to_owned(),
            env: Vec::new(),
            set: Vec::new(),
        }),
        Endpoint::Url { url, headers } => {
            let value = |(name, variable): (&String, &String)| {
                let value = std::env::var(variable).map_err(|_| {
                    format!("the variable `{variable}` for header `{name}` is not set")
                })?;
                Ok((name.clone(), value))
            };
            let headers = headers.iter().map(value).collect::<Result<Vec<_>, String>>()?;
            ReviewerEndpoint::Http(Service::new(url, &headers, time)?)
        }
    })
}

/// Every file that has a say, lowest first. A workspace's own file that nobody has trusted comes
/// last but for the administrator's: it can only tighten.
pub(crate) fn layers(paths: &Paths) -> Result<Vec<Layer>, Failure> {
    let name = |file: &Path| file.display().to_string();
    let mut layers = Vec::new();
    if let Some(file) = &paths.config {
        match read_text(file) {
            Ok(text) => layers.push(Layer::of_person(name(file), text)),
            Err(err) if err.kind() == io::ErrorKind::NotFound && !paths.config_named => {}
            Err(err) => return Err(unreadable(file, &err)),
        }
    }
    // What the person answered with "always" in this workspace.
    let file = paths.workspace_rules();
    if file.exists()
        && let Some(text) = if_there(&file)?
    {
        layers.push(Layer::of_person(name(&file), text));
    }
    let file = paths.project();
    let project = if_there(&file)?;
    let trusted = project.as_ref().is_some_and(|text| trust::is_given(paths, text));
    if let Some(text) = project.as_ref().filter(|_| trusted) {
        layers.push(Layer::of_person(name(&file), text));
    }
    for file in &paths.policies {
        let text = read_text(file).map_err(|err| unreadable(file, &err))?;
        layers.push(Layer::of_person(name(file), text));
    }
    if let Some(text) = project.filter(|_| !trusted) {
        layers.push(Layer::of_project(name(&file), text));
    }
    let file = Paths::administrator();
    if let Some(text) = if_there(file)? {
        layers.push(Layer::of_administrator(name(file), text));
    }
    Ok(layers)
}

/// What is in a file that need not be there.
fn if_there(file: &Path) -> Result<Option<String>, Failure> {
    match read_text(file) {
        Ok(text) => Ok(Some(text)),
        Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(err) => Err(unreadable(file, &err)),
    }
}

fn unreadable(file: &Path, err: &io::Error) -> Failure {
    Failure::usage(format!("cannot read the configuration `{}`: {err}", file.display()))
}

/// Everything that is wrong, one line each, and how to fix it.
pub(crate) fn unusable(errors: ConfigErrors) -> Failure {
    let lines: Vec<String> = errors.0.iter().map(ToString::to_string).collect();
    Failure::usage(format!("configuration error:\n  {}", lines.join("\n  ")))
        .hint("`man eclusa.toml` and docs/configuration.md describe every key")
}
