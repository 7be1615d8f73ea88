//! An agent that is watched and not held: each call is judged and recorded, and the hook has no say in it.

use super::{
    HookTurn, before,
    session::{self, HookSession},
};
use crate::{
    HookEvent, HookEventKind, HookOutput, MappedCall,
    commands::{
        agent_session::{AgentCall, Participants, delegated},
        agents,
        global::Global,
    },
};

/// Whether the event's agent is watched. One whose project leads hooks to other rules is held.
pub(super) fn is_watched(global: &Global, event: &HookEvent) -> bool {
    session::root(event).is_ok_and(|root| {
        agents::redirected(event.agent, &root).is_none()
            && agents::watch::is_watched(global, event.agent, &root)
    })
}

/// No opinion, whatever went wrong: the agent goes on by its own rules.
pub(super) fn unseen(why: &str) -> HookOutput {
    let stderr = format!("eclusa: this call is watched only, and was not recorded: {why}\n");
    HookOutput { stderr, ..HookOutput::default() }
}

/// Judges and records; the answer is always that there is none.
pub(super) async fn answer(
    global: &Global,
    event: &HookEvent,
    turn: HookTurn,
) -> Result<HookOutput, String> {
    if event.kind == HookEventKind::Before && turn == HookTurn::First {
        let mut session = HookSession::open(global, event)?;
        session.agent.watched = true;
        judge(&session, event).await?;
    }
    Ok(HookOutput::default())
}

async fn judge(session: &HookSession, event: &HookEvent) -> Result<(), String> {
    let mapped = event.mapped_call();
    let call = AgentCall {
        session: &session.agent,
        id: before::id(event),
        tool: &event.tool,
        directory: event.directory.as_deref(),
        in_sandbox: mapped.shell_command().is_some() && before::runs_in_sandbox(session, event),
        ahead: None,
        participants: &Participants::default,
    };
    match mapped {
        // The gate of our server has it on record.
        MappedCall::OwnServer { .. } => return Ok(()),
        MappedCall::Internal(tool) => {
            let registration = delegated::internal_tool(tool);
            call.alone(tool.name().to_owned(), event.input.clone(), registration).await?
        }
        MappedCall::Server { server, tool, args } => {
            let (name, registration) = delegated::server_tool(&server, &tool);
            call.alone(name, args, registration).await?
        }
        mapped => call.judge(mapped).await?,
    };
    Ok(())
}
