//! A session of an agent in an editor: its workspace, and the gate for what it asks.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use eclusa::{
    Changes, Delegate, DelegateError, Files, Gate, Incoming, Mode, Origin, Registration, Registry,
    Reply, Run, ToolCall, call::Malformed,
};
use eclusa_store::Store;
use serde_json::{Value, json};

use super::editor::{EditorApprover, EditorLink};
use crate::commands::{
    context::AppContext,
    failure::Failure,
    gates::GateParts,
    global::Global,
    hook::{
        delegated,
        pre_images::{self, PreImages},
        session::path_in_workspace,
    },
    paths::Paths,
    surface::Surface,
    tickets::ExecTicket,
};
use crate::{EclusaCall, MappedCall};

/// What became of a request.
pub(super) enum Judgement {
    /// Not to be done, and why.
    Denied(String),
    /// May be done by whoever it is for.
    Allowed,
    /// May be done with these parameters instead.
    Rewritten(Value),
}

/// A session.
pub(super) struct AcpSession {
    ctx: AppContext,
    global: Global,
    store: Store,
    files: Files,
    conversation: String,
    client: String,
    /// The root as the editor spells it.
    root: PathBuf,
    editor: Arc<EditorLink>,
    edits: Arc<OpenEdits>,
    /// The calls in the log that a call of the agent is, while it is open.
    numbers: Mutex<BTreeMap<String, Vec<u64>>>,
}

/// Edits that were allowed and are not made yet: what undoing them needs, by the number of the call.
struct OpenEdits {
    files: Files,
    max_size: u64,
    open: Mutex<BTreeMap<u64, PreImages>>,
}

impl OpenEdits {
    fn open(&self) -> MutexGuard<'_, BTreeMap<u64, PreImages>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Delegate for OpenEdits {
    fn hand_over(&self, call: u64, changes: &Changes) -> Result<(), DelegateError> {
        let kept = PreImages::take(&self.files, self.max_size, call, changes);
        self.open().insert(call, kept.map_err(|err| err.to_string())?);
        Ok(())
    }
}

fn said(failure: Failure) -> String {
    failure.lines().join("; ")
}

impl AcpSession {
    /// Opens a session in the directory that the editor names.
    pub(super) fn open(
        global: &Global,
        root: &Path,
        session: &str,
        agent: Option<String>,
        editor: Arc<EditorLink>,
    ) -> Result<AcpSession, String> {
        let paths = Paths::find_from(global, root).map_err(said)?;
        let ctx = AppContext::open_at(global, paths).map_err(said)?;
        let store = ctx.store().map_err(said)?;
        let files = Files::open(&ctx.paths.workspace, ctx.config.blocked.clone());
        let files = files.map_err(|err| err.to_string())?;
        let (max_size, open) = (ctx.config.max_file_size, Mutex::default());
        let client = agent.unwrap_or_else(|| "agent".to_owned());
        Ok(AcpSession {
            conversation: format!("acp:{session}"),
            edits: Arc::new(OpenEdits { files: files.clone(), max_size, open }),
            global: global.clone(),
            root: root.to_owned(),
            numbers: Mutex::default(),
            editor,
            client,
            store,
            files,
            ctx,
        })
    }

    /// Judges what an agent asks for. An error while judging is a denial.
    pub(super) async fn judge(&self, method: &str, call: MappedCall, id: &str) -> Judgement {
        let judged = match call {
            MappedCall::Eclusa(calls) => match calls.as_slice() {
                [EclusaCall { tool: "bash", args }] => {
                    self.shell(id, args, method == "terminal/create").await
                }
                calls => self.several(id, calls).await,
            },
            MappedCall::Unknown { tool, args } => {
                let (name, registration) = delegated::unknown_tool(&tool);
                self.pass(id, (name, args), registration).await.map(|_| Judgement::Allowed)
            }
            MappedCall::Malformed(problem) => Err(self.malformed(id, problem).await),
            MappedCall::Server { .. } | MappedCall::Internal(_) | MappedCall::OwnServer => {
                Err("it is not a request of this protocol".to_owned())
            }
        };
        judged.unwrap_or_else(Judgement::Denied)
    }

    async fn several(&self, id: &str, calls: &[EclusaCall]) -> Result<Judgement, String> {
        for EclusaCall { tool, args } in calls {
            let mut args = args.clone();
            if let Some(Value::String(path)) = args.get_mut("path") {
                *path = self.path(path);
            }
            let registration =
                delegated::eclusa_tool(tool, &self.files, self.ctx.config.max_file_size)
                    .ok_or_else(|| format!("`{tool}` is not delegated"))?;
            self.pass(id, ((*tool).to_owned(), args), registration).await?;
        }
        Ok(Judgement::Allowed)
    }

