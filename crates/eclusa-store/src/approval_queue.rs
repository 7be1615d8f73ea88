//! The approval queue: questions that wait for somebody, across processes and restarts.
//!
//! A question is queued with the time it expires. Exactly one decision about it wins, and it is
//! on record in the same transaction; whoever waits takes the answer once. What nobody answers in
//! time has been refused, whether or not anything swept it up.

mod rows;
mod wire;

use std::time::Duration;

use eclusa::{Answer, Approver, NotAsked, Question};
use futures::future::BoxFuture;
use tokio::sync::oneshot;

use crate::{
    Store, StoreError,
    writer::{self, Transaction},
};

/// Where questions wait for people.
#[derive(Debug, Clone)]
pub struct ApprovalQueue {
    store: Store,
    poll: Duration,
}

/// A question in the approval queue.
#[derive(Debug, Clone)]
pub struct QueuedQuestion {
    /// Its number; never given twice.
    pub id: u64,
    /// The question, complete. Once it is over, the arguments are no longer kept, and are `null`.
    pub question: Question,
    /// When it was asked, in milliseconds since 1970.
    pub created: u64,
    /// When it is too late to answer, in milliseconds since 1970.
    pub expires: u64,
    /// How it stands.
    pub status: QuestionStatus,
    /// The word for the answer: `once`, `session`, `always`, `edit`, `no`, `abort`.
    pub answer: Option<String>,
    /// Who answered.
    pub decided_by: Option<String>,
    /// When it was answered or expired, in milliseconds since 1970.
    pub decided_at: Option<u64>,
    /// Why not, in the words of whoever said no.
    pub reason: Option<String>,
    /// When the answer was taken by whoever waited for it; `None` if nobody was waiting any more.
    pub taken_at: Option<u64>,
}

/// How a question in the approval queue stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuestionStatus {
    /// Nobody has answered yet.
    Pending,
    /// Somebody said yes.
    Approved,
    /// Somebody said no.
    Rejected,
    /// Nobody answered in time, or whoever asked stopped waiting.
    Expired,
}

impl QuestionStatus {
    /// The word for it in the store and in lists.
    pub fn as_str(self) -> &'static str {
        match self {
            QuestionStatus::Pending => "pending",
            QuestionStatus::Approved => "approved",
            QuestionStatus::Rejected => "rejected",
            QuestionStatus::Expired => "expired",
        }
    }

    fn from_answer(answer: &Answer) -> QuestionStatus {
        match answer {
            Answer::Once | Answer::Session | Answer::Always | Answer::Edit(_) => {
                QuestionStatus::Approved
            }
            Answer::No(_) | Answer::Abort => QuestionStatus::Rejected,
        }
    }
}

impl std::fmt::Display for QuestionStatus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why an answer does not count.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QueueError {
    /// There is no such question.
    #[error("there is no pending approval {0}")]
    Unknown(u64),
    /// It is too late.
    #[error("approval {0} has expired and its call was refused; the agent has to ask again")]
    Expired(u64),
    /// Somebody else was faster, or the same person said something else.
    #[error("approval {id} is already {status}: `{by}` answered `{answer}`")]
    Decided {
        /// The question.
        id: u64,
        /// How it stands.
        status: QuestionStatus,
        /// The answer that holds.
        answer: String,
        /// Who gave it.
        by: String,
    },
    /// Nobody answers anonymously.
    #[error("an answer needs the name of whoever gives it")]
    Nameless,
    /// The store could not do it.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl ApprovalQueue {
    /// The desk of this store. Its clock decides what has expired.
    pub fn new(store: Store) -> ApprovalQueue {
        ApprovalQueue { store, poll: Duration::from_millis(100) }
    }

    /// How often a waiting question looks for an answer from another process.
    #[must_use]
    pub fn poll_every(self, poll: Duration) -> ApprovalQueue {
        ApprovalQueue { poll, ..self }
    }

    /// The questions that wait, oldest first.
    pub fn list(&self) -> Result<Vec<QueuedQuestion>, QueueError> {
        Ok(rows::pending(&self.store, self.now())?)
    }

