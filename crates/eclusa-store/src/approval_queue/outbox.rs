//! Notifications about questions: rows that are written with the question, claimed by whoever sends
//! them, and kept until they arrived or the question is over.

use eclusa::{
    Question,
    approve::{
        DueNotification, FailedNotification, NotificationEvent, NotificationTarget, retry_after,
    },
};
use rusqlite::params;

use super::{
    millis,
    read::{self, from_sql},
};
use crate::{
    SqliteStore, StoreError,
    error::InStore,
    writer::{Transaction, to_sql},
};

/// So many are claimed at once.
const CLAIMED: i64 = 16;

/// For so long nobody else sends what was claimed, in milliseconds.
const LEASE: u64 = 60_000;

/// What is told once a question is answered is due at this time until it is, in milliseconds since 1970.
const UNTIL_ANSWERED: u64 = 1 << 62;

/// So much is kept of why one could not be sent.
const MAX_ERROR: usize = 300;

/// A notification that is written with its question.
#[derive(Debug, Clone)]
pub(super) struct Outgoing {
    target: String,
    event: NotificationEvent,
    after: u64,
}

/// Everything that is to be told about a question: that it waits, and each time that others may
/// answer it, too.
pub(super) fn outgoing(question: &Question, targets: &[NotificationTarget]) -> Vec<Outgoing> {
    let steps = question.verdict.requirements().flat_map(|it| &it.then);
    let steps = steps.map(|it| (NotificationEvent::Escalated, millis(it.after)));
    let events: Vec<_> = [(NotificationEvent::Asked, 0)].into_iter().chain(steps).collect();
    let of_target = |target: &NotificationTarget| {
        let (name, after) = (target.name.clone(), millis(target.after));
        events
            .iter()
            .map(|(event, at)| Outgoing {
                target: name.clone(),
                event: *event,
                after: at.saturating_add(after),
            })
            .chain(target.answers.then(|| Outgoing {
                target: name.clone(),
                event: NotificationEvent::Answered,
                after: UNTIL_ANSWERED,
            }))
            .collect::<Vec<_>>()
    };
    targets.iter().flat_map(of_target).collect()
}

/// Writes down what is to be told about a question.
pub(super) fn add(
    tx: &Transaction<'_>,
    question: u64,
    all: &[Outgoing],
    now: u64,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO notifications (question, target, event, due) VALUES (?1, ?2, ?3, ?4)";
    for it in all {
        let due = match it.event {
            NotificationEvent::Answered => to_sql(UNTIL_ANSWERED),
            _ => to_sql(now.saturating_add(it.after)),
        };
        let row = params![to_sql(question), it.target, it.event.as_str(), due];
        tx.connection.execute(sql, row).in_store(tx.path)?;
    }
    Ok(())
}

/// What is told of the answer to this question is due now.
pub(super) fn tell_answer(tx: &Transaction<'_>, question: u64, now: u64) -> Result<(), StoreError> {
    let sql = "UPDATE notifications SET due = ?2 WHERE question = ?1 AND event = 'answered'";
    let row = params![to_sql(question), to_sql(now)];
    tx.connection.execute(sql, row).in_store(tx.path).map(drop)
}

/// Claims some that are due, and forgets those whose questions are over.
pub(super) fn claim(
    tx: &mut Transaction<'_>,
    now: u64,
) -> Result<Vec<(u64, u64, String, String)>, StoreError> {
    let over = "DELETE FROM notifications WHERE (due <= ?1 AND event <> 'answered' OR due >= ?2) \
                AND NOT EXISTS (SELECT 1 FROM questions \
                WHERE questions.id = notifications.question AND state = 'pending' AND expires > ?1)";
    let row = params![to_sql(now), to_sql(UNTIL_ANSWERED)];
    tx.connection.execute(over, row).in_store(tx.path)?;
    let sql = "UPDATE notifications SET attempts = attempts + 1, due = ?2 WHERE id IN \
               (SELECT id FROM notifications WHERE due <= ?1 ORDER BY due, id LIMIT ?3) \
               RETURNING id, question, target, event";
    let mut claim = tx.connection.prepare_cached(sql).in_store(tx.path)?;
    let until = to_sql(now.saturating_add(LEASE));
    let rows = claim.query_map(params![to_sql(now), until, CLAIMED], |row| {
        Ok((from_sql(row.get(0)?), from_sql(row.get(1)?), row.get(2)?, row.get(3)?))
    });
    rows.in_store(tx.path)?.collect::<Result<_, _>>().in_store(tx.path)
}

/// A claimed one with its question, which may be over by now.
pub(super) fn due(
    store: &SqliteStore,
    (id, question, target, event): (u64, u64, String, String),
    now: u64,
) -> Result<Option<DueNotification>, StoreError> {
    let Ok(event) = event.parse() else { return Ok(None) };
    let question = read::one(store, question, now)?;
    Ok(question.map(|question| DueNotification { id, target, event, question }))
}

/// Notes what came of sending one.
pub(super) fn note(
    tx: &mut Transaction<'_>,
    id: u64,
    outcome: &Result<(), String>,
    now: u64,
) -> Result<(), StoreError> {
    let Err(why) = outcome else {
        let sql = "DELETE FROM notifications WHERE id = ?1";
        return tx.connection.execute(sql, [to_sql(id)]).in_store(tx.path).map(drop);
    };
    let sql = "SELECT attempts FROM notifications WHERE id = ?1";
    let attempts = tx.connection.query_row(sql, [to_sql(id)], |row| row.get(0));
    let attempts = attempts.map(from_sql).unwrap_or_default();
    let due = to_sql(now.saturating_add(millis(retry_after(attempts))));
    let why: String = why.chars().take(MAX_ERROR).collect();
    let sql = "UPDATE notifications SET due = ?2, error = ?3 WHERE id = ?1";
    tx.connection.execute(sql, params![to_sql(id), due, why]).in_store(tx.path).map(drop)
}

/// When the next one is due.
pub(super) fn next_due(store: &SqliteStore) -> Result<Option<u64>, StoreError> {
    let reader = store.reader()?;
    let sql = "SELECT min(due) FROM notifications";
    let mut select = reader.prepare_cached(sql).in_store(store.path())?;
    let due: Option<i64> = select.query_row([], |row| row.get(0)).in_store(store.path())?;
    Ok(due.map(from_sql))
}

/// Those that could not be sent yet, of questions that wait.
pub(super) fn failed(store: &SqliteStore, now: u64) -> Result<Vec<FailedNotification>, StoreError> {
    let sql = "SELECT target, error, max(attempts) FROM notifications JOIN questions \
               ON questions.id = notifications.question WHERE error IS NOT NULL \
               AND state = 'pending' AND expires > ?1 GROUP BY target LIMIT 20";
    let reader = store.reader()?;
    let mut select = reader.prepare_cached(sql).in_store(store.path())?;
    let rows = select.query_map([to_sql(now)], |row| {
        let (target, error) = (row.get(0)?, row.get(1)?);
        Ok(FailedNotification { target, error, attempts: from_sql(row.get(2)?) })
    });
    rows.in_store(store.path())?.collect::<Result<_, _>>().in_store(store.path())
}
