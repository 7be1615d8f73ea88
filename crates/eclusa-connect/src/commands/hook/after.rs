//! A call that another agent has made: its end goes on record, its output is reviewed and
//! redacted, its edits can be undone from here on, and whether it was the call that was allowed is
//! looked at.

use eclusa::{Origin, ToolCall};
use eclusa_tools::{OwnerClient, search::without_hidden};
use serde_json::json;

use super::{
    PersonAsked, ahead, allowed_calls::digest, own_server, pre_images, session::HookSession,
};
use crate::commands::{agent_session::delegated, tickets::ExecTicket};
use crate::{HookEvent, MappedCall, ResultNote};

/// Tools of ours that stand for another agent's search.
const SEARCHES: [&str; 3] = ["grep", "glob", "list"];

pub(super) async fn record(session: &HookSession, event: &HookEvent) -> Result<ResultNote, String> {
    if let MappedCall::OwnServer { tool } = event.mapped_call()
        && own_server::doubt(&session.agent, event.agent, &tool).is_none()
    {
        return Ok(ResultNote::default());
    }
    let call = session.calls.take();
    let outcome = match &call {
        // It came to another hook of ours first.
        None if event.is_foreign => return Ok(ResultNote::default()),
        None => "unasked",
        Some(call) if call.tool != event.tool || call.input != digest(&event.input) => "differs",
        // It has a record of its own, and its output has been seen to.
        Some(call) if call.ticket => return ahead::ended(session, event).await,
        Some(_) => "ended",
    };
    // A command in the place of the one that was to run in our sandbox: somebody goes around us.
    if outcome == "differs" && call.as_ref().is_some_and(|it| it.ticket) {
        session.calls.close().map_err(|err| format!("the session cannot be closed: {err}"))?;
    }
    let undo = pre_images::adopt(session);
    let text = event.result.as_ref().map(|it| it.text.clone()).unwrap_or_default();
    let failed = event.result.as_ref().is_some_and(|it| it.failed);
    let args = json!({
        "tool": event.tool, "outcome": outcome, "failed": failed,
        "of": call.as_ref().and_then(|it| it.number),
        "undo": undo.as_ref().ok().filter(|it| !it.is_empty()), "not_undoable": undo.as_ref().err(),
    });
    let found = match event.mapped_call() {
        MappedCall::Eclusa(calls) if calls.iter().any(|it| SEARCHES.contains(&it.tool)) => {
            without_hidden(&session.agent.files, &text)
        }
        _ => text.clone(),
    };
    let seen = pass(session, event.call.clone(), args, found).await?;
    let context = match outcome {
        "unasked" => Some("eclusa was not asked about this call before it ran".to_owned()),
        "differs" => {
            Some("this is not the call that eclusa allowed: its input was changed".to_owned())
        }
        _ => None,
    };
    Ok(ResultNote { replacement: seen.filter(|it| *it != text), context, withheld: false })
}

/// The session is over: what was allowed and never came back goes on record.
pub(super) async fn end(session: &HookSession) -> Result<(), String> {
    ahead::end_prompts(session, None).await?;
    for call in session.calls.take_all() {
        let args = json!({
            "tool": call.tool, "outcome": "unreturned", "failed": false, "of": call.number,
        });
        if !call.ticket {
            pass(session, None, args, String::new()).await?;
        }
    }
    ExecTicket::sweep(&session.agent.ctx.paths.agents());
    // Its jobs end with it.
    let (state, name) = (session.agent.ctx.paths.undo(), &session.agent.name);
    let ended =
        OwnerClient::connect(&state, name).and_then(|it| it.map_or(Ok(()), OwnerClient::over));
    ended.map_err(|err| err.to_string())
}

/// Takes a result through the gate. What comes back is what the model may see of it; an error
/// hides it.
async fn pass(
    session: &HookSession,
    id: Option<String>,
    args: serde_json::Value,
    text: String,
) -> Result<Option<String>, String> {
    let participants = session.participants(&PersonAsked::default());
    let gate = session.agent.gate(Some(delegated::result(text)), participants)?;
    let id = id.unwrap_or_else(|| "agent-result".to_owned());
    let reply = gate.pass(ToolCall::new(id, "agent_result", args).from(Origin::Hook)).await;
    match reply.is_error() {
        true => Err(reply.content().into_owned()),
        false => Ok(Some(reply.text().to_owned())),
    }
}
