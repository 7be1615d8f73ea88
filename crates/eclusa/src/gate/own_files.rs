//! The files that calls of a session have made, with what was in them last: what an agent made itself, and
//! nobody has touched since, it may delete like a file that git has.

use std::{collections::BTreeSet, sync::Arc};

use crate::{
    Change, Changes, EffectKind, EffectKinds, Node, RepositoryFacts, Run, Workspace,
    gate::{Setup, sessions},
    repository,
    session::SessionRecord,
};

/// What is known of changes before they are judged.
pub(super) async fn facts(
    setup: &Setup,
    run: &Run,
    workspace: &Workspace,
    changes: &Arc<Changes>,
) -> RepositoryFacts {
    let mut facts = git_facts(workspace, changes).await;
    // Most calls delete nothing, and the session need not be asked.
    if changes.iter().any(is_deletion)
        && let Ok(session) = sessions::load(setup, run)
    {
        for (change, facts) in changes.iter().zip(&mut facts.paths) {
            facts.own = is_deletion(change) && was_made(&session, change);
        }
    }
    facts
}

/// What git knows of changes, read away from the threads that calls pass on; nothing where that fails.
pub(super) async fn git_facts(workspace: &Workspace, changes: &Arc<Changes>) -> RepositoryFacts {
    let (workspace, changes) = (workspace.clone(), changes.clone());
    let reading = tokio::task::spawn_blocking(move || repository::facts(&workspace, &changes));
    reading.await.unwrap_or_default()
}

fn is_deletion(change: &Change) -> bool {
    change.after.is_none() && change.before.as_ref().and_then(Node::file).is_some()
}

fn was_made(session: &SessionRecord, change: &Change) -> bool {
    let was = change.before.as_ref().and_then(Node::file);
    was.is_some_and(|it| session.has_made(&change.path, &it.digest.to_string()))
}

/// Notes the files that a call has made, and what it has written to those that were made before. What was
/// moved is whose it was.
pub(super) fn note(setup: &Setup, run: &Run, changes: &Changes, kinds: &EffectKinds) {
    let there = |change: &Change| {
        Some((change.path.clone(), change.before.as_ref()?.file()?.digest.to_string()))
    };
    let there: Vec<_> = changes.iter().filter_map(there).collect();
    let written = |(change, kind): (&Change, EffectKind)| {
        let now = change.after.as_ref()?.file()?.digest.to_string();
        let path = (kind == EffectKind::Edit).then(|| change.path.clone())?;
        let before = change.before.as_ref().map(|it| it.file().map(|it| it.digest.to_string()));
        Some((path, before, now))
    };
    let written: Vec<_> = changes.iter().zip(kinds.iter()).filter_map(written).collect();
    if written.is_empty() {
        return;
    }
    let noted = sessions::update(setup, run, |session| {
        let others = there.iter().filter(|(path, digest)| !session.has_made(path, digest));
        let others: BTreeSet<String> = others.map(|(_, digest)| digest.clone()).collect();
        for (path, before, now) in &written {
            match before {
                None if !others.contains(now) => session.note_made(path.clone(), now.clone()),
                Some(Some(before)) if session.has_made(path, before) => {
                    session.note_made(path.clone(), now.clone());
                }
                _ => {}
            }
        }
    });
    if let Err(why) = noted {
        // Deleting one of them is asked about.
        tracing::warn!("what session `{}` has made cannot be noted: {why}", run.session);
    }
}
