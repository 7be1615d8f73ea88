//! Queueing a question, or adopting the same one that was left behind.

use eclusa::{
    Answer,
    approve::{NO_COVERS, QuestionState},
};
use rusqlite::{OptionalExtension, params};

use super::{
    HOLD, holder,
    outbox::{self, Outgoing},
    read::{from_sql, is_away, times},
    rows::{self, QuestionRow, TakenAnswer, damaged, next_change},
};
use crate::{
    StoreError,
    error::InStore,
    writer::{Transaction, to_sql},
};

/// So many questions of one session wait at most; more would only wear people out.
const MAX_OF_CONVERSATION: u64 = 50;

/// So many questions wait at most.
const MAX_PENDING: u64 = 20_000;

/// So many questions are swept up at once, so that nobody waits long for it.
const SWEEP: i64 = 200;

/// What comes of asking a question.
pub(super) enum ParkOutcome {
    /// It waits, and whoever knows the secret waits for it.
    Waiting { id: u64, nonce: String },
    /// It waits, and nobody waits for it.
    Queued(u64),
    /// It was answered before, and here is the answer, which nobody else gets.
    Answered { id: u64, taken: TakenAnswer },
    /// Somebody said no to the same a short while ago.
    RecentlyRefused { id: u64, by: String, answer: Answer },
    /// It is not queued: a question about the same run was answered or is over.
    Over(u64),
    /// It is not queued: so many wait already.
    Full(u64),
}

/// Queues a question, or adopts the same one that nobody waits for any more; an answer that it has
/// by then is taken. Of a new one people are told. All of it in one transaction, so that it takes one
/// sync of the disk.
pub(super) fn park(
    tx: &mut Transaction<'_>,
    asked: &QuestionRow,
    told: &[Outgoing],
    now: u64,
    expires: u64,
    valid: u64,
    wait: bool,
) -> Result<ParkOutcome, StoreError> {
    sweep(tx, now)?;
    if let Some(no) = recent_no(tx, asked, now)? {
        return Ok(no);
    }
    let holder = wait.then(holder::this_process);
    let held_until = if wait { to_sql(now.saturating_add(HOLD)) } else { 0 };
    let waits =
        |id, nonce| if wait { ParkOutcome::Waiting { id, nonce } } else { ParkOutcome::Queued(id) };
    if let Some((id, state)) = left_behind(tx, asked, now)? {
        let sql = "UPDATE questions SET call = ?2, conversation = ?3, holder = ?4, \
                   nonce = hex(randomblob(16)), held_until = ?5, \
                   expires = CASE state WHEN 'pending' THEN max(expires, ?6) ELSE expires END, \
                   changed = ?7 WHERE id = ?1 RETURNING nonce";
        let (call, session, change) = (&asked.call, &asked.session, next_change(tx)?);
        let row = params![to_sql(id), call, session, holder, held_until, to_sql(expires), change];
        let nonce: String =
            tx.connection.query_row(sql, row, |row| row.get(0)).in_store(tx.path)?;
        if state == QuestionState::Pending {
            return Ok(waits(id, nonce));
        }
        let taken = rows::take(tx, id, &nonce, asked, now)?;
        let taken = taken.ok_or_else(|| damaged(tx.path, id, "its answer cannot be taken"))?;
        return Ok(ParkOutcome::Answered { id, taken });
    }
    if let Some(call) = asked.pending
        && let Some(id) = about_same_run(tx, asked, call)?
    {
        return Ok(ParkOutcome::Over(id));
    }
    let pending = "SELECT count FROM waiting";
    let of_session = "SELECT count(*) FROM questions INDEXED BY questions_of \
                           WHERE state = 'pending' AND conversation = ?1";
    let count = |sql: &str, params: &[&dyn rusqlite::ToSql]| {
        let mut select = tx.connection.prepare_cached(sql)?;
        select.query_row(params, |row| row.get::<_, i64>(0)).map(from_sql)
    };
    let all = count(pending, &[]).in_store(tx.path)?;
    let of_this = count(of_session, &[&asked.session]).in_store(tx.path)?;
    if all >= MAX_PENDING {
        return Ok(ParkOutcome::Full(all));
    }
    if of_this >= MAX_OF_CONVERSATION {
        return Ok(ParkOutcome::Full(of_this));
    }
    let sql = "INSERT INTO questions (principal, conversation, call, binding, shown, question, \
               created, expires, valid, state, changed, holder, nonce, held_until) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 'pending', ?10, ?11, \
               hex(randomblob(16)), ?12) RETURNING id, nonce";
    let row = params![
        asked.principal,
        asked.session,
        asked.call,
        asked.binding,
        &asked.shown.as_bytes()[..],
        asked.question,
        to_sql(now),
        to_sql(expires),
        to_sql(valid),
        next_change(tx)?,
        holder,
        held_until,
    ];
    let read = |row: &rusqlite::Row<'_>| Ok((from_sql(row.get(0)?), row.get(1)?));
    let (id, nonce) = tx.connection.query_row(sql, row, read).in_store(tx.path)?;
    outbox::add(tx, id, told, now)?;
    Ok(waits(id, nonce))
}

