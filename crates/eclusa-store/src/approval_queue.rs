//! The approval queue: questions that wait for somebody, across processes and restarts.
//!
//! A question is queued with the time it expires, and outlives whoever asked: asked again by the
//! same principal, with the same binding, it is the same question. Exactly one decision about it
//! wins, and it is on record in the same transaction; whoever holds the question takes the answer
//! once. What nobody answers in time has been refused, whether or not anything swept it up.

mod allowances;
mod answer_columns;
mod approval_record;
mod holder;
mod outbox;
mod park;
mod questions;
mod read;
mod requests;
mod rows;
mod sessions;
mod take;
mod votes;
mod watcher;
mod wire;

use std::{sync::Arc, time::Duration};

use eclusa::{
    Answer, Approver, NotAsked, Question,
    approve::{AnswerGiven, GivenAnswer, NotificationTarget, QuestionState, QueueError},
};
use futures::future::BoxFuture;
use tokio::sync::oneshot;

use crate::{
    SqliteStore, StoreError,
    writer::{self, Transaction},
};
use park::ParkOutcome;
use watcher::{WatchedQuestion, Watcher};

/// How long an asker is taken to be there after its last word, in milliseconds.
const HOLD: u64 = 60_000;

/// Where questions wait for people.
#[derive(Debug, Clone)]
pub struct SqliteQueue {
    store: SqliteStore,
    poll: Duration,
    watcher: Arc<Watcher>,
    /// Who is told of new questions.
    targets: Arc<[NotificationTarget]>,
}

impl SqliteQueue {
    /// The approval queue of this store. Its clock decides what has expired.
    pub fn new(store: SqliteStore) -> SqliteQueue {
        let (poll, targets) = (Duration::from_millis(100), Vec::new().into());
        SqliteQueue { store, poll, watcher: Arc::default(), targets }
    }

    /// Notifications of new questions are kept for these, until somebody sends them.
    #[must_use]
    pub fn notifying(self, targets: Vec<NotificationTarget>) -> SqliteQueue {
        SqliteQueue { targets: targets.into(), ..self }
    }

    /// How often answers from other processes are looked for while somebody waits.
    #[must_use]
    pub fn poll_every(self, poll: Duration) -> SqliteQueue {
        SqliteQueue { poll, ..self }
    }

    /// Queues a question, or adopts the same one that was left, and waits for its answer.
    async fn wait(&self, question: &Question, wait: bool) -> Result<AnswerGiven, NotAsked> {
        let failed = |err: StoreError| NotAsked::Failed(err.to_string());
        let asked = rows::QuestionRow::new(question).map_err(NotAsked::Failed)?;
        let now = self.now();
        let keep = millis(question.keep);
        let expires = now.saturating_add(if wait { millis(question.time) } else { keep });
        let (row, told) = (asked.clone(), outbox::outgoing(question, &self.targets));
        let asking = self
            .park(move |tx| park::park(tx, &row, &told, now, expires, keep, wait))
            .await
            .map_err(failed)?;
        let mut held = match asking {
            SubmittedQuestion::Waiting(held) => held,
            SubmittedQuestion::Over(outcome) => return outcome,
        };
        let (id, nonce) = (held.id, held.nonce.clone());
        let mut watched: Option<WatchedQuestion> = None;
        loop {
            let now = self.now();
            let found = read::held(&self.store, id, now).map_err(failed)?;
            let over = |what: &str| Err(NotAsked::Failed(what.to_owned()));
            match found.state {
                _ if found.nonce.as_deref() != Some(&*nonce) => {
                    held.over = true;
                    return over(
                        "the same call was made again elsewhere, which waits for the answer now",
                    );
                }
                QuestionState::Approved | QuestionState::Rejected => {
                    let (asked, nonce) = (asked.clone(), nonce.clone());
                    let take =
                        self.store.write_later(move |tx| rows::take(tx, id, &nonce, &asked, now));
                    let taken = take.await.map_err(failed)?;
                    held.over = true;
                    let already = || NotAsked::Failed("its answer was already taken".to_owned());
                    let (answer, by, votes) = taken.ok_or_else(already)?;
                    return Ok(AnswerGiven { answer, by, question: Some(id), votes });
                }
                QuestionState::Pending => {}
                QuestionState::Revoked => {
                    return over("the approval was revoked before it was used");
                }
                QuestionState::Expired => {
                    let now = self.now();
                    let expiring = self.store.write_later(move |tx| rows::expire(tx, id, now));
                    expiring.await.map_err(failed)?;
                    return over("nobody answered before the question expired");
                }
                QuestionState::Withdrawn | QuestionState::Taken => {
                    return over("the question was withdrawn");
                }
            }
            // Listen before looking again, so that nothing falls in between.
            let Some(watched) = &watched else {
                watched = Some(self.watcher.watch(&self.store, self.poll, id));
                continue;
            };
            let rest = Duration::from_millis(found.expires.saturating_sub(now)).max(MIN_PAUSE);
            tokio::select! {
                () = watched.changed.notified() => {}
                () = tokio::time::sleep(rest.min(self.poll.saturating_mul(MAX_PAUSE_POLLS))) => {}
            }
        }
    }

