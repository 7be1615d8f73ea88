//! Changes as a person is shown them.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use super::{Setup, own_files};
use crate::{
    Bounds, Changes, Decision, Diff, EffectGroup, EffectKind, EffectKinds, Effects, FoldedChanges,
    Preview, RepositoryFacts, Run, Summary, Validated, Workspace, one_line,
};

/// What a call that still runs has changed so far. `None`: nobody can say.
pub(super) async fn preview_so_far(
    setup: &Setup,
    run: &Run,
    call: &Validated,
    changes: &Changes,
) -> Option<Preview> {
    let (workspace, changes) = (setup.workspace.as_ref()?, Arc::new(changes.clone()));
    let facts = own_files::facts(setup, run, workspace, &changes).await;
    let kinds = effect_kinds(setup, call, &changes, &facts);
    let FoldedChanges { rest, groups } = FoldedChanges::new(&changes, &kinds, &facts);
    preview(workspace, &Arc::new(rest), (&groups, &kinds), &[]).await
}

/// These changes, and what is told of others in a line each.
pub(super) async fn preview(
    workspace: &Workspace,
    shown: &Arc<Changes>,
    (groups, kinds): (&[EffectGroup], &EffectKinds),
    remarks: &[String],
) -> Option<Preview> {
    let groups: Vec<String> = groups.iter().map(ToString::to_string).collect();
    // What git did hangs together: its commits hold what the files hold.
    let separable = !kinds.iter().any(|it| matches!(it, EffectKind::Git(_)));
    let remarks = remarks.to_vec();
    compare(workspace, shown, move |diff| {
        let (shown, whole) = diff.shown_whole();
        let summary = summary_line(&groups, &diff.summary());
        let choices = if separable { diff.shown_choices() } else { Vec::new() };
        Preview { summary, diff: with_remarks(&remarks, &groups, &shown), whole, choices }
    })
    .await
}

/// The changes in one line: what is shown in full, or what is told in a line each.
fn summary_line(groups: &[String], summary: &Summary) -> String {
    match (groups, summary.is_nothing()) {
        ([], _) | (_, false) => summary.to_string(),
        ([only], true) => one_line(only),
        ([first, others @ ..], true) => format!("{} and {} more", one_line(first), others.len()),
    }
}

/// The changes as they are shown, after what must be known besides them and what is told in a
/// line each.
fn with_remarks(remarks: &[String], groups: &[String], shown: &str) -> String {
    let remarks = remarks.iter().map(|it| format!("! {}\n", one_line(it)));
    let groups = groups.iter().map(|it| format!("* {}\n", one_line(it)));
    remarks.chain(groups).chain([shown.to_owned()]).collect()
}

/// Compares files, which reads them, away from the threads that calls pass on.
pub(super) async fn compare<T: Send + 'static>(
    workspace: &Workspace,
    changes: &Arc<Changes>,
    take: impl FnOnce(&Diff<'_>) -> T + Send + 'static,
) -> Option<T> {
    let (workspace, changes) = (workspace.clone(), changes.clone());
    let comparing = tokio::task::spawn_blocking(move || {
        take(&Diff::of(&changes, &workspace, Bounds::default()))
    });
    comparing.await.ok()
}

/// What sort of thing each change is. A policy that panics holds them all for edits.
pub(super) fn effect_kinds(
    setup: &Setup,
    call: &Validated,
    changes: &Changes,
    facts: &RepositoryFacts,
) -> EffectKinds {
    let (author, moment) = (call.view().into(), call.context());
    let (lines, unruled) = (None, Decision::Ask);
    let effects = Effects { author, changes, lines, facts, moment, unruled };
    let kinds = catch_unwind(AssertUnwindSafe(|| setup.state.policy.load().effect_kinds(&effects)));
    kinds.unwrap_or_else(|_panic| EffectKinds::all(EffectKind::Edit, changes.len()))
}
