//! Reading questions: pages of those that wait, and single ones.

use eclusa::approve::{QuestionPage, QuestionState, QuestionTimes, QueuedQuestion};
use rusqlite::{OptionalExtension, Params, Row, params};

use super::{holder, rows::damaged, wire};
use crate::{SqliteStore, StoreError, error::InStore, writer::to_sql};

const COLUMNS: &str = "SELECT id, question, created, expires, state, answer, decided_by, decided, \
     reason, taken, binding, valid, holder, held_until, proof FROM questions ";

/// What whoever waits needs to know of its question.
pub(super) struct HeldState {
    pub(super) state: QuestionState,
    pub(super) expires: u64,
    pub(super) nonce: Option<String>,
}

/// Questions that wait, oldest first.
pub(super) fn pending(
    store: &SqliteStore,
    page: QuestionPage,
    now: u64,
) -> Result<Vec<QueuedQuestion>, StoreError> {
    let rest = "WHERE state = 'pending' AND id > ?1 AND expires > ?2 ORDER BY id LIMIT ?3";
    let limit = i64::try_from(page.limit).unwrap_or(i64::MAX);
    query(store, rest, params![to_sql(page.after), to_sql(now), limit], now)
}

/// Open questions that nobody waits for.
pub(super) fn left(store: &SqliteStore, now: u64) -> Result<Vec<QueuedQuestion>, StoreError> {
    let rest = "WHERE state IN ('pending', 'approved') ORDER BY id";
    let open = query(store, rest, [], now)?;
    Ok(open.into_iter().filter(|it| it.state.is_open() && it.asker_away).collect())
}

/// How many wait.
pub(super) fn count(store: &SqliteStore, now: u64) -> Result<u64, StoreError> {
    // Those whose time is over and that nothing swept up are few.
    let sql = "SELECT count - (SELECT count(*) FROM questions INDEXED BY questions_expiring \
               WHERE state = 'pending' AND expires <= ?1) FROM waiting";
    let reader = store.reader()?;
    let mut select = reader.prepare_cached(sql).in_store(store.path())?;
    let count: i64 = select.query_row([to_sql(now)], |row| row.get(0)).in_store(store.path())?;
    Ok(from_sql(count))
}

/// One question.
pub(super) fn one(
    store: &SqliteStore,
    id: u64,
    now: u64,
) -> Result<Option<QueuedQuestion>, StoreError> {
    Ok(query(store, "WHERE id = ?1", [to_sql(id)], now)?.pop())
}

/// The number of the pending question of this call with this binding.
pub(super) fn pending_number(
    store: &SqliteStore,
    call: &str,
    binding: &str,
) -> Result<Option<u64>, StoreError> {
    let sql = "SELECT max(id) FROM questions INDEXED BY questions_calling \
               WHERE call = ?1 AND state = 'pending' AND binding = ?2";
    let reader = store.reader()?;
    let mut select = reader.prepare_cached(sql).in_store(store.path())?;
    let id: Option<i64> =
        select.query_row([call, binding], |row| row.get(0)).in_store(store.path())?;
    Ok(id.map(from_sql))
}

/// The question with this ticket.
pub(super) fn ticket(
    store: &SqliteStore,
    ticket: &str,
    now: u64,
) -> Result<Option<QueuedQuestion>, StoreError> {
    Ok(query(store, "WHERE ticket = ?1", [ticket], now)?.pop())
}

/// The latest question with this binding about the changes of this call.
pub(super) fn of_pending(
    store: &SqliteStore,
    binding: &str,
    call: u64,
    now: u64,
) -> Result<Option<QueuedQuestion>, StoreError> {
    let rest = "INDEXED BY questions_bound WHERE binding = ?1 \
                AND json_extract(question, '$.pending[0]') = ?2 ORDER BY id";
    Ok(query(store, rest, params![binding, to_sql(call)], now)?.pop())
}

/// The numbers of pending questions about the same thing, of the same principal.
pub(super) fn identical(store: &SqliteStore, id: u64, now: u64) -> Result<Vec<u64>, StoreError> {
    let sql = "SELECT other.id FROM questions one JOIN questions other INDEXED BY questions_bound \
               ON other.binding = one.binding AND other.shown = one.shown \
               WHERE one.id = ?1 AND other.state IN ('pending', 'approved', 'rejected') \
               AND other.state = 'pending' AND other.expires > ?2 \
               ORDER BY other.id";
    let reader = store.reader()?;
    let mut select = reader.prepare_cached(sql).in_store(store.path())?;
    let rows = select.query_map([to_sql(id), to_sql(now)], |row| row.get::<_, i64>(0));
    let ids: Result<Vec<i64>, _> = rows.in_store(store.path())?.collect();
    Ok(ids.in_store(store.path())?.into_iter().map(from_sql).collect())
}