    /// A command. In a terminal of the editor it is run by our sandbox; one that the agent runs by
    /// itself rests on rules and people alone.
    async fn shell(&self, id: &str, args: &Value, terminal: bool) -> Result<Judgement, String> {
        let text = args.get("command").and_then(Value::as_str).unwrap_or_default();
        let directory = args.get("cwd").and_then(Value::as_str).unwrap_or(".");
        let directory = self.path(directory);
        if let Err(err) = self.files.directory(&directory) {
            let problem = format!("the command would start outside the workspace: {err}");
            return Err(self.malformed(id, problem).await);
        }
        let call = json!({"command": text, "cwd": directory});
        let staged = terminal || self.is_ruled(id, &call)?;
        let call = ("bash".to_owned(), call);
        let (reply, mode) = self.pass(id, call, delegated::shell(staged)).await?;
        if !terminal {
            return Ok(Judgement::Allowed);
        }
        let ticket = ExecTicket {
            client: self.client.clone(),
            conversation: self.conversation.clone(),
            call: id.to_owned(),
            text: text.to_owned(),
            directory,
            uses: reply.uses().into(),
            mode_in_force: mode.as_str().to_owned(),
            ..ExecTicket::new(&self.global, &self.ctx.paths.workspace)
        };
        ExecTicket::sweep(&self.ctx.paths.agents());
        let name = ticket.keep(&self.ctx.paths.agents());
        let name = name.map_err(|err| format!("the ticket cannot be kept: {err}"))?;
        let program = std::env::current_exe().map_err(|err| err.to_string())?;
        let mut words = vec!["exec".to_owned()];
        if let Some(state) = self.ctx.paths.state() {
            words.extend(["--state".to_owned(), state.to_string_lossy().into_owned()]);
        }
        words.extend(["--ticket".to_owned(), name, "--".to_owned(), text.to_owned()]);
        let session = self.conversation.strip_prefix("acp:").unwrap_or_default();
        Ok(Judgement::Rewritten(json!({
            "sessionId": session,
            "command": program.to_string_lossy(),
            "args": words,
            "cwd": self.root,
        })))
    }

    /// True when somebody's rule allows the command, and not the defaults alone, which rest on the
    /// sandbox.
    fn is_ruled(&self, id: &str, args: &Value) -> Result<bool, String> {
        let registry = Arc::new(Registry::default());
        registry.register(delegated::shell(true)).map_err(|err| err.to_string())?;
        let call = ToolCall::new(id, "bash", args.clone()).from(Origin::Hook);
        Ok(delegated::is_allowed_by_a_rule(&self.gate(registry)?, call))
    }

    async fn malformed(&self, id: &str, problem: String) -> String {
        let call = Malformed { id: id.to_owned(), tool: None, problem, origin: Origin::Hook };
        match self.gate(Arc::new(Registry::default())) {
            Ok(gate) => gate.pass(call).await.content().into_owned(),
            Err(why) => why,
        }
    }

    /// Takes one call through the gate, and says in which mode. The error is the denial.
    async fn pass(
        &self,
        id: &str,
        (name, args): (String, Value),
        registration: Registration,
    ) -> Result<(Reply, Mode), String> {
        let registry = Arc::new(Registry::default());
        registry.register(registration).map_err(|err| err.to_string())?;
        let gate = self.gate(registry)?;
        let call = ToolCall::new(id, name, args).from(Origin::Hook);
        let reply = gate.pass(Incoming::Call(call)).await;
        if reply.is_error() || reply.refused() {
            return Err(reply.content().into_owned());
        }
        if let Some(number) = reply.number() {
            let mut numbers = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
            numbers.entry(id.to_owned()).or_default().push(number);
        }
        Ok((reply, gate.run().mode_in_force()))
    }

    fn gate(&self, registry: Arc<Registry>) -> Result<Gate, String> {
        let run = Run {
            conversation: self.conversation.as_str().into(),
            client: Some(self.client.as_str().into()),
            dry_run: false,
            ..self.ctx.run()
        };
        let parts = GateParts {
            registry: Some(registry),
            people: vec![Arc::new(EditorApprover(self.editor.clone()))],
            delegate: Some(self.edits.clone()),
            run: Some(run),
            ..GateParts::new(&self.store)
        };
        self.ctx.gate(Surface::Acp, parts).map_err(said)
    }

    fn path(&self, path: &str) -> String {
        path_in_workspace(&self.root, &self.ctx.paths.workspace, path, None)
    }

    /// Has the edits of a call be undoable, which are made now.
    pub(super) fn adopt(&self, id: &str) -> Result<Vec<u64>, String> {
        let numbers = self.numbers.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
        let mut open = self.edits.open();
        let made = numbers.into_iter().flatten().filter_map(|it| open.remove(&it)).collect();
        drop(open);
        pre_images::adopt_all(&self.ctx, &self.store, &self.files, made)
    }

    /// A call of the agent that is over: its edits can be undone. One that nobody was asked about
    /// is on record as such.
    pub(super) async fn ended(&self, id: &str, title: &str, failed: bool, judged: bool) {
        let undo = self.adopt(id);
        let outcome = if judged { "ended" } else { "unasked" };
        let args = json!({
            "tool": title, "outcome": outcome, "failed": failed,
            "undo": undo.as_ref().ok().filter(|it| !it.is_empty()),
            "not_undoable": undo.as_ref().err(),
        });
        let registration = delegated::result(String::new());
        // What cannot be recorded was told when the next call was refused.
        let _ = self.pass(id, ("agent_result".to_owned(), args), registration).await;
    }
}
