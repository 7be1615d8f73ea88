//! `eclusa changes apply`: what a call did in the sandbox and nobody has applied, applied after all. It
//! is the same act as a yes to its question: judged by the rules that deny, recorded, undoable.

use eclusa::{
    TakeYes,
    approve::{GivenAnswer, QuestionState},
    workspace::{PendingError, PendingRun},
};
use serde_json::Value;

use super::super::approvals::Signer;
use crate::{
    context::AppContext,
    failure::{Exit, Failure},
    person, reply,
    screen::{self, Screen},
    signals::cancel_on_signal,
};

pub(in crate::commands) async fn run(
    ctx: &AppContext,
    call: u64,
    json: bool,
) -> Result<Exit, Failure> {
    let workspace = ctx.workspace()?;
    let run = workspace.pending_run(call).map_err(|err| unavailable(call, &err))?;
    let store = ctx.store()?;
    let queue = store.approval_queue(Vec::new());
    let gate = ctx.pending_gate(&store)?;
    cancel_on_signal(gate.run().cancel.clone());
    let queued = queue.of_pending(binding(&run), call).await.map_err(Failure::failed)?;
    let yes = match queued {
        Some(queued) if queued.state.is_open() => {
            let id = queued.id;
            if queued.state == QuestionState::Pending {
                let signer = Signer::open(&ctx.paths, None)?;
                let given: GivenAnswer =
                    signer.yes(&*queue, vec![id], eclusa::Answer::Once).await?;
                queue.answer(given).await.map_err(Failure::failed)?;
            }
            let queued = queue.get(id).await.map_err(Failure::failed)?;
            if queued.state == QuestionState::Pending {
                screen::note(&format!("approval {id}: approved; one more approver is needed"));
                return Ok(Exit::Parked);
            }
            if !queued.asker_away {
                screen::note(&format!("approval {id}: yes; the requester applies it"));
                return Ok(Exit::Done);
            }
            TakeYes::Queued(Box::new(queued))
        }
        Some(queued) if queued.state == QuestionState::Taken => TakeYes::Queued(Box::new(queued)),
        _ => TakeYes::Typed(person::name()),
    };
    let reply = gate.take(call, yes).await;
    let mut screen = Screen::stdout();
    match json {
        true => screen.json(&reply::as_json(&reply))?,
        false => reply::print(&reply, &mut screen)?,
    }
    screen.flush()?;
    if let (Some(_), Some(number), false) = (reply.undo(), reply.number(), json) {
        screen::note(&format!("applied as call {number}; `eclusa undo {number}` undoes it"));
    }
    Ok(reply::exit(&reply))
}

/// What a question about the run is bound to.
fn binding(run: &PendingRun) -> &str {
    run.about.get("question").and_then(Value::as_str).unwrap_or_default()
}

/// Why a run cannot be applied.
fn unavailable(call: u64, err: &PendingError) -> Failure {
    match err {
        PendingError::Unknown(_) => Failure::failed(err)
            .hint("`eclusa changes --discarded` lists discarded changes")
            .hint(format!(
                "`eclusa log show {call}` has the call; `eclusa run --park TOOL ARGS` makes it again"
            )),
        err => Failure::failed(err),
    }
}
