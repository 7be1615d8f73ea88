//! A call that another agent is about to make: judged by the same gate as our own.

use std::{
    env,
    sync::{Arc, Mutex, PoisonError},
};

use eclusa::{
    Answer, Approver, Decision, Incoming, Mode, NotAsked, OnNoApprover, Origin, PermissionClass,
    Question, Registration, Registry, Reply, ToolCall, call::Malformed,
};
use futures::future::BoxFuture;
use serde_json::Value;

use super::{
    Asking, agent_denials, delegated,
    open_calls::{OpenCall, digest},
    own_server,
    pre_images::DelegatedEdits,
    session::Session,
};
use crate::commands::{
    servers::gateway_lease::{is_held, parent},
    tickets::ExecTicket,
};
use crate::{EclusaCall, HookEvent, HookVerdict, MappedCall, server_name, shell_quoted};

/// Said of every call of a session that is closed.
const CLOSED: &str = "this session is closed: another hook or plugin put its own command in the \
                      place of one that eclusa had allowed. Take it out, and start a new session";

/// Texts longer than this are not repeated on the command line.
const MAX_SHOWN: usize = 4_000;

pub(super) async fn judge(
    session: &Session,
    event: &HookEvent,
    asking: &Asking,
) -> Result<HookVerdict, String> {
    match event.mapped_call() {
        // It passes the gate of our server, if that is what it is.
        MappedCall::OwnServer => match own_server::doubt(&session.ctx.paths.workspace) {
            None => Ok(HookVerdict::Allow { context: None }),
            Some(doubt) => refused(session, event, asking, &event.tool, doubt).await,
        },
        _ if session.calls.is_closed() => {
            refused(session, event, asking, &event.tool, CLOSED.to_owned()).await
        }
        MappedCall::Malformed(problem) => {
            refused(session, event, asking, &event.tool, problem).await
        }
        MappedCall::Internal(tool) => {
            let call = (tool.name().to_owned(), event.input.clone());
            plain(session, event, asking, call, delegated::internal_tool(tool)).await
        }
        MappedCall::Server { server, tool, args } => {
            let (name, registration) = delegated::server_tool(&server, &tool);
            let call = (name, args);
            match is_behind_the_gate(session, event, &server)
                && !is_denied(
                    session,
                    event,
                    asking,
                    &call,
                    delegated::server_tool(&server, &tool).1,
                )? {
                true => left_to_the_gateway(session, event),
                false => plain(session, event, asking, call, registration).await,
            }
        }
        MappedCall::Unknown { tool, args } => {
            let (name, registration) = delegated::unknown_tool(&tool);
            plain(session, event, asking, (name, args), registration).await
        }
        MappedCall::Eclusa(calls) => match calls.as_slice() {
            [EclusaCall { tool: "bash", args }] => shell(session, event, asking, args).await,
            calls => several(session, event, asking, calls).await,
        },
    }
}

/// Whether the agent itself has started this server behind a gateway of ours, which judges the call,
/// asks about it and has it on record. What stands in its settings now says nothing about that; a
/// gateway that runs as its child does.
fn is_behind_the_gate(session: &Session, event: &HookEvent, server: &str) -> bool {
    let started_by = parent(std::process::id());
    let in_shell = event.agent.hooks.as_ref().is_none_or(|it| it.in_shell);
    let agent = if in_shell { started_by.and_then(parent) } else { started_by };
    agent.is_some_and(|it| it > 1 && is_held(&session.ctx.paths, it, &server_name(server)))
}

/// Whether rules deny a call, which then needs no gateway to refuse it.
fn is_denied(
    session: &Session,
    event: &HookEvent,
    asking: &Asking,
    (name, args): &(String, Value),
    registration: Registration,
) -> Result<bool, String> {
    let registry = Arc::new(Registry::default());
    registry.register(registration).map_err(|err| err.to_string())?;
    let gate = session.gate(registry, Vec::new(), None, asking)?;
    let call = ToolCall::new(id(event), name.clone(), args.clone()).from(Origin::Hook);
    Ok(gate.check(call).map_or(true, |(_, verdict)| verdict.decision == Decision::Deny))
}

/// A call that a gateway of ours judges when it comes there.
fn left_to_the_gateway(session: &Session, event: &HookEvent) -> Result<HookVerdict, String> {
    let (tool, input) = (event.tool.clone(), digest(&event.input));
    let call = OpenCall { number: None, tool, input, ticket: false };
    session.calls.keep(&call).map_err(|err| format!("the call cannot be kept: {err}"))?;
    Ok(HookVerdict::Allow { context: None })
}

