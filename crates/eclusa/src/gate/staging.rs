//! What becomes of staged contents once the changes of a call are settled.

use crate::Staged;

/// Removes what changes were staged in, away from the threads that calls pass on.
pub(super) async fn drop_staging(staged: Option<Staged>) {
    if let Some(staged) = staged {
        // A guard that panics has left something behind, and nothing else is wrong.
        let _ = tokio::task::spawn_blocking(move || drop(staged)).await;
    }
}