    /// One question, however it stands.
    pub fn get(&self, id: u64) -> Result<QueuedQuestion, QueueError> {
        let queued = rows::one(&self.store, id)?.ok_or(QueueError::Unknown(id))?;
        // Whether or not anything swept it up.
        match queued.status == QuestionStatus::Pending && queued.expires <= self.now() {
            true => Ok(QueuedQuestion { status: QuestionStatus::Expired, ..queued }),
            false => Ok(queued),
        }
    }

    /// Answers a question, for good. The same answer by the same person may be given again.
    ///
    /// Blocks until the answer is durable.
    pub fn answer(&self, id: u64, answer: Answer, by: &str) -> Result<(), QueueError> {
        if by.trim().is_empty() {
            return Err(QueueError::Nameless);
        }
        let (by, now) = (by.to_owned(), self.now());
        self.store.write(move |tx| rows::decide(tx, id, &answer, &by, now))??;
        self.store.inner.answered.notify_waiters();
        Ok(())
    }

    async fn wait(&self, question: &Question) -> Result<Answer, NotAsked> {
        let failed = |err: StoreError| NotAsked::Failed(err.to_string());
        let text = wire::write(question).map_err(NotAsked::Failed)?;
        let created = self.now();
        let expires = created.saturating_add(millis(question.time));
        let call = question.call.clone();
        let asked = rows::Asked { binding: question.binding.clone(), question: text };
        let row = asked.clone();
        let mut waiting = self
            .insert(move |tx| rows::insert(tx, &row, &call, created, expires))
            .await
            .map_err(failed)?;
        let id = waiting.id;
        loop {
            // Listen before looking, so that nothing falls in between.
            let mut answered = std::pin::pin!(self.store.inner.answered.notified());
            answered.as_mut().enable();
            let queued = rows::status(&self.store, id).map_err(failed)?;
            let now = self.now();
            match queued {
                QuestionStatus::Approved | QuestionStatus::Rejected => {
                    let asked = asked.clone();
                    let take = self.store.write_later(move |tx| rows::take(tx, id, &asked, now));
                    let taken = take.await.map_err(failed)?;
                    waiting.over = true;
                    return taken.ok_or_else(|| {
                        NotAsked::Failed("its answer was already taken".to_owned())
                    });
                }
                QuestionStatus::Expired => break,
                QuestionStatus::Pending if now >= expires => break,
                QuestionStatus::Pending => {}
            }
            let pause = self.poll.min(Duration::from_millis(expires.saturating_sub(now)));
            tokio::select! {
                () = answered => {}
                () = tokio::time::sleep(pause) => {}
            }
        }
        Err(NotAsked::Failed("nobody answered before the question expired".to_owned()))
    }

    /// Queues a question. If nobody waits for it by the time it is queued, it is taken back.
    async fn insert(
        &self,
        insert: impl FnOnce(&mut Transaction<'_>) -> Result<u64, StoreError> + Send + 'static,
    ) -> Result<Waiting, StoreError> {
        let (tell, told) = oneshot::channel();
        let store = self.store.clone();
        let tell = move |queued: Result<u64, StoreError>| {
            // With nobody to take it, the token is dropped here, and does its work.
            drop(tell.send(queued.map(|id| Waiting { store, id, over: false })));
        };
        self.store.queue(writer::task(insert, tell))?;
        told.await.unwrap_or_else(|_| Err(StoreError::Gone(self.store.path().to_owned())))
    }

    fn now(&self) -> u64 {
        self.store.inner.options.clock.unix_ms()
    }
}

impl Approver for ApprovalQueue {
    fn name(&self) -> &str {
        "approval-queue"
    }

    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Result<Answer, NotAsked>> {
        Box::pin(self.wait(question))
    }
}

/// Takes the question back when nobody waits for its answer any more, so that no one approves
/// what will not be done.
struct Waiting {
    store: Store,
    id: u64,
    over: bool,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if self.over {
            return;
        }
        let (id, now) = (self.id, self.store.inner.options.clock.unix_ms());
        let failed = move |err: StoreError| {
            tracing::warn!("question {id} could not be taken back, and expires later: {err}");
        };
        let tell = move |expired: Result<(), StoreError>| expired.unwrap_or_else(failed);
        let job = writer::task(move |tx| rows::expire(tx, id, now), tell);
        self.store.queue(job).unwrap_or_else(failed);
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
