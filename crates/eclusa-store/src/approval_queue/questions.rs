//! The queue for those who look at it, answer, and send notifications.

use eclusa::{
    approve::{
        Allowance, AnswerGiven, DueNotification, FailedNotification, GivenAnswer, GivenVote,
        Outbox, QuestionPage, Questions, QueueError, QueueFuture, QueuedQuestion,
    },
    store::ApprovalQueue,
};

use super::{
    SqliteQueue, allowances, checked, outbox, park, read, requests, rows, sessions, take, votes,
};
use crate::{error::InStore as _, writer::Transaction};

impl Questions for SqliteQueue {
    fn queue(&self) -> QueueFuture<'_, String> {
        Box::pin(async move { Ok(read::about(&self.store, "queue")?.unwrap_or_default()) })
    }

    fn list(&self, page: QuestionPage) -> QueueFuture<'_, Vec<QueuedQuestion>> {
        Box::pin(async move { Ok(read::pending(&self.store, page, self.now())?) })
    }

    fn pending(&self) -> QueueFuture<'_, u64> {
        Box::pin(async move { Ok(read::count(&self.store, self.now())?) })
    }

    fn get(&self, id: u64) -> QueueFuture<'_, QueuedQuestion> {
        Box::pin(
            async move { read::one(&self.store, id, self.now())?.ok_or(QueueError::Unknown(id)) },
        )
    }

    fn identical(&self, id: u64) -> QueueFuture<'_, Vec<u64>> {
        Box::pin(async move { Ok(read::identical(&self.store, id, self.now())?) })
    }

    fn answer(&self, given: GivenAnswer) -> QueueFuture<'_, ()> {
        Box::pin(async move {
            let now = self.now();
            let given = checked(given)?;
            let decided = self.store.write_later(move |tx| rows::decide(tx, &given, now)).await;
            self.store.inner.answered.notify_waiters();
            decided.map_err(QueueError::from)?
        })
    }

    fn take(&self, id: u64) -> QueueFuture<'_, AnswerGiven> {
        Box::pin(async move {
            let now = self.now();
            let taken = self.store.write_later(move |tx| take::take_left(tx, id, now)).await;
            self.store.inner.answered.notify_waiters();
            taken.map_err(QueueError::from)?
        })
    }

    fn of_pending<'a>(
        &'a self,
        binding: &'a str,
        call: u64,
    ) -> QueueFuture<'a, Option<QueuedQuestion>> {
        Box::pin(async move { Ok(read::of_pending(&self.store, binding, call, self.now())?) })
    }

    fn revoke<'a>(&'a self, id: u64, by: &'a str) -> QueueFuture<'a, ()> {
        Box::pin(async move {
            let (by, now) = (by.to_owned(), self.now());
            let revoked = self.store.write_later(move |tx| rows::revoke(tx, id, &by, now)).await;
            self.store.inner.answered.notify_waiters();
            revoked.map_err(QueueError::from)?
        })
    }

    fn votes(&self, id: u64) -> QueueFuture<'_, Vec<GivenVote>> {
        Box::pin(async move { Ok(votes::yes(&self.store, id)?) })
    }

    fn failed_notifications(&self) -> QueueFuture<'_, Vec<FailedNotification>> {
        Box::pin(async move { Ok(outbox::failed(&self.store, self.now())?) })
    }

    fn answered_request<'a>(&'a self, id: &'a str) -> QueueFuture<'a, Option<(u16, String)>> {
        Box::pin(async move { Ok(requests::answered(&self.store, id)?) })
    }

    fn keep_request<'a>(&'a self, id: &'a str, answer: (u16, String)) -> QueueFuture<'a, ()> {
        Box::pin(async move {
            let (id, now) = (id.to_owned(), self.now());
            let keep = self.store.write_later(move |tx| requests::keep(tx, &id, &answer, now));
            Ok(keep.await?)
        })
    }

    fn end_session<'a>(&'a self, session: &'a str, by: &'a str) -> QueueFuture<'a, u64> {
        Box::pin(async move {
            let (session, by, now) = (session.to_owned(), by.to_owned(), self.now());
            let end = move |tx: &mut Transaction<'_>| sessions::end(tx, &session, &by, now);
            let ended = self.store.write_later(end).await;
            self.store.inner.answered.notify_waiters();
            ended.map_err(QueueError::from)?
        })
    }

    fn changes(&self, after: u64) -> QueueFuture<'_, (Vec<u64>, u64)> {
        Box::pin(async move { Ok(rows::changed_after(&self.store, after)?) })
    }

    fn set_ticket<'a>(&'a self, call: &'a str, ticket: &'a str) -> QueueFuture<'a, bool> {
        Box::pin(async move {
            let (call, ticket) = (call.to_owned(), ticket.to_owned());
            let set = self.store.write_later(move |tx| park::set_ticket(tx, &call, &ticket));
            Ok(set.await?)
        })
    }

    fn find_ticket<'a>(&'a self, ticket: &'a str) -> QueueFuture<'a, Option<QueuedQuestion>> {
        Box::pin(async move { Ok(read::ticket(&self.store, ticket, self.now())?) })
    }
}

