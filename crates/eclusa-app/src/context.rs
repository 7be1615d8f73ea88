//! Everything that a command works with: the place, the configuration, and the gate made of them.

use std::{
    io,
    path::Path,
    sync::{Arc, Once},
};

use eclusa::{
    AuditSink, Decision, Files, Hash, Mode, Redactor, Registry, Rule, Run, Scene, Spool, Workspace,
    policy::outright_denials, registry::Registered, spool::MemorySpool,
};
use eclusa_config::{Config, Layer};
use eclusa_tools::{JobHome, SandboxSettings, Sandboxes};

use crate::{
    config_layers::{self, layers, unusable},
    failure::Failure,
    global::Global,
    open_model::{SCRIPT, unknown_model},
    paths::{self, Paths},
    person,
    read_text::read_text,
    registry::{self, ProgramTools},
    screen::note,
    sessions_kept::COMMAND_LINE,
    shell, undo_retention,
};

/// Tools that are not there for every command, and can be ruled about all the same: those of whoever
/// undoes something, of a session with a model, and those of the demo.
const CONTEXTUAL_TOOLS: [&str; 6] = ["undo", "redo", "task", "echo", "note", "time"];

/// The place, and what was configured for it.
pub struct AppContext {
    /// Where things are.
    pub paths: Paths,
    /// What is configured.
    pub config: Config,
    /// The digest of every file that has a say in it, and of what the command line says.
    pub config_digest: Hash,
    /// When people are asked.
    pub mode: Mode,
    /// Decide, run nothing, ask nobody.
    pub dry_run: bool,
    /// Whether the small tools are there that the demo shows the gate with.
    pub example_tools: bool,
}

impl AppContext {
    /// Finds the place and reads its configuration.
    pub fn open(global: &Global) -> Result<AppContext, Failure> {
        AppContext::open_at(global, Paths::find(global)?)
    }

    /// Reads the configuration of a place.
    pub fn open_at(global: &Global, paths: Paths) -> Result<AppContext, Failure> {
        let layers = layers(&paths)?;
        AppContext::from_layers(global, paths, layers)
    }

    /// For commands that look at what is there or undo it, which a mistake in a file must not keep
    /// from working: where the configuration cannot be used, what is shipped holds, and why is told.
    pub fn open_anyway(global: &Global) -> Result<(AppContext, Option<Failure>), Failure> {
        match AppContext::open(global) {
            Ok(ctx) => Ok((ctx, None)),
            Err(why) => {
                let ctx = AppContext::from_layers(global, Paths::find(global)?, Vec::new())?;
                Ok((ctx, Some(why)))
            }
        }
    }

    fn from_layers(
        global: &Global,
        paths: Paths,
        mut layers: Vec<Layer>,
    ) -> Result<AppContext, Failure> {
        if let Some(mode) = global.mode {
            // As a layer, so that it cannot loosen what the administrator says either.
            layers.push(Layer::of_person("--mode", format!("mode = \"{mode}\"")));
        }
        let config_digest = config_layers::digest(&layers);
        let mut config = Config::load(&layers).map_err(unusable)?;
        if let Some(told) = config_layers::left_out(&config, &paths) {
            static TOLD: Once = Once::new();
            TOLD.call_once(|| note(&told));
        }
        if global.mode.is_some() {
            config.keep_administrators_modes();
        }
        if let Some(language) = config.language {
            eclusa_term::language::configure(language);
        }
        config.block_places(&paths.workspace, paths.out_of_reach());
        let (mode, dry_run, example_tools) = (config.mode, global.dry_run, global.example_tools);
        Ok(AppContext { mode, dry_run, example_tools, paths, config, config_digest })
    }

    /// Where this takes place, for descriptions.
    pub fn scene(&self) -> Scene {
        registry::scene(&self.paths)
    }

    /// The workspace, where changes become real and are undone. Nothing is made by naming it.
    pub fn workspace(&self) -> Result<Workspace, Failure> {
        let workspace = Workspace::named(&self.paths.workspace, self.paths.undo());
        let show = eclusa_tools::show_to_jobs(self.paths.undo(), self.config.blocked.clone());
        let workspace = workspace.map_err(Failure::failed)?.with_before(show);
        Ok(match paths::git_excludes() {
            Some(excludes) => workspace.with_excludes(&excludes),
            None => workspace,
        })
    }

    /// The same for whoever changes it: what is kept for undo stays within its bounds.
    pub fn workspace_to_change(&self, log: Arc<dyn AuditSink>) -> Result<Workspace, Failure> {
        Ok(undo_retention::within_bounds(self.workspace()?, self.config.keep, log))
    }

    /// The tools, to look at: nothing that was kept can be read with them.
    pub fn registry(&self) -> Result<Arc<Registry>, Failure> {
        self.registry_with(Arc::new(MemorySpool::default()), self.sandboxes(&[])?)
    }

