//! What the log and the undo history know of the calls of a session.

use eclusa::{
    audit::{
        Log,
        calls::{self, CallRecord},
    },
    workspace::UndoStatus,
};
use serde_json::Value;

use crate::{
    ItemBody, TranscriptHead, TranscriptItem,
    ui::{
        archive::Archive,
        context::AppContext,
        failure::{Exit, Failure},
        screen::{Screen, Style},
    },
};

/// The calls of later turns that changed something, as the undo history has them.
pub(in crate::ui) fn changed_after(
    ctx: &AppContext,
    items: &[TranscriptItem],
    turn: u64,
) -> Result<Vec<u64>, Failure> {
    let later = items.iter().filter(|it| it.turn > turn);
    let numbers: Vec<u64> = later
        .filter_map(|it| match &it.body {
            ItemBody::Answer(answer) | ItemBody::LateAnswer(answer) => answer.number,
            _ => None,
        })
        .collect();
    let entries = ctx.workspace()?.entries().map_err(Failure::failed)?;
    let undoable = entries.iter().filter(|it| !matches!(it.status, UndoStatus::Undone { .. }));
    let store = ctx.store()?;
    // Earlier calls are none of these, and the log need not say so.
    let first = numbers.iter().copied().min().unwrap_or(u64::MAX);
    let later = undoable.map(|it| it.call).filter(|it| *it >= first);
    Ok(later.filter(|it| is_among(&*store, *it, &numbers)).collect())
}

/// Whether a call is one of these, or was made from inside one: by a task.
fn is_among(log: &dyn Log, call: u64, numbers: &[u64]) -> bool {
    let mut call = Some(call);
    while let Some(number) = call {
        if numbers.contains(&number) {
            return true;
        }
        let record = log.first_of(number).ok().flatten();
        let body = record.and_then(|it| serde_json::from_str::<Value>(&it.body).ok());
        // A call inside another has a higher number.
        let parent = body.and_then(|it| it.get("parent")?.as_u64());
        call = parent.filter(|it| *it < number);
    }
    false
}

/// Whether every output is the one that the log knows: it holds its digest.
pub(super) async fn checked(
    archive: &Archive,
    head: &TranscriptHead,
    items: &[TranscriptItem],
    screen: &mut Screen,
) -> Result<Exit, Failure> {
    let (mut same, mut other, mut unknown) = (0, Vec::new(), 0);
    for item in items {
        let (ItemBody::Answer(answer) | ItemBody::LateAnswer(answer)) = &item.body else {
            continue;
        };
        let Some(number) = answer.number else { continue };
        let call = calls::call_with(&*archive.store, number).map_err(Failure::failed)?;
        let digest = call.as_ref().and_then(CallRecord::output_sha256);
        // An output that was cut is kept whole elsewhere.
        let kept = call.as_ref().and_then(CallRecord::output_spool).filter(|_| answer.truncated);
        let whole = match kept {
            Some(reference) => archive.store.read(reference, 0..usize::MAX).await.ok(),
            None if answer.truncated => None,
            None => Some(answer.output.clone()),
        };
        match (digest, whole) {
            (Some(digest), Some(whole)) => {
                match eclusa::Hash::sha256(whole.as_bytes()).to_string() == digest {
                    true => same += 1,
                    false => other.push(format!("{}.{}", head.id, item.seq)),
                }
            }
            _ => unknown += 1,
        }
    }
    screen
        .line(&format!("{same} outputs are as the log has them, {unknown} have no digest there"))?;
    for it in &other {
        screen.styled(Style::Bad, &format!("{it} is not what the log has"))?;
    }
    screen.flush()?;
    Ok(if other.is_empty() { Exit::Done } else { Exit::Failed })
}
