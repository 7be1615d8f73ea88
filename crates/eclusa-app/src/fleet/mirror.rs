//! Mirrors what changed in the approval queue of a store: what the local page shows, and never more.

use eclusa::{
    Redactor,
    approve::{GivenVote, QueuedQuestion},
};
use eclusa_approvals::headline;
use eclusa_fleet::{
    RequestFailure, ShippedStore,
    mirror::{MAX_MIRRORED, MirrorAnswer, MirrorRequest, MirroredQuestion},
};

use super::client::{REQUEST_TIME, ServerClient};
use crate::fleet_machine::local_stores::LocalStore;

/// How many bytes of questions are sent at once, unless one alone has more.
const MAX_BYTES: usize = 1 << 20;

/// What came of mirroring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mirroring {
    /// The server has everything that there was room for.
    Done,
    /// It takes none of it, which asking again at once does not change.
    Refused,
}

/// Sends the questions that changed since the last time. `again`: also those that there was no room for.
pub(super) async fn mirror(
    store: &LocalStore,
    client: &mut ServerClient,
    state: &mut ShippedStore,
    (again, redactor): (bool, &Redactor),
) -> Result<Mirroring, String> {
    let Some(chain) = state.chain.filter(|_| state.stopped.is_none()) else {
        return Ok(Mirroring::Done);
    };
    let queue = store.store.approval_queue(Vec::new());
    let unread = |err: eclusa::approve::QueueError| format!("the queue cannot be read: {err}");
    loop {
        let (mut changed, at) = queue.changes(state.mirrored).await.map_err(unread)?;
        let moved = !changed.is_empty();
        if moved || again {
            let left = state.unmirrored.iter().filter(|it| !changed.contains(it));
            changed = changed.iter().chain(left).copied().collect();
        }
        if changed.is_empty() {
            return Ok(Mirroring::Done);
        }
        let mut left_out = Vec::new();
        let (mut questions, mut bytes) = (Vec::new(), 0);
        for id in changed {
            let queued = queue.get(id).await.map_err(unread)?;
            let said = said(&queued, queue.votes(id).await.map_err(unread)?);
            let question = MirroredQuestion::new(&queued, (headline(&queued), said), redactor);
            let size = serde_json::to_vec(&question).map_or(0, |it| it.len());
            if !questions.is_empty()
                && (questions.len() == MAX_MIRRORED || bytes + size > MAX_BYTES)
            {
                let questions = std::mem::take(&mut questions);
                match send(client, MirrorRequest { chain, at, questions }).await? {
                    Some(left) => left_out.extend(left),
                    None => return Ok(Mirroring::Refused),
                }
                bytes = 0;
            }
            bytes += size;
            questions.push(question);
        }
        match send(client, MirrorRequest { chain, at, questions }).await? {
            Some(left) => left_out.extend(left),
            None => return Ok(Mirroring::Refused),
        }
        (state.mirrored, state.unmirrored) = (at.max(state.mirrored), left_out);
        if !moved {
            return Ok(Mirroring::Done);
        }
    }
}

/// Who has said yes so far, or who decided.
fn said(queued: &QueuedQuestion, votes: Vec<GivenVote>) -> Vec<String> {
    let mut said: Vec<String> = votes.into_iter().map(|it| it.by).collect();
    said.extend(queued.decided_by.iter().cloned());
    said.sort();
    said.dedup();
    said.truncate(MAX_MIRRORED);
    said
}

/// Those that there was no room for; `None` where the server takes none of it.
async fn send(
    client: &mut ServerClient,
    request: MirrorRequest,
) -> Result<Option<Vec<u64>>, String> {
    let sent: Result<MirrorAnswer, RequestFailure> =
        client.post("/v1/questions", &request, REQUEST_TIME).await;
    match sent {
        Ok(answer) => Ok(Some(answer.left_out)),
        // An older server, or one that lost the chain: the next synchronisation tells.
        Err(err @ RequestFailure::Refused { .. }) => {
            tracing::warn!("questions are not mirrored: {}", err.describe());
            Ok(None)
        }
        Err(err) => Err(err.describe()),
    }
}