impl ApprovalQueue for SqliteQueue {
    fn left(&self) -> QueueFuture<'_, Vec<QueuedQuestion>> {
        Box::pin(async move { Ok(read::left(&self.store, self.now())?) })
    }

    fn pending_number<'a>(
        &'a self,
        call: &'a str,
        binding: &'a str,
    ) -> QueueFuture<'a, Option<u64>> {
        Box::pin(async move { Ok(read::pending_number(&self.store, call, binding)?) })
    }

    fn allowances(&self) -> QueueFuture<'_, Vec<Allowance>> {
        Box::pin(async move {
            Ok(allowances::latest(&*self.store.reader()?).in_store(self.store.path())?)
        })
    }

    fn live_allowances(&self) -> QueueFuture<'_, Vec<Allowance>> {
        Box::pin(async move {
            let now = self.now();
            Ok(allowances::live(&*self.store.reader()?, now).in_store(self.store.path())?)
        })
    }

    fn propose<'a>(
        &'a self,
        rule: &'a str,
        times: u64,
        until: u64,
        by: &'a str,
    ) -> QueueFuture<'a, u64> {
        Box::pin(async move {
            let (rule, by, now) = (rule.to_owned(), by.to_owned(), self.now());
            let terms = (times, until);
            let propose =
                move |tx: &mut Transaction<'_>| allowances::propose(tx, &rule, terms, &by, now);
            Ok(self.store.write_later(propose).await?)
        })
    }

    fn agree(&self, id: u64, vote: GivenVote) -> QueueFuture<'_, bool> {
        Box::pin(async move {
            let now = self.now();
            Ok(self.store.write_later(move |tx| allowances::agree(tx, id, &vote, now)).await?)
        })
    }

    fn revoke_allowance<'a>(&'a self, id: u64, by: &'a str) -> QueueFuture<'a, bool> {
        Box::pin(async move {
            let (by, now) = (by.to_owned(), self.now());
            Ok(self.store.write_later(move |tx| allowances::revoke(tx, id, &by, now)).await?)
        })
    }

    fn take_allowance(&self, id: u64) -> QueueFuture<'_, bool> {
        Box::pin(async move {
            let now = self.now();
            Ok(self.store.write_later(move |tx| allowances::take(tx, id, now)).await?)
        })
    }
}

impl Outbox for SqliteQueue {
    fn name(&self) -> QueueFuture<'_, String> {
        Questions::queue(self)
    }

    fn next_due(&self) -> QueueFuture<'_, Option<u64>> {
        Box::pin(async move { Ok(outbox::next_due(&self.store)?) })
    }

    fn claim(&self) -> QueueFuture<'_, Vec<DueNotification>> {
        Box::pin(async move {
            let now = self.now();
            let claimed = self.store.write_later(move |tx| outbox::claim(tx, now)).await?;
            let mut due = Vec::new();
            for it in claimed {
                due.extend(outbox::due(&self.store, it, now)?);
            }
            Ok(due)
        })
    }

    fn note_attempt(&self, id: u64, outcome: Result<(), String>) -> QueueFuture<'_, ()> {
        Box::pin(async move {
            let now = self.now();
            let note = self.store.write_later(move |tx| outbox::note(tx, id, &outcome, now));
            Ok(note.await?)
        })
    }
}
