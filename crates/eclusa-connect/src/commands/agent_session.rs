//! A session of another agent, and one call of it on its way through the gate: what a hook and an
//! editor's agent have judged alike.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use eclusa::{
    Approver, Decision, Delegate, Files, Gate, Incoming, Mode, Origin, Registration, Registry,
    Reply, Run, ToolCall, call::Malformed, store::Store,
};

use eclusa_sandbox::Enforcement;
use serde_json::Value;

use super::{
    context::AppContext,
    failure::Failure,
    gates::{BeforeQueue, GateParts},
    global::Global,
    paths::Paths,
    raised_policy::RaisedPolicy,
    surface::Surface,
    tickets::ExecTicket,
};
use crate::{EclusaCall, MappedCall};

mod ahead;
pub(super) mod delegated;
mod ticketed;

pub(super) use ahead::{AheadProof, AheadTerms, PromptRoom};
pub(super) use ticketed::TicketedCommand;

/// A session of another agent.
pub(super) struct AgentSession {
    pub(super) ctx: AppContext,
    pub(super) store: Arc<dyn Store>,
    pub(super) files: Files,
    global: Global,
    surface: Surface,
    /// The conversation in our records.
    pub(super) name: String,
    /// The agent with its version, where that is known.
    client: String,
    /// The root as the agent spells it.
    root: PathBuf,
    /// The agent of the session that makes the calls, where it is not the one that its person talks to.
    pub(super) subagent: Option<String>,
    /// Why nothing of the agent runs now, if it is paused.
    pub(super) paused: Option<String>,
    /// Its calls are judged and recorded, and not held.
    pub(super) watched: bool,
    /// What brought text from outside into the session, as an older program kept it.
    pub(super) old_taint: Option<String>,
}

/// Who takes part in a call besides the gate.
#[derive(Default)]
pub(super) struct Participants {
    /// Who is asked, before the approval queue.
    pub(super) people: Vec<Arc<dyn Approver>>,
    /// Who makes the edits that are permitted.
    pub(super) delegate: Option<Arc<dyn Delegate>>,
    /// Stands before the approval queue.
    pub(super) before_queue: Option<BeforeQueue>,
    /// A rule of the agent's own that may be about the call: a person is asked.
    pub(super) own_rule: Option<String>,
}

/// One call of an agent, which may be several of ours.
pub(super) struct AgentCall<'a> {
    pub(super) session: &'a AgentSession,
    /// The agent's id for it.
    pub(super) id: String,
    /// The tool, by its name there.
    pub(super) tool: &'a str,
    /// Where relative paths start.
    pub(super) directory: Option<&'a str>,
    /// True when a shell command is to run in our sandbox, with a ticket.
    pub(super) in_sandbox: bool,
    /// How a shell command runs ahead of its question, found out where one would; `None`: it does not.
    pub(super) ahead: Option<&'a (dyn Fn() -> Option<AheadTerms> + Sync)>,
    /// Who takes part in it.
    pub(super) participants: &'a (dyn Fn() -> Participants + Sync),
}

/// What became of a call.
pub(super) enum AgentCallOutcome {
    /// It does not run; the model is told this.
    Denied(String),
    /// The agent carries it out: the numbers of our calls in the log.
    Allowed(Vec<u64>),
    /// It runs in our sandbox, or has run there.
    Ticketed(TicketedCommand),
}

/// What one call of a tool was answered and the mode that it was judged in, or why it is denied.
type Passage = Result<(Reply, Mode), String>;

/// One call of ours that was allowed.
fn allowed(reply: &Reply) -> AgentCallOutcome {
    AgentCallOutcome::Allowed(reply.number().into_iter().collect())
}

/// What a failure says, on one line.
pub(super) fn one_line(failure: Failure) -> String {
    failure.lines().join("; ")
}

impl AgentSession {
    /// Opens a session. The workspace is where the session was started, and never what a call names.
    pub(super) fn open(
        global: &Global,
        surface: Surface,
        root: &Path,
        name: String,
        client: String,
    ) -> Result<AgentSession, String> {
        let paths = Paths::find_from(global, root).map_err(one_line)?;
        if paths.config.is_none() {
            // Rules that deny may be there.
            return Err("neither HOME nor XDG_CONFIG_HOME is set: no configuration is found".into());
        }
        let ctx = AppContext::open_at(global, paths).map_err(one_line)?;
        let store = match surface {
            Surface::Hook => ctx.store_for_one_call(),
            _ => ctx.store(),
        };
        let files = Files::open(&ctx.paths.workspace, ctx.config.blocked.clone());
        Ok(AgentSession {
            store: store.map_err(one_line)?,
            files: files.map_err(|err| err.to_string())?,
            global: global.clone(),
            root: root.to_owned(),
            subagent: None,
            old_taint: None,
            paused: None,
            watched: false,
            surface,
            name,
            client,
            ctx,
        })
    }