/// A call that is denied for what it is, and is on record.
async fn refused(
    session: &Session,
    event: &HookEvent,
    asking: &Asking,
    tool: &str,
    problem: String,
) -> Result<HookVerdict, String> {
    let tool = Some(tool.to_owned());
    let call = Malformed { id: id(event), tool, problem, origin: Origin::Hook };
    let gate = session.gate(Arc::new(Registry::default()), Vec::new(), None, asking)?;
    Ok(HookVerdict::Deny(gate.pass(call).await.content().into_owned()))
}

/// A call that the agent carries out by itself, where it may.
async fn plain(
    session: &Session,
    event: &HookEvent,
    asking: &Asking,
    (name, args): (String, Value),
    registration: Registration,
) -> Result<HookVerdict, String> {
    let passed = pass(session, event, asking, (name, args), registration).await?;
    verdict(session, event, passed)
}

/// Calls of our own tools, each of which must be allowed.
async fn several(
    session: &Session,
    event: &HookEvent,
    asking: &Asking,
    calls: &[EclusaCall],
) -> Result<HookVerdict, String> {
    session.calls.forget_pre_images();
    let mut last = HookVerdict::Deny("it names nothing to do".to_owned());
    let mut question = None;
    for EclusaCall { tool, args } in calls {
        let mut args = args.clone();
        let directory = event.directory.as_deref();
        match args.get_mut("path") {
            Some(Value::String(path)) => *path = session.path(path, directory),
            _ => {
                // Patches and searches without a place start where the agent stands.
                let here = session.path(".", directory);
                if matches!(*tool, "list" | "glob" | "grep")
                    && here != "."
                    && let Some(fields) = args.as_object_mut()
                {
                    fields.insert("path".to_owned(), here.into());
                } else if *tool == "apply_patch" && here != "." && here != "./" {
                    let (name, registration) = delegated::unknown_tool(&event.tool);
                    return plain(session, event, asking, (name, args), registration).await;
                }
            }
        }
        let max_size = session.ctx.config.max_file_size;
        let registration = delegated::eclusa_tool(tool, &session.files, max_size)
            .ok_or_else(|| format!("`{tool}` is not delegated"))?;
        let call = ((*tool).to_owned(), args);
        last = verdict(session, event, pass(session, event, asking, call, registration).await?)?;
        match &last {
            HookVerdict::Deny(_) => return Ok(last),
            HookVerdict::Ask(why) => question = Some(why.clone()),
            HookVerdict::Allow { .. } | HookVerdict::Rewrite { .. } => {}
        }
    }
    Ok(question.map_or(last, HookVerdict::Ask))
}

/// A shell command: what may run, runs in our sandbox, where its changes are judged.
async fn shell(
    session: &Session,
    event: &HookEvent,
    asking: &Asking,
    args: &Value,
) -> Result<HookVerdict, String> {
    let text = args.get("command").and_then(Value::as_str).unwrap_or_default();
    let staged = event.agent.hooks.as_ref().is_some_and(|it| it.can_rewrite)
        && !session.plain_shell(event.agent)
        && !agent_denials::may_concern(event.agent, session.root(), text);
    let directory = args.get("cwd").and_then(Value::as_str).unwrap_or(".");
    let directory = session.path(directory, event.directory.as_deref());
    let mut call = args.clone();
    if let Some(fields) = call.as_object_mut() {
        fields.insert("cwd".to_owned(), directory.clone().into());
    }
    let registration = match session.files.directory(&directory) {
        Ok(_) => delegated::shell(staged || is_ruled(session, event, asking, &call)?),
        Err(err) => {
            let problem = format!("the command would start outside the workspace: {err}");
            return refused(session, event, asking, "bash", problem).await;
        }
    };
    let call = ("bash".to_owned(), call);
    let passed = pass(session, event, asking, call, registration).await?;
    if !staged {
        return verdict(session, event, passed);
    }
    let JudgedCall { reply, asked, mode } = passed;
    if let Some(denied) = denied(&reply) {
        return Ok(denied);
    }
    let ticket = ExecTicket {
        client: session.client.clone(),
        conversation: session.conversation.clone(),
        call: id(event),
        text: text.to_owned(),
        directory,
        uses: reply.uses().into(),
        mode_in_force: mode.as_str().to_owned(),
        ..ExecTicket::new(&session.global, &session.ctx.paths.workspace)
    };
    ExecTicket::sweep(&session.ctx.paths.agents());
    let name = ticket
        .keep(&session.ctx.paths.agents())
        .map_err(|err| format!("the ticket cannot be kept: {err}"))?;
    let mut input = event.input.clone();
    if let Some(fields) = input.as_object_mut() {
        fields.insert("command".to_owned(), line(session, &name, text)?.into());
    }
    keep(session, event, &reply, &input, true)?;
    Ok(HookVerdict::Rewrite { input, context: None, ask: asked })
}

