//! What becomes of staged contents once the changes of a call are settled.

use std::sync::Arc;

use crate::{Changes, Staged, gate::Setup};

/// Removes what changes were staged in, away from the threads that calls pass on.
pub(super) async fn drop_staging(staged: Option<Staged>) {
    if let Some(staged) = staged {
        // A guard that panics has left something behind, and nothing else is wrong.
        let _ = tokio::task::spawn_blocking(move || drop(staged)).await;
    }
}

/// Keeps discarded changes for a while, so that a person can apply them after all. Where that
/// fails they are gone, as is said anyway.
pub(super) async fn keep_discarded(setup: &Setup, changes: &Arc<Changes>, number: Option<u64>) {
    let (Some(workspace), Some(number)) = (setup.workspace.clone(), number) else { return };
    let changes = changes.clone();
    let keeping = move || workspace.keep_discarded(number, &changes);
    if let Ok(Err(err)) = tokio::task::spawn_blocking(keeping).await {
        tracing::debug!(%err, "discarded changes were not kept");
    }
}