    /// The root as the agent spells it.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// The gate for calls of this session, with this tool.
    pub(super) fn gate(
        &self,
        tool: Option<Registration>,
        participants: Participants,
    ) -> Result<Gate, String> {
        let registry = Registry::default();
        if let Some(tool) = tool {
            registry.register(tool).map_err(|err| err.to_string())?;
        }
        let run = Run {
            session: self.name.as_str().into(),
            client: Some(self.client.as_str().into()),
            task: self.subagent.as_deref().map(Into::into),
            dry_run: false,
            watched: self.watched,
            ..self.ctx.run()
        };
        let parts = GateParts {
            registry: Some(Arc::new(registry)),
            people: participants.people,
            delegate: participants.delegate,
            before_queue: participants.before_queue,
            run: Some(run),
            ..GateParts::new(&self.store)
        };
        let gate = self.ctx.gate(self.surface, parts).map_err(one_line)?;
        if let Some(how) = &self.old_taint {
            let marked = gate.mark_tainted(how);
            marked.map_err(|err| format!("that text from outside came in is lost: {err}"))?;
        }
        if let Some(why) = &self.paused {
            RaisedPolicy::new(&gate).denied("pause", why).install(&gate);
        } else if let Some(why) = &participants.own_rule {
            let mode = gate.run().mode_in_force();
            RaisedPolicy::new(&gate).asked(mode, "agent", why).install(&gate);
        }
        Ok(gate)
    }

    /// Whether a command that is let run has a sandbox to run in.
    fn can_hold_commands(&self) -> Result<bool, String> {
        if eclusa_sandbox::surely_holds_something() {
            return Ok(true);
        }
        let sandboxes = self.ctx.sandboxes(&[]).map_err(one_line)?;
        Ok(sandboxes.capabilities().enforcement() != Enforcement::None)
    }

    /// A path as a tool of ours names it: below the workspace where it is, and as it stands
    /// otherwise. Relative ones start in `directory`.
    pub(super) fn path(&self, path: &str, directory: Option<&str>) -> String {
        let asked = match directory {
            Some(directory) => Path::new(directory).join(path),
            None => PathBuf::from(path),
        };
        let canonical_root = self.root.canonicalize().unwrap_or_else(|_| self.root.clone());
        let below = asked
            .strip_prefix(&self.root)
            .ok()
            // The session may have been started below the workspace.
            .map(|it| canonical_root.join(it))
            .unwrap_or_else(|| asked.clone());
        match below.strip_prefix(&self.ctx.paths.workspace) {
            Ok(inside) if inside.as_os_str().is_empty() => ".".to_owned(),
            Ok(inside) => inside.to_string_lossy().into_owned(),
            Err(_) => asked.to_string_lossy().into_owned(),
        }
    }
}