    /// Queues a question. If nobody waits for it by the time it is queued, it is let go of.
    async fn park(
        &self,
        park: impl FnOnce(&mut Transaction<'_>) -> Result<ParkOutcome, StoreError> + Send + 'static,
    ) -> Result<SubmittedQuestion, StoreError> {
        let (tell, told) = oneshot::channel();
        let store = self.store.clone();
        let tell = move |parked: Result<ParkOutcome, StoreError>| {
            // With nobody to take it, the token is dropped here, and does its work.
            drop(tell.send(parked.map(|it| SubmittedQuestion::new(it, store))));
        };
        self.store.queue(writer::task(park, tell))?;
        told.await.unwrap_or_else(|_| Err(StoreError::Gone(self.store.path().to_owned())))
    }

    fn now(&self) -> u64 {
        self.store.inner.options.clock.unix_ms()
    }
}

/// Whoever waits looks for itself after so many looks of the watcher, whatever the clock says.
const MAX_PAUSE_POLLS: u32 = 300;

/// And not before this time, unless the question changed.
const MIN_PAUSE: Duration = Duration::from_millis(1);

impl Approver for SqliteQueue {
    fn name(&self) -> &str {
        "approval-queue"
    }

    fn takes_several(&self) -> bool {
        true
    }

    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Result<Answer, NotAsked>> {
        Box::pin(async move { self.wait(question, true).await.map(|it| it.answer) })
    }

    fn submit<'a>(
        &'a self,
        question: &'a Question,
        wait: bool,
    ) -> BoxFuture<'a, Result<AnswerGiven, NotAsked>> {
        Box::pin(self.wait(question, wait))
    }

    fn withdraw(&self, question: &Question) {
        let (call, binding) = (question.call.clone(), question.binding.clone());
        let now = self.now();
        let failed = |err: StoreError| {
            tracing::warn!("a question could not be withdrawn, and expires later: {err}");
        };
        let tell = move |done: Result<(), StoreError>| done.unwrap_or_else(failed);
        let job = writer::task(move |tx| rows::withdraw(tx, &call, &binding, now), tell);
        self.store.queue(job).unwrap_or_else(failed);
    }
}

/// What can be answered at all.
fn checked(given: GivenAnswer) -> Result<GivenAnswer, QueueError> {
    match given.by.trim().is_empty() {
        true => Err(QueueError::Nameless),
        false => Ok(given),
    }
}

/// A question that was asked.
enum SubmittedQuestion {
    /// Its answer is waited for.
    Waiting(WaitingQuestion),
    /// There is nothing to wait for.
    Over(Result<AnswerGiven, NotAsked>),
}

impl SubmittedQuestion {
    fn new(parking: ParkOutcome, store: SqliteStore) -> SubmittedQuestion {
        let said = |id, (answer, by, votes)| AnswerGiven { answer, by, question: Some(id), votes };
        SubmittedQuestion::Over(match parking {
            ParkOutcome::Waiting { id, nonce } => {
                return SubmittedQuestion::Waiting(WaitingQuestion {
                    store,
                    id,
                    nonce,
                    over: false,
                });
            }
            ParkOutcome::Queued(id) => Err(NotAsked::Parked(id)),
            ParkOutcome::Answered { id, taken } => Ok(said(id, taken)),
            ParkOutcome::RecentlyRefused { id, by, answer } => {
                Ok(said(id, (answer, by, Vec::new())))
            }
            ParkOutcome::Over(id) => {
                Err(NotAsked::Failed(format!("approval {id} about the same run is over already")))
            }
            ParkOutcome::Full(count) => Err(NotAsked::Failed(QueueError::Full(count).to_string())),
        })
    }
}

/// A question that this process waits for. Dropped, it is let go of: the question stays, and
/// whoever asks the same again gets it.
struct WaitingQuestion {
    store: SqliteStore,
    id: u64,
    nonce: String,
    over: bool,
}

impl Drop for WaitingQuestion {
    fn drop(&mut self) {
        if self.over {
            return;
        }
        let (id, nonce) = (self.id, std::mem::take(&mut self.nonce));
        let failed = move |err: StoreError| {
            tracing::warn!(
                "question {id} could not be released, and is held a while longer: {err}"
            );
        };
        let tell = move |done: Result<(), StoreError>| done.unwrap_or_else(failed);
        let job = writer::task(move |tx| rows::release(tx, id, &nonce), tell);
        self.store.queue(job).unwrap_or_else(failed);
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