/// How a question stands for whoever waits for it.
pub(super) fn held(store: &SqliteStore, id: u64, now: u64) -> Result<HeldState, StoreError> {
    let sql = "SELECT state, expires, decided, valid, nonce FROM questions WHERE id = ?1";
    let reader = store.reader()?;
    let mut select = reader.prepare_cached(sql).in_store(store.path())?;
    let found = select.query_row([to_sql(id)], |row| {
        let word: String = row.get(0)?;
        let expires: i64 = row.get(1)?;
        let decided: Option<i64> = row.get(2)?;
        let valid: i64 = row.get(3)?;
        let nonce: Option<String> = row.get(4)?;
        Ok((word, expires, decided, valid, nonce))
    });
    let found = found.optional().in_store(store.path())?;
    let (word, expires, decided, valid, nonce) =
        found.ok_or_else(|| damaged(store.path(), id, "it is gone"))?;
    let times = times(expires, decided, valid);
    let state: QuestionState =
        word.parse().map_err(|_| damaged(store.path(), id, &format!("`{word}` is not a state")))?;
    Ok(HeldState { state: state.at(now, times), expires: times.expires, nonce })
}

/// Something that the store knows about itself.
pub(super) fn about(store: &SqliteStore, name: &str) -> Result<Option<String>, StoreError> {
    let sql = "SELECT value FROM about WHERE name = ?1";
    let reader = store.reader()?;
    let mut select = reader.prepare_cached(sql).in_store(store.path())?;
    select.query_row([name], |row| row.get(0)).optional().in_store(store.path())
}

pub(super) fn times(expires: i64, decided: Option<i64>, valid: i64) -> QuestionTimes {
    QuestionTimes {
        expires: from_sql(expires),
        decided: decided.map(from_sql),
        valid: from_sql(valid),
    }
}

fn query(
    store: &SqliteStore,
    rest: &str,
    params: impl Params,
    now: u64,
) -> Result<Vec<QueuedQuestion>, StoreError> {
    let reader = store.reader()?;
    let mut select = reader.prepare_cached(&format!("{COLUMNS}{rest}")).in_store(store.path())?;
    let mut rows = select.query(params).in_store(store.path())?;
    let mut queued = Vec::new();
    while let Some(row) = rows.next().in_store(store.path())? {
        queued.push(read(store, row, now)?);
    }
    Ok(queued)
}

fn read(store: &SqliteStore, row: &Row<'_>, now: u64) -> Result<QueuedQuestion, StoreError> {
    let number = |at| row.get::<_, i64>(at).map(from_sql).in_store(store.path());
    let maybe = |at| {
        row.get::<_, Option<i64>>(at).map(|number| number.map(from_sql)).in_store(store.path())
    };
    let id = number(0)?;
    let text: String = row.get(1).in_store(store.path())?;
    let word: String = row.get(4).in_store(store.path())?;
    let state: QuestionState =
        word.parse().map_err(|_| damaged(store.path(), id, &format!("`{word}` is not a state")))?;
    let (expires, decided_at) = (number(3)?, maybe(7)?);
    let times = QuestionTimes { expires, decided: decided_at, valid: number(11)? };
    let held_by: Option<String> = row.get(12).in_store(store.path())?;
    let proof: Option<String> = row.get(14).in_store(store.path())?;
    let queued = QueuedQuestion {
        id,
        question: wire::read(&text).map_err(|why| damaged(store.path(), id, &why))?,
        created: number(2)?,
        expires,
        // Whether or not anything swept it up.
        state: state.at(now, times),
        asker_away: is_away(held_by.as_deref(), number(13)?, now),
        answer: row.get(5).in_store(store.path())?,
        decided_by: row.get(6).in_store(store.path())?,
        proof: proof.as_deref().and_then(|it| it.parse().ok()),
        decided_at,
        reason: row.get(8).in_store(store.path())?,
        taken_at: maybe(9)?,
    };
    let binding: String = row.get(10).in_store(store.path())?;
    if binding == queued.question.binding {
        Ok(queued)
    } else {
        Err(damaged(store.path(), id, "it is not the question that was asked"))
    }
}

/// Whether nobody waits for a question any more.
pub(super) fn is_away(held_by: Option<&str>, held_until: u64, now: u64) -> bool {
    held_until <= now || held_by.is_none_or(holder::has_ended)
}

pub(super) fn from_sql(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}