impl AgentCall<'_> {
    /// Judges the call. The error says why it could not be judged: a denial.
    pub(super) async fn judge(&self, call: MappedCall) -> Result<AgentCallOutcome, String> {
        match call {
            MappedCall::Eclusa(calls) => match calls.as_slice() {
                [EclusaCall { tool: "bash", args }] => self.shell(args).await,
                calls => self.each(calls).await,
            },
            MappedCall::Unknown { tool, args } => self.unknown(&tool, args).await,
            MappedCall::Malformed(problem) => self.refuse(self.tool, problem).await,
            MappedCall::Server { .. } | MappedCall::Internal(_) | MappedCall::OwnServer { .. } => {
                Err("it is not a request of this protocol".to_owned())
            }
        }
    }

    /// Calls of our own tools, each of which must be allowed.
    async fn each(&self, calls: &[EclusaCall]) -> Result<AgentCallOutcome, String> {
        let here = self.session.path(".", self.directory);
        let mut numbers = Vec::new();
        for EclusaCall { tool, args } in calls {
            if *tool == "bash" {
                match self.shell(args).await? {
                    AgentCallOutcome::Allowed(more) => numbers.extend(more),
                    denied => return Ok(denied),
                }
                continue;
            }
            let mut args = args.clone();
            match (*tool, args.get_mut("path")) {
                (_, Some(Value::String(path))) => *path = self.session.path(path, self.directory),
                // Its files are named from where the agent stands, which is not where we read them.
                ("apply_patch", _) if here != "." => return self.unknown(self.tool, args).await,
                ("list" | "glob" | "grep", _) if here != "." => {
                    if let Some(fields) = args.as_object_mut() {
                        fields.insert("path".to_owned(), here.clone().into());
                    }
                }
                _ => {}
            }
            let max_size = self.session.ctx.config.max_file_size;
            let registration = delegated::eclusa_tool(tool, &self.session.files, max_size)
                .ok_or_else(|| format!("`{tool}` is not delegated"))?;
            match self.pass((*tool).to_owned(), args, registration).await? {
                Err(why) => return Ok(AgentCallOutcome::Denied(why)),
                Ok((reply, _)) => numbers.extend(reply.number()),
            }
        }
        Ok(match calls.is_empty() {
            true => AgentCallOutcome::Denied("it names nothing to do".to_owned()),
            false => AgentCallOutcome::Allowed(numbers),
        })
    }

    /// A shell command: one that may run in our sandbox gets a ticket for it.
    async fn shell(&self, args: &Value) -> Result<AgentCallOutcome, String> {
        let text = |name: &str| args.get(name).and_then(Value::as_str);
        let directory = self.session.path(text("cwd").unwrap_or("."), self.directory);
        if let Err(err) = self.session.files.directory(&directory) {
            let problem = format!("the command would start outside the workspace: {err}");
            return self.refuse("bash", problem).await;
        }
        if self.in_sandbox && !self.session.can_hold_commands()? {
            let problem = "no command runs here: this machine lacks every part of a sandbox \
                           (`eclusa doctor` says why)";
            return self.refuse("bash", problem.to_owned()).await;
        }
        let mut call = args.clone();
        if let Some(fields) = call.as_object_mut() {
            fields.insert("cwd".to_owned(), directory.clone().into());
        }
        let background = call.get("background").and_then(Value::as_bool) == Some(true);
        if let Some(terms) = self.ahead.filter(|_| self.in_sandbox && !background)
            && let Some(outcome) = self.run_ahead(terms, &call, &directory).await?
        {
            return Ok(outcome);
        }
        let registration = delegated::shell(self.in_sandbox || self.is_ruled(&call)?);
        if self.session.watched {
            return self.alone("bash".to_owned(), call, registration).await;
        }
        let (reply, mode) = match self.pass("bash".to_owned(), call, registration).await? {
            Err(why) => return Ok(AgentCallOutcome::Denied(why)),
            Ok((reply, _)) if !self.in_sandbox => return Ok(allowed(&reply)),
            Ok(passed) => passed,
        };
        let uses = reply.uses();
        let files = uses.files.clone().filter(|_| uses.approved);
        let ticket = ExecTicket { files, uses: uses.into(), ..self.ticket(args, &directory, mode) };
        let command = TicketedCommand::new(self.session, &ticket, reply.number(), None)?;
        Ok(AgentCallOutcome::Ticketed(command))
    }

    /// True when somebody's rule allows the command, and not the defaults alone, which rest on the
    /// sandbox.
    fn is_ruled(&self, args: &Value) -> Result<bool, String> {
        let gate = self.gate(Some(delegated::shell(true)))?;
        let call = self.call("bash".to_owned(), args.clone());
        Ok(delegated::is_allowed_by_a_rule(&gate, call))
    }

    /// True when rules deny a call.
    pub(super) fn is_denied(
        &self,
        name: &str,
        args: &Value,
        registration: Registration,
    ) -> Result<bool, String> {
        let gate = self.gate(Some(registration))?;
        let checked = gate.check(self.call(name.to_owned(), args.clone()));
        Ok(checked.map_or(true, |(_, verdict)| verdict.decision == Decision::Deny))
    }

    /// A call that is denied for what it is, and is on record.
    pub(super) async fn refuse(
        &self,
        tool: &str,
        problem: String,
    ) -> Result<AgentCallOutcome, String> {
        let tool = Some(tool.to_owned());
        let call = Malformed { id: self.id.clone(), tool, problem, origin: Origin::Hook };
        let reply = self.gate(None)?.pass(call).await;
        Ok(AgentCallOutcome::Denied(reply.content().into_owned()))
    }

    /// A tool that nobody knows.
    async fn unknown(&self, tool: &str, args: Value) -> Result<AgentCallOutcome, String> {
        let (name, registration) = delegated::unknown_tool(tool);
        self.alone(name, args, registration).await
    }

    /// One call of a tool, which the agent carries out by itself where it may.
    pub(super) async fn alone(
        &self,
        name: String,
        args: Value,
        registration: Registration,
    ) -> Result<AgentCallOutcome, String> {
        Ok(match self.pass(name, args, registration).await? {
            Err(why) => AgentCallOutcome::Denied(why),
            Ok((reply, _)) => allowed(&reply),
        })
    }

    /// Takes one call of a tool through the gate.
    async fn pass(
        &self,
        name: String,
        args: Value,
        registration: Registration,
    ) -> Result<Passage, String> {
        let gate = self.gate(Some(registration))?;
        let reply = gate.pass(Incoming::Call(self.call(name, args))).await;
        Ok(match reply.is_error() || reply.refused() {
            true => Err(reply.content().into_owned()),
            false => Ok((reply, gate.run().mode_in_force())),
        })
    }

    fn call(&self, name: String, args: Value) -> ToolCall {
        ToolCall::new(self.id.clone(), name, args).from(Origin::Hook)
    }

    fn gate(&self, tool: Option<Registration>) -> Result<Gate, String> {
        self.session.gate(tool, (self.participants)())
    }
}