/// A no that still covers the same question in the same session.
fn recent_no(
    tx: &Transaction<'_>,
    asked: &QuestionRow,
    now: u64,
) -> Result<Option<ParkOutcome>, StoreError> {
    // INVARIANT: the index is used by whoever names exactly the states that it has.
    let sql = "SELECT id, decided_by, reason, answer FROM questions INDEXED BY questions_bound \
               WHERE binding = ?1 AND state IN ('pending', 'approved', 'rejected') \
               AND state = 'rejected' AND answer IN ('no', 'instead') AND principal = ?2 AND conversation = ?3 \
               AND decided > ?4 ORDER BY id DESC LIMIT 1";
    let covers = u64::try_from(NO_COVERS.as_millis()).unwrap_or(u64::MAX);
    let since = to_sql(now.saturating_sub(covers));
    let mut select = tx.connection.prepare_cached(sql).in_store(tx.path)?;
    let row = params![asked.binding, asked.principal, asked.session, since];
    let found = select.query_row(row, |row| {
        let by: Option<String> = row.get(1)?;
        let reason: String = row.get::<_, Option<String>>(2)?.unwrap_or_default();
        let word: String = row.get(3)?;
        let answer = if word == "instead" { Answer::Instead(reason) } else { Answer::No(reason) };
        Ok(ParkOutcome::RecentlyRefused {
            id: from_sql(row.get(0)?),
            by: by.unwrap_or_default(),
            answer,
        })
    });
    found.optional().in_store(tx.path)
}

/// An open question about the same, of the same principal, that nobody waits for: an answered one
/// before others. With it, how it stands.
fn left_behind(
    tx: &Transaction<'_>,
    asked: &QuestionRow,
    now: u64,
) -> Result<Option<(u64, QuestionState)>, StoreError> {
    let sql = "SELECT id, state, expires, decided, valid, holder, held_until FROM questions \
               INDEXED BY questions_bound WHERE binding = ?1 \
               AND state IN ('pending', 'approved', 'rejected') AND state <> 'rejected' \
               AND principal = ?2 AND shown = ?3 ORDER BY state = 'approved' DESC, id";
    let mut select = tx.connection.prepare_cached(sql).in_store(tx.path)?;
    let row = params![asked.binding, asked.principal, &asked.shown.as_bytes()[..]];
    let mut rows = select.query(row).in_store(tx.path)?;
    while let Some(row) = rows.next().in_store(tx.path)? {
        let get = || -> rusqlite::Result<_> {
            let (id, word): (i64, String) = (row.get(0)?, row.get(1)?);
            let times = times(row.get(2)?, row.get(3)?, row.get(4)?);
            let held_by: Option<String> = row.get(5)?;
            Ok((id, word, times, held_by, row.get::<_, i64>(6)?))
        };
        let (id, word, times, held_by, held_until) = get().in_store(tx.path)?;
        let state = word.parse().ok().map(|it: QuestionState| it.at(now, times));
        let open = state.filter(|it| it.is_open());
        if is_away(held_by.as_deref(), from_sql(held_until), now)
            && let Some(state) = open
        {
            return Ok(Some((from_sql(id), state)));
        }
    }
    Ok(None)
}

/// A question about the same run, whatever became of it. One that is open was looked for before.
fn about_same_run(
    tx: &Transaction<'_>,
    asked: &QuestionRow,
    call: u64,
) -> Result<Option<u64>, StoreError> {
    let sql = "SELECT max(id) FROM questions INDEXED BY questions_bound WHERE binding = ?1 \
               AND principal = ?2 AND json_extract(question, '$.pending[0]') = ?3 \
               AND state NOT IN ('pending', 'expired')";
    let row = params![asked.binding, asked.principal, to_sql(call)];
    let mut select = tx.connection.prepare_cached(sql).in_store(tx.path)?;
    let id: Option<i64> = select.query_row(row, |row| row.get(0)).in_store(tx.path)?;
    Ok(id.map(from_sql))
}

/// Ends what is too old, for example because whoever asked never came back.
fn sweep(tx: &Transaction<'_>, now: u64) -> Result<(), StoreError> {
    let sql = "UPDATE questions SET state = 'expired', decided = expires, edit = NULL, \
               changed = ?2, question = json_set(question, '$.args', NULL) \
               WHERE id IN (SELECT id FROM questions INDEXED BY questions_expiring \
               WHERE state = 'pending' AND expires <= ?1 LIMIT ?3)";
    let row = params![to_sql(now), next_change(tx)?, SWEEP];
    tx.connection.execute(sql, row).in_store(tx.path).map(drop)
}

/// Gives the open question of a call a name.
pub(super) fn set_ticket(
    tx: &mut Transaction<'_>,
    call: &str,
    ticket: &str,
) -> Result<bool, StoreError> {
    let sql = "UPDATE questions SET ticket = ?2 WHERE id = (SELECT max(id) FROM questions \
               WHERE call = ?1 AND state = 'pending')";
    Ok(tx.connection.execute(sql, [call, ticket]).in_store(tx.path)? == 1)
}
