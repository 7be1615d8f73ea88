//! Applies what people answered elsewhere: each message is checked here, by this machine's own queue, clock and people
//! document, and goes through the call that the local page uses. The same again changes nothing.

use eclusa::{
    approve::{QuestionState, QueueError, QueuedQuestion},
    audit::{Clock as _, SystemClock},
};
use eclusa_fleet::{
    AskedQuestion, FleetOrder, FleetVote,
    mirror::{Ack, CarriedAnswer, Message, is_shown_whole},
};

use crate::{
    global::Global, paths::Paths, pending_runs::after_yes, queues, queues::WorkspaceQueue, signers,
};

/// The longest reason that is reported, in characters.
const MAX_REASON: usize = 400;

/// Applies messages in order, and says what became of each.
pub(super) async fn apply(global: &Global, paths: &Paths, messages: &[Message]) -> Vec<Ack> {
    let mut acks = Vec::new();
    for it in messages {
        let refused = one(global, paths, it).await.err();
        let refused = refused.map(|it| it.chars().take(MAX_REASON).collect());
        acks.push(Ack { id: it.id, refused });
    }
    acks
}

async fn one(global: &Global, paths: &Paths, message: &Message) -> Result<(), String> {
    let carried = &message.body;
    let people = signers::of_fleet(paths)?
        .ok_or("this machine has no people document, so that no answer from elsewhere counts")?;
    let queue = find(paths, &carried.store).await?;
    let now = SystemClock.unix_ms();
    match message.kind.as_str() {
        "vote" => vote(global, &queue, carried, (&people, now)).await,
        "revoke" => {
            let place = (carried.store.as_str(), carried.question);
            let order = FleetOrder::check_revoke(carried, place, &people, now)?;
            match queue.queue.revoke(carried.question, order.person()).await {
                // It was taken back before.
                Err(QueueError::WrongState { state: QuestionState::Revoked, .. }) => Ok(()),
                done => done.map_err(|err| err.to_string()),
            }
        }
        "end" => {
            let place = (carried.store.as_str(), carried.conversation.as_str());
            let order = FleetOrder::check_end(carried, place, &people, now)?;
            let ended = queue.queue.end_session(&carried.conversation, order.person());
            ended.await.map(drop).map_err(|err| err.to_string())
        }
        other => Err(format!("this program does not know messages `{}`", other.escape_debug())),
    }
}

/// The queue of this machine that calls itself so.
async fn find(paths: &Paths, store: &str) -> Result<WorkspaceQueue, String> {
    let all = queues::all(paths).map_err(|err| err.message().to_owned())?;
    for it in all {
        if it.queue.queue().await.is_ok_and(|it| it == store && !it.is_empty()) {
            return Ok(it);
        }
    }
    Err("this machine has no such store".to_owned())
}

async fn vote(
    global: &Global,
    queue: &WorkspaceQueue,
    carried: &CarriedAnswer,
    (people, now): (&eclusa_approvals::KnownSigners, u64),
) -> Result<(), String> {
    let id = carried.question;
    let queued = queue.queue.get(id).await.map_err(|err| err.to_string())?;
    let yes = carried.answer != "no";
    if yes && is_known(queue, id, carried).await? {
        // It was applied before, and whoever did so may have died in the middle of it.
        after_yes(global, queue, id).await.map_err(|err| err.message().to_owned())?;
        return Ok(());
    }
    let vote = FleetVote::check(carried, &asked(&carried.store, &queued), people, now)?;
    let answer = vote.into_answer();
    let yes = answer.answer.is_yes();
    queue.queue.answer(answer).await.map_err(|err| err.to_string())?;
    if yes {
        let applied = after_yes(global, queue, id).await;
        let applied = applied.map_err(|err| err.message().to_owned())?;
        applied.describe().map_err(|why| format!("yes, but nothing was applied: {why}"))?;
    }
    Ok(())
}

/// Whether exactly this is in the queue already.
async fn is_known(
    queue: &WorkspaceQueue,
    id: u64,
    carried: &CarriedAnswer,
) -> Result<bool, String> {
    let votes = queue.queue.votes(id).await.map_err(|err| err.to_string())?;
    let same = |it: &eclusa::approve::SignedAnswer| {
        it.statement == carried.statement && it.signature == carried.signature
    };
    Ok(votes.iter().any(|it| it.by == carried.person && it.signed.as_ref().is_some_and(same)))
}

fn asked<'a>(store: &'a str, queued: &'a QueuedQuestion) -> AskedQuestion<'a> {
    let question = &queued.question;
    AskedQuestion {
        queue: store,
        id: queued.id,
        binding: &question.binding,
        principal: &question.principal,
        created: queued.created,
        requirements: question.verdict.requirements().cloned().collect(),
        whole: is_shown_whole(queued),
    }
}
