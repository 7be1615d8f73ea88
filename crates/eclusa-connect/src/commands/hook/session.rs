//! The session of another agent: its workspace, its settings, and the gate for its calls.

use std::{
    env,
    path::{Path, PathBuf},
    sync::Arc,
};

use eclusa::{Approver, Delegate, Files, Gate, Registry, Run, approve::Said};
use eclusa_config::AgentShell;
use eclusa_store::Store;
use futures::future::BoxFuture;

use super::{Asking, open_calls::OpenCalls};
use crate::commands::{
    context::AppContext, gates::GateParts, global::Global, paths::Paths, surface::Surface,
};
use crate::{AgentSpec, HookEvent};

/// A session, as far as one hook of it knows.
pub(super) struct Session {
    pub(super) ctx: AppContext,
    pub(super) global: Global,
    pub(super) store: Store,
    pub(super) files: Files,
    pub(super) calls: OpenCalls,
    /// The conversation in our records.
    pub(super) conversation: String,
    /// The agent with its version, where that is known.
    pub(super) client: String,
    /// The root as the agent spells it.
    root: PathBuf,
}

impl Session {
    /// Opens the session of an event. The workspace is where the session was started, and never
    /// what a call names.
    pub(super) fn open(global: &Global, event: &HookEvent) -> Result<Session, String> {
        let root = root(event)?;
        if let Some(why) = crate::commands::agents::redirected(event.agent, &root) {
            return Err(why);
        }
        let said = |failure: crate::commands::failure::Failure| failure.lines().join("; ");
        let paths = Paths::find_from(global, &root).map_err(said)?;
        if paths.config.is_none() {
            // Rules that deny may be there.
            return Err("neither HOME nor XDG_CONFIG_HOME is set: no configuration is found".into());
        }
        let ctx = AppContext::open_at(global, paths).map_err(said)?;
        let store = ctx.store_for_one_call().map_err(said)?;
        let files = Files::open(&ctx.paths.workspace, ctx.config.blocked.clone());
        let files = files.map_err(|err| err.to_string())?;
        let client = match &event.version {
            Some(version) => format!("{} {version}", event.agent.name),
            None => event.agent.name.to_owned(),
        };
        Ok(Session {
            calls: OpenCalls::new(&ctx.paths, event),
            conversation: format!("{}:{}", event.agent.name, event.session),
            global: global.clone(),
            store,
            files,
            client,
            root,
            ctx,
        })
    }

    /// The gate for calls of this session, with these tools.
    pub(super) fn gate(
        &self,
        registry: Arc<Registry>,
        approvers: Vec<Arc<dyn Approver>>,
        delegate: Option<Arc<dyn Delegate>>,
        asking: &Asking,
    ) -> Result<Gate, String> {
        let said = |failure: crate::commands::failure::Failure| failure.lines().join("; ");
        let asking = asking.clone();
        let run = Run {
            conversation: self.conversation.as_str().into(),
            client: Some(self.client.as_str().into()),
            dry_run: false,
            ..self.ctx.run()
        };
        let parts = GateParts {
            registry: Some(registry),
            people: approvers,
            delegate,
            before_queue: Some(Box::new(move |queue| Arc::new(Queue { queue, asking }))),
            run: Some(run),
            ..GateParts::new(&self.store)
        };
        let gate = self.ctx.gate(Surface::Hook, parts).map_err(said)?;
        // An older program kept it in a file of its own.
        if let Some(how) = self.calls.old_taint() {
            let marked = gate.bring_from_outside(&how);
            marked.map_err(|err| format!("that text from outside came in is lost: {err}"))?;
        }
        Ok(gate)
    }

    /// The root as the agent spells it.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// True when shell commands run as the agent runs them, and not in our sandbox.
    pub(super) fn plain_shell(&self, agent: &AgentSpec) -> bool {
        self.ctx.config.agents.shell_of(agent.name) == AgentShell::Plain
    }

    /// A path as a tool of ours names it. Relative ones start where the agent stands.
    pub(super) fn path(&self, path: &str, directory: Option<&str>) -> String {
        path_in_workspace(&self.root, &self.ctx.paths.workspace, path, directory)
    }
}

/// A path as a tool of ours names it: below the workspace where it is, and as it stands otherwise.
/// `root` is where the session was started, as the agent spells it.
pub(in crate::commands) fn path_in_workspace(
    root: &Path,
    workspace: &Path,
    path: &str,
    directory: Option<&str>,
) -> String {
    let asked = Path::new(path);
    let asked = match directory {
        Some(directory) if asked.is_relative() => Path::new(directory).join(asked),
        _ => asked.to_owned(),
    };
    let canonical_root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let below = asked
        .strip_prefix(root)
        .ok()
        // The session may have been started below the workspace.
        .map(|it| canonical_root.join(it))
        .unwrap_or_else(|| asked.clone());
    match below.strip_prefix(workspace) {
        Ok(inside) if inside.as_os_str().is_empty() => ".".to_owned(),
        Ok(inside) => inside.to_string_lossy().into_owned(),
        Err(_) => asked.to_string_lossy().into_owned(),
    }
}

/// Where the session was started: what the agent says of itself, or where it runs its hooks.
pub(super) fn root(event: &HookEvent) -> Result<PathBuf, String> {
    let variable = event
        .agent
        .hooks
        .as_ref()
        .and_then(|it| it.root_variable)
        .and_then(env::var_os)
        .map(PathBuf::from);
    let named = variable.or_else(|| event.root.as_ref().map(PathBuf::from));
    match named.filter(|it| it.is_absolute() && it.is_dir()) {
        Some(root) => Ok(root),
        None => env::current_dir().map_err(|err| format!("the session has no directory: {err}")),
    }
}

/// The approval queue; while it waits there is more time.
struct Queue {
    queue: Arc<dyn Approver>,
    asking: Asking,
}

impl Approver for Queue {
    fn name(&self) -> &str {
        self.queue.name()
    }

    fn takes_several(&self) -> bool {
        self.queue.takes_several()
    }

    fn ask<'a>(
        &'a self,
        question: &'a eclusa::Question,
    ) -> BoxFuture<'a, Result<eclusa::Answer, eclusa::NotAsked>> {
        self.asking.begin();
        self.queue.ask(question)
    }

    fn submit<'a>(
        &'a self,
        question: &'a eclusa::Question,
        wait: bool,
    ) -> BoxFuture<'a, Result<Said, eclusa::NotAsked>> {
        self.asking.begin();
        self.queue.submit(question, wait)
    }

    fn withdraw(&self, question: &eclusa::Question) {
        self.queue.withdraw(question);
    }
}
