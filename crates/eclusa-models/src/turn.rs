//! What the turn that a call belongs to may still use, known to whatever asks a model inside the call.

use std::future::Future;

use crate::limits::TurnBudget;

tokio::task_local! {
    /// The budgets of the turn, the outermost first.
    static BUDGETS: Vec<TurnBudget>;
}

/// Requests that are made in here count to these budgets.
pub fn inside<F: Future>(budgets: Vec<TurnBudget>, work: F) -> impl Future<Output = F::Output> {
    BUDGETS.scope(budgets, work)
}

/// The budgets that a request made here counts to. None outside a turn.
pub fn budgets() -> Vec<TurnBudget> {
    BUDGETS.try_with(Clone::clone).unwrap_or_default()
}
