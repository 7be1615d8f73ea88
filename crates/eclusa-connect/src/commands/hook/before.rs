//! A call that another agent is about to make: judged by the same gate as our own.

use std::{
    env,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use eclusa::{
    Answer, Approver, NotAsked, OnNoApprover, PermissionClass, Question, approve::QuestionAbout,
    one_line,
};
use eclusa_config::AgentShell;
use futures::future::BoxFuture;
use serde_json::Value;

use super::{
    PersonAsked, agent_denials, ahead,
    allowed_calls::{AllowedCall, digest},
    own_server,
    pre_images::DelegatedEdits,
    session::HookSession,
};
use crate::commands::{
    agent_session::{AgentCall, AgentCallOutcome, Participants, delegated},
    servers::gateway_lease::{is_held, parent},
    tickets::ExecTicket,
};
use crate::{HookEvent, HookVerdict, MappedCall, agents::RewrittenAsk, server_name};

/// Said of every call of a session that is closed.
const CLOSED: &str = "this session is closed: another hook or plugin put its own command in the \
                      place of one that eclusa had allowed. Take it out, and start a new session";

pub(super) async fn judge(
    session: &HookSession,
    event: &HookEvent,
    asking: &PersonAsked,
) -> Result<HookVerdict, String> {
    let mapped = event.mapped_call();
    let prompt = Arc::new(AgentPrompt::default());
    let shell = mapped.shell_command();
    let in_sandbox = shell.is_some() && runs_in_sandbox(session, event);
    let asks = agent_asks(session, event, in_sandbox);
    // What the agent runs by itself its own rules see.
    let rewritten = shell.filter(|_| in_sandbox);
    let own_rule =
        rewritten.and_then(|it| agent_denials::concern(event.agent, session.agent.root(), it));
    let participants = || Participants {
        own_rule: own_rule.clone(),
        people: if asks { vec![prompt.clone()] } else { Vec::new() },
        delegate: Some(Arc::new(DelegatedEdits::new(session))),
        ..session.participants(asking)
    };
    let is_shell = shell.is_some();
    let may_run_ahead = in_sandbox && !is_queued(session) && ahead::asks(event, is_attended());
    let time = if may_run_ahead { ahead::time(session, event) } else { Duration::ZERO };
    let terms = || ahead::terms(session, event);
    let call = AgentCall {
        session: &session.agent,
        id: id(event),
        tool: &event.tool,
        directory: event.directory.as_deref(),
        in_sandbox,
        ahead: if time.is_zero() { None } else { Some(&terms) },
        participants: &participants,
    };
    if is_shell {
        ahead::end_prompts(session, Some(event)).await?;
    }
    ahead::forget_marks(session, event);
    asking.allow(time);
    let outcome = match mapped {
        // Whatever it is, and whoever would judge it.
        _ if session.agent.paused.is_some() => {
            let (name, registration) = delegated::unknown_tool(&event.tool);
            call.alone(name, event.input.clone(), registration).await?
        }
        // It passes the gate of our server, if that is what it is.
        MappedCall::OwnServer { tool } => {
            match own_server::doubt(&session.agent, event.agent, &tool) {
                None => return Ok(HookVerdict::Allow { context: None }),
                Some(doubt) => call.refuse(&event.tool, doubt).await?,
            }
        }
        _ if names_ticket(session, event) => {
            let why = "it names a ticket, which only the agent may run";
            call.refuse(&event.tool, why.to_owned()).await?
        }
        _ if session.calls.is_closed() => call.refuse(&event.tool, CLOSED.to_owned()).await?,
        MappedCall::Internal(tool) => {
            let registration = delegated::internal_tool(tool);
            call.alone(tool.name().to_owned(), event.input.clone(), registration).await?
        }
        MappedCall::Server { server, .. } if own_server::begins_like_ours(&server) => {
            let server = one_line(&server);
            let why = format!(
                "the server `{server}` is not eclusa, and its name begins so: a person renames it"
            );
            call.refuse(&event.tool, why).await?
        }
        MappedCall::Server { server, tool, args } => {
            let (name, registration) = delegated::server_tool(&server, &tool);
            let again = delegated::server_tool(&server, &tool).1;
            if is_behind_the_gate(session, event, &server)
                && !call.is_denied(&name, &args, again)?
            {
                keep(session, event, None, &event.input, false)?;
                return Ok(HookVerdict::Allow { context: None });
            }
            call.alone(name, args, registration).await?
        }
        mapped => {
            if !is_shell {
                session.calls.forget_pre_images();
            }
            call.judge(mapped).await?
        }
    };
    let ask = prompt.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    match outcome {
        AgentCallOutcome::Denied(why) => Ok(HookVerdict::Deny(why)),
        AgentCallOutcome::Allowed(numbers) => {
            keep(session, event, numbers.last().copied(), &event.input, false)?;
            Ok(ask.map_or(HookVerdict::Allow { context: None }, HookVerdict::Ask))
        }
        AgentCallOutcome::Ticketed(command) => {
            let (line, asks) = ahead::asking(session, event, &command)?;
            let mut input = event.input.clone();
            if let Some(fields) = input.as_object_mut() {
                fields.insert("command".to_owned(), line.into());
            }
            keep(session, event, command.number, &input, true)?;
            Ok(HookVerdict::Rewrite { input, context: None, ask: asks.or(ask) })
        }
    }
}

/// Lets a call on that the first hook has allowed in exactly this form, and no other.
pub(super) fn confirm(session: &HookSession, event: &HookEvent) -> HookVerdict {
    let allowed = match event.mapped_call() {
        MappedCall::OwnServer { tool } => {
            own_server::doubt(&session.agent, event.agent, &tool).is_none()
        }
        _ => session.calls.is_allowed(&event.tool),
    };
    match allowed {
        true => ahead::second(session, event).unwrap_or(HookVerdict::Allow { context: None }),
        false => HookVerdict::Deny(
            "eclusa: the hook that judges this call gave no answer, so it is refused; make the call \
             again"
                .to_owned(),
        ),
    }
}

/// True when the agent itself asks its person what we would ask.
fn agent_asks(session: &HookSession, event: &HookEvent, in_sandbox: bool) -> bool {
    let shows_it = !in_sandbox || ahead::road(event) == RewrittenAsk::Comments;
    can_ask(session, event) && shows_it
}

/// True when somebody sits in front of the agent whom it asks.
fn can_ask(session: &HookSession, event: &HookEvent) -> bool {
    event.can_ask(is_attended()) && !is_queued(session)
}

/// True when questions wait in the queue.
fn is_queued(session: &HookSession) -> bool {
    session.agent.ctx.config.on_no_approver == OnNoApprover::Queue
}

/// True when a call, as the model wrote it, names a ticket that is still good.
fn names_ticket(session: &HookSession, event: &HookEvent) -> bool {
    ExecTicket::is_named_in(&session.agent.ctx.paths.agents(), &event.input.to_string())
}

/// Whether a person sits in front of the agent. Claude Code says no of itself wherever it has no
/// terminal; an editor or program that hosts it says with an argument that it asks its person.
fn is_attended() -> bool {
    let says_no = env::var_os("CLAUDE_CODE_SESSION_ATTENDED").is_some_and(|it| it == "0");
    let hosted = || {
        let agent: u32 = env::var("CLAUDE_PID").ok()?.parse().ok()?;
        let words = std::fs::read(format!("/proc/{agent}/cmdline")).ok()?;
        let asks = b"--permission-prompt-tool";
        Some(words.split(|it| *it == 0).any(|it| it.starts_with(asks)))
    };
    !says_no || hosted() == Some(true)
}

/// True when a shell command is run in our sandbox and not as the agent runs it.
pub(super) fn runs_in_sandbox(session: &HookSession, event: &HookEvent) -> bool {
    let agent = event.agent;
    let plain = session.agent.ctx.config.agents.shell_of(agent.name) == AgentShell::Plain;
    agent.hooks.as_ref().is_some_and(|it| it.can_rewrite) && !plain
}

/// Whether the agent itself has started this server behind a gateway of ours, which judges the call,
/// asks about it and has it on record. What stands in its settings now says nothing about that; a
/// gateway that runs as its child does.
fn is_behind_the_gate(session: &HookSession, event: &HookEvent, server: &str) -> bool {
    let started_by = parent(std::process::id());
    let in_shell = event.agent.hooks.as_ref().is_none_or(|it| it.in_shell);
    let agent = if in_shell { started_by.and_then(parent) } else { started_by };
    agent.is_some_and(|it| it > 1 && is_held(&session.agent.ctx.paths, it, &server_name(server)))
}

/// Keeps for the event after the call what was allowed.
fn keep(
    session: &HookSession,
    event: &HookEvent,
    number: Option<u64>,
    input: &Value,
    ticket: bool,
) -> Result<(), String> {
    let call = AllowedCall { number, tool: event.tool.clone(), input: digest(input), ticket };
    session.calls.keep(&call).map_err(|err| format!("the call cannot be kept: {err}"))
}

pub(super) fn id(event: &HookEvent) -> String {
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
            let why = match question.about {
                QuestionAbout::Running => None,
                QuestionAbout::Changes(_) if question.class == PermissionClass::File => None,
                QuestionAbout::Changes(_) => Some("the agent cannot show changes"),
                QuestionAbout::Hosts(_) | QuestionAbout::Signature(..) => {
                    Some("the agent does not ask while a call runs")
                }
            };
            if let Some(why) = why {
                return Err(NotAsked::Unavailable(why.to_owned()));
            }
            let why = question.verdict.why().into_owned();
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(format!("eclusa: {why}"));
            Ok(Answer::Once)
        })
    }
}
