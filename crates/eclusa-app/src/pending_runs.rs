//! Pending runs, for every way to say yes: whoever records the yes applies what it is about, unless
//! whoever asked still waits and does so itself.

use std::sync::Arc;

use eclusa::{
    Gate, Reply, TakeYes,
    approve::{QuestionState, QueuedQuestion},
    one_line,
    store::Store,
};

use crate::{
    context::AppContext, failure::Failure, gates::GateParts, global::Global,
    queues::WorkspaceQueue, surface::Surface,
};

impl AppContext {
    /// The gate that a pending run is applied through, by whoever names it. Nobody is asked there.
    pub fn pending_gate(&self, store: &Arc<dyn Store>) -> Result<Gate, Failure> {
        self.gate(Surface::Apply, GateParts::new(store))
    }
}

/// What a yes came to.
pub enum AfterYes {
    /// Whoever asked takes it, or makes the call again; or one more approver is needed.
    Left(QuestionState),
    /// It was about a run that waited, and this came of it.
    Taken(Box<Reply>),
}

impl AfterYes {
    /// In one line, for whoever said yes. The error says why nothing was applied.
    pub fn describe(&self) -> Result<String, String> {
        match self {
            AfterYes::Left(QuestionState::Pending) => {
                Ok("approved; one more approver is needed".to_owned())
            }
            AfterYes::Left(_) => Ok("yes".to_owned()),
            AfterYes::Taken(reply) => match (reply.undo(), reply.number()) {
                (Some(_), Some(number)) => Ok(format!("yes, applied as call {number}")),
                _ => Err(one_line(reply.error().unwrap_or("its changes were not applied"))),
            },
        }
    }
}

/// Applies what this question is about, where it was answered with a yes and nobody waits for it.
pub async fn after_yes(
    global: &Global,
    queue: &WorkspaceQueue,
    id: u64,
) -> Result<AfterYes, Failure> {
    let queued = queue.queue.get(id).await.map_err(Failure::failed)?;
    let Some(pending) = queued.question.pending.filter(|_| is_to_take(&queued)) else {
        return Ok(AfterYes::Left(queued.state));
    };
    let Some(directory) = queue.directory.clone() else {
        let why = "the place of this workspace is not known; `eclusa resume` there applies it";
        return Err(Failure::failed(why));
    };
    let global = Global { workspace: Some(directory), ..global.clone() };
    let ctx = AppContext::open(&global)?;
    let gate = ctx.gate(Surface::Yes, GateParts::new(&queue.store))?;
    let reply = gate.take(pending.call, TakeYes::Queued(Box::new(queued))).await;
    Ok(AfterYes::Taken(Box::new(reply)))
}

/// Whether there is a yes that nobody waits for, or one whose taker may have died.
pub fn is_to_take(queued: &QueuedQuestion) -> bool {
    match queued.state {
        QuestionState::Approved => queued.asker_away,
        QuestionState::Taken => true,
        _ => false,
    }
}
