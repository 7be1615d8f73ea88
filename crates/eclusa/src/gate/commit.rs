//! Changes that may be applied are: by the gate, or by whoever asked for them.

use std::sync::Arc;

use serde_json::json;

use crate::{
    Changes, CommitError, Delegate, Staged, Stop, Undo, Workspace,
    audit::trail::{ChangesOutcome, Trail, note_changes as note},
    gate::Setup,
    stop::Decider,
    workspace::{PendingOutcome, PendingRun},
};

/// Makes the changes real. It is not given up in the middle: once begun, it ends.
///
/// Where the changes are those of a run that was kept, that is noted before and after: whoever comes
/// after a crash knows whether it was applied.
pub(super) async fn commit(
    setup: &Setup,
    workspace: &Workspace,
    changes: &Arc<Changes>,
    (staged, kept): (Option<Staged>, Option<PendingRun>),
    number: u64,
    trail: &mut Trail,
) -> Result<Undo, Stop> {
    if let Some(delegate) = &setup.delegate {
        return hand_over(delegate, changes, number, trail).await;
    }
    note(trail, |it| it.outcome = ChangesOutcome::Committing);
    let committing = {
        let (workspace, changes) = (workspace.clone(), changes.clone());
        let durability = setup.durability;
        tokio::task::spawn_blocking(move || {
            let begun = kept.as_ref().map_or(Ok(()), |it| it.begin(number));
            let committed = match begun {
                Ok(()) => match &kept {
                    Some(kept) => workspace.commit_kept(number, &changes, &kept.git, durability),
                    None => workspace.commit(number, &changes, durability),
                }
                .map_err(CommitFailure::from),
                Err(err) => Err(CommitFailure::Unnoted(err)),
            };
            finish(kept.as_ref(), number, &committed);
            // It stays for as long as the commit takes, whether or not anybody waits for it.
            drop(staged);
            committed
        })
    };
    let (outcome, why) = match committing.await {
        Ok(Ok(_)) => {
            note(trail, |it| it.outcome = ChangesOutcome::Committed);
            trail.warnings.extend(workspace.told(number));
            return Ok(undo(number, changes));
        }
        Ok(Err(CommitFailure::Commit(err @ CommitError::Unsafe(_)))) => {
            note(trail, |it| it.outcome = ChangesOutcome::Committed);
            trail.warnings.push(err.to_string());
            return Ok(undo(number, changes));
        }
        Ok(Err(CommitFailure::Commit(err @ CommitError::Conflicts(_)))) => {
            (ChangesOutcome::Conflict, err.to_string())
        }
        Ok(Err(err)) => (ChangesOutcome::Failed, err.to_string()),
        Err(_panic) => {
            let why =
                "applying the changes crashed; they will be rolled back before the next change";
            (ChangesOutcome::Failed, why.to_owned())
        }
    };
    note(trail, |it| it.outcome = outcome);
    Err(Stop::NotCommitted { conflict: outcome == ChangesOutcome::Conflict, why })
}

/// Leaves the changes to whoever asked, once what undoing them needs is kept.
async fn hand_over(
    delegate: &Arc<dyn Delegate>,
    changes: &Arc<Changes>,
    number: u64,
    trail: &mut Trail,
) -> Result<Undo, Stop> {
    let (delegate, kept) = (delegate.clone(), changes.clone());
    let keeping = tokio::task::spawn_blocking(move || delegate.hand_over(number, &kept));
    let kept = keeping.await.unwrap_or_else(|_panic| Err("it crashed".into()));
    match kept {
        Ok(()) => {
            note(trail, |it| it.outcome = ChangesOutcome::Delegated);
            Ok(undo(number, changes))
        }
        Err(why) => {
            let why = format!("what undoing it needs could not be kept: {why}");
            Err(Stop::Discarded(Box::new(Stop::denied(Decider::Gate, why))))
        }
    }
}

/// How the changes can be taken back.
fn undo(number: u64, changes: &Changes) -> Undo {
    let paths = match changes.len() {
        1 => "1 path".to_owned(),
        count => format!("{count} paths"),
    };
    Undo {
        description: format!("undo call {number}: {paths} will be as before"),
        data: json!({"call": number}),
    }
}

/// Why changes are not applied.
#[derive(Debug, thiserror::Error)]
enum CommitFailure {
    #[error(transparent)]
    Commit(#[from] CommitError),
    #[error("nothing was written, because it cannot be noted that it begins: {0}")]
    Unnoted(std::io::Error),
}

/// Notes what became of a run that was kept.
fn finish(
    kept: Option<&PendingRun>,
    number: u64,
    committed: &Result<crate::workspace::Committed, CommitFailure>,
) {
    let Some(kept) = kept else { return };
    let outcome = match committed {
        Ok(_) | Err(CommitFailure::Commit(CommitError::Unsafe(_))) => {
            PendingOutcome::Applied { by: number }
        }
        Err(err) => PendingOutcome::Refused { why: err.to_string() },
    };
    // Whoever looks next finds out for itself whether it was applied.
    if let Err(err) = kept.finish(&outcome) {
        tracing::warn!(%err, "what became of pending changes cannot be noted");
    }
}