    /// The tools. Long outputs are paged through in `spool`, and commands run in `sandboxes`.
    pub fn registry_with(
        &self,
        spool: Arc<dyn Spool>,
        sandboxes: Sandboxes,
    ) -> Result<Arc<Registry>, Failure> {
        let tools = ProgramTools {
            files: self.files()?,
            paths: &self.paths,
            config: &self.config,
            sandboxes,
            spool,
            examples: self.example_tools,
        };
        let registry = tools.registry()?;
        let (rules, no_delete) = self.denials();
        if !rules.is_empty() || no_delete {
            registry.hide(move |tool| denial(&rules, no_delete, tool).is_some());
        }
        Ok(registry)
    }

    /// What denies every call of a tool, if anything does: models are not offered it.
    pub fn denial(&self, tool: &Registered) -> Option<String> {
        let (rules, no_delete) = self.denials();
        denial(&rules, no_delete, tool)
    }

    /// The rules that deny whole tools, and whether deleting is switched off.
    fn denials(&self) -> (Vec<Rule>, bool) {
        let no_delete = self.config.effects.delete == Decision::Deny;
        (outright_denials(&self.config.rules), no_delete)
    }

    /// The files of the workspace, as tools reach them.
    pub fn files(&self) -> Result<Files, Failure> {
        Files::open(&self.paths.workspace, self.config.blocked.clone()).map_err(Failure::failed)
    }

    /// Where commands run. `hosts` are allowed besides those of the configuration.
    pub fn sandboxes(&self, hosts: &[String]) -> Result<Sandboxes, Failure> {
        self.sandboxes_with(hosts, JobHome::Here)
    }

    /// The same, with another home for what goes on after a call.
    pub fn sandboxes_with(&self, hosts: &[String], jobs: JobHome) -> Result<Sandboxes, Failure> {
        let settings = shell::settings(&self.paths, &self.config, hosts);
        shell::with_settings(SandboxSettings { jobs, ..settings })
    }

    /// The run that this command is.
    pub fn run(&self) -> Run {
        Run {
            mode: self.mode,
            dry_run: self.dry_run,
            principal: person::name().into(),
            session: COMMAND_LINE.into(),
            ..Run::default()
        }
    }

    /// What takes secrets out of whatever leaves.
    pub fn redactor(&self) -> Result<Redactor, Failure> {
        self.config.redact.redactor(|file| self.secret_file(file)).map_err(Failure::usage)
    }

    /// A file with kinds of secrets: its name is relative to the person's configuration.
    pub(crate) fn secret_file(&self, file: &str) -> io::Result<String> {
        let beside = self.paths.config.as_deref().and_then(Path::parent);
        read_text(&beside.unwrap_or(&self.paths.workspace).join(file))
    }

    /// A rule about a tool that is spelt otherwise would never apply (C19). The workspace's own
    /// file may know tools that this person does not have; that is only told.
    pub fn check_tool_names(&self, registry: &Registry) -> Result<(), Failure> {
        let project = format!("{}:", self.paths.project().display());
        let unknown = self.config.unknown_tools(registry).into_iter();
        // What takes back the calls of a tool is there while `eclusa undo` runs.
        let undoes = |name: &str| {
            let mut undoes = self.config.tools.iter().filter_map(|it| it.undo_tool());
            undoes.any(|it| it.name == name)
        };
        for unknown in unknown.filter(|it| !is_contextual(&it.name) && !undoes(&it.name)) {
            if !unknown.origin.starts_with(&project) {
                return Err(Failure::usage(unknown).hint("`eclusa tools` lists the tools"));
            }
            tracing::warn!("{unknown}");
        }
        for persona in &self.config.personas {
            let model = persona.model.as_deref().filter(|it| !it.starts_with(SCRIPT));
            if let Some(model) = model
                && let Err(near) = self.config.model(model)
            {
                let at =
                    Failure::usage(format!("{}: {}", persona.origin, unknown_model(model, near)));
                return Err(at.hint("`eclusa models` lists them"));
            }
        }
        Ok(())
    }
}

/// Tools that only some commands have, those of other agents among them.
fn is_contextual(tool: &str) -> bool {
    CONTEXTUAL_TOOLS.contains(&tool) || tool.starts_with("agent_") || tool.starts_with("agent.")
}

fn denial(rules: &[Rule], no_delete: bool, tool: &Registered) -> Option<String> {
    if no_delete && tool.facts().audit_operation == "delete" {
        return Some("`effects.delete`".to_owned());
    }
    let rule = rules.iter().find(|it| it.names_tool(tool.name(), tool.facts(), tool.server()))?;
    Some(format!("the rule at {}", rule.written_at()))
}
