//! The conversation that a task works for, known to whatever runs inside its calls.

use std::{convert::Infallible, future::Future, sync::Arc};

use eclusa::Gate;
use tokio::sync::mpsc;

use eclusa_models::{limits::TurnBudget, turn};

use crate::{events::AgentEvent, transcript::TranscriptStore};

/// What a task must know of the conversation that started it.
#[derive(Clone)]
pub(crate) struct TaskParent {
    /// The gate that its calls pass.
    pub(crate) gate: Gate,
    pub(crate) session: String,
    pub(crate) store: Arc<dyn TranscriptStore>,
    pub(crate) budgets: Vec<TurnBudget>,
    pub(crate) events: mpsc::UnboundedSender<AgentEvent>,
    /// How many tasks there are above.
    pub(crate) depth: usize,
    /// Held by every task that has not ended.
    pub(crate) running: mpsc::Sender<Infallible>,
}

tokio::task_local! {
    /// The conversation whose calls pass here.
    static PARENT: TaskParent;
}

/// Calls pass in the name of this conversation.
pub(crate) fn inside<F: Future>(parent: TaskParent, passing: F) -> impl Future<Output = F::Output> {
    let budgets = parent.budgets.clone();
    PARENT.scope(parent, turn::inside(budgets, passing))
}

/// The conversation in whose name a call passes here, if any.
pub(crate) fn current() -> Option<TaskParent> {
    PARENT.try_with(Clone::clone).ok()
}