/// True when somebody's rule allows the command, and not the defaults alone.
fn is_ruled(
    session: &Session,
    event: &HookEvent,
    asking: &Asking,
    args: &Value,
) -> Result<bool, String> {
    let registry = Arc::new(Registry::default());
    registry.register(delegated::shell(true)).map_err(|err| err.to_string())?;
    let gate = session.gate(registry, Vec::new(), None, asking)?;
    let call = ToolCall::new(id(event), "bash", args.clone()).from(Origin::Hook);
    Ok(delegated::is_allowed_by_a_rule(&gate, call))
}

/// What the agent runs instead of the command. The command stands there to be read; the ticket
/// decides.
fn line(session: &Session, ticket: &str, text: &str) -> Result<String, String> {
    let program = env::current_exe().map_err(|err| format!("our own program is lost: {err}"))?;
    let program = program.to_str().ok_or("the path of our program is not UTF-8")?;
    let mut words = vec![shell_quoted(program), "exec".to_owned()];
    let elsewhere = session.global.state.is_some() || env::var_os("XDG_STATE_HOME").is_some();
    if let (true, Some(state)) = (elsewhere, session.ctx.paths.state()) {
        let state = state.to_str().ok_or("the path of the state is not UTF-8")?;
        words.extend(["--state".to_owned(), shell_quoted(state)]);
    }
    words.extend(["--ticket".to_owned(), ticket.to_owned()]);
    if text.len() <= MAX_SHOWN {
        words.extend(["--".to_owned(), shell_quoted(text)]);
    }
    Ok(words.join(" "))
}

/// A call that has passed the gate.
struct JudgedCall {
    reply: Reply,
    /// The question that the agent shall put to its person, if it shall.
    asked: Option<String>,
    /// The mode that it was judged in.
    mode: Mode,
}

/// Takes one call through the gate.
async fn pass(
    session: &Session,
    event: &HookEvent,
    asking: &Asking,
    (name, args): (String, Value),
    registration: Registration,
) -> Result<JudgedCall, String> {
    let registry = Arc::new(Registry::default());
    registry.register(registration).map_err(|err| err.to_string())?;
    let prompt = Arc::new(AgentPrompt::default());
    let attended = env::var_os("CLAUDE_CODE_SESSION_ATTENDED").is_none_or(|it| it != "0");
    let queued = session.ctx.config.on_no_approver == OnNoApprover::Queue;
    let approvers: Vec<Arc<dyn Approver>> = match event.can_ask(attended) && !queued {
        true => vec![prompt.clone()],
        false => Vec::new(),
    };
    let delegate = Arc::new(DelegatedEdits::new(session));
    let gate = session.gate(registry, approvers, Some(delegate), asking)?;
    let call = ToolCall::new(id(event), name, args).from(Origin::Hook);
    let reply = gate.pass(Incoming::Call(call)).await;
    let asked = prompt.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    Ok(JudgedCall { reply, asked, mode: gate.run().mode_in_force() })
}

fn verdict(
    session: &Session,
    event: &HookEvent,
    JudgedCall { reply, asked, .. }: JudgedCall,
) -> Result<HookVerdict, String> {
    if let Some(denied) = denied(&reply) {
        return Ok(denied);
    }
    keep(session, event, &reply, &event.input, false)?;
    Ok(match asked {
        Some(why) => HookVerdict::Ask(why),
        None => HookVerdict::Allow { context: None },
    })
}

fn denied(reply: &Reply) -> Option<HookVerdict> {
    let is_denied = reply.is_error() || reply.refused();
    is_denied.then(|| HookVerdict::Deny(reply.content().into_owned()))
}

/// Keeps for the event after the call what was allowed.
fn keep(
    session: &Session,
    event: &HookEvent,
    reply: &Reply,
    input: &Value,
    ticket: bool,
) -> Result<(), String> {
    let (number, input) = (reply.number(), digest(input));
    let call = OpenCall { number, tool: event.tool.clone(), input, ticket };
    session.calls.keep(&call).map_err(|err| format!("the call cannot be kept: {err}"))
}

fn id(event: &HookEvent) -> String {
    event.call.clone().unwrap_or_else(|| format!("{}-{}", event.agent.name, digest(&event.input)))
}

/// The agent's own prompt: it asks its person, after we have answered.
#[derive(Default)]
struct AgentPrompt(Mutex<Option<String>>);

impl Approver for AgentPrompt {
    fn name(&self) -> &str {
        "agent-prompt"
    }

    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Result<Answer, NotAsked>> {
        Box::pin(async move {
            // It can show a call, and an edit as it shows its own; not what a command changed.
            if question.preview.is_some() && question.class != PermissionClass::File {
                return Err(NotAsked::Unavailable("the agent cannot show changes".to_owned()));
            }
            let why = question.verdict.why().into_owned();
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(format!("eclusa: {why}"));
            Ok(Answer::Once)
        })
    }
}
