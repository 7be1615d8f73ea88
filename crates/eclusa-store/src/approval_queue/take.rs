//! Taking the yes to a question whose asker has gone away, for whoever acts on it.

use eclusa::approve::{AnswerGiven, QuestionState, QueueError};
use rusqlite::{OptionalExtension, params};

use super::{
    read::{from_sql, is_away},
    rows::{self, QuestionRow, damaged, next_change},
    wire,
};
use crate::{
    StoreError,
    error::InStore,
    writer::{Transaction, to_sql},
};

/// Takes the yes. Whoever waits for the question keeps it.
pub(super) fn take_left(
    tx: &mut Transaction<'_>,
    id: u64,
    now: u64,
) -> Result<Result<AnswerGiven, QueueError>, StoreError> {
    let sql = "SELECT question, holder, held_until FROM questions WHERE id = ?1";
    let found = tx.connection.query_row(sql, [to_sql(id)], |row| {
        let held_until: i64 = row.get(2)?;
        Ok((row.get::<_, String>(0)?, row.get::<_, Option<String>>(1)?, from_sql(held_until)))
    });
    let Some((text, holder, held_until)) = found.optional().in_store(tx.path)? else {
        return Ok(Err(QueueError::Unknown(id)));
    };
    let state = rows::state(tx, id, now)?;
    if state != QuestionState::Approved || !is_away(holder.as_deref(), held_until, now) {
        let (needed, wanted) = (QuestionState::Approved, "taken");
        return Ok(Err(QueueError::WrongState { id, state, needed, wanted }));
    }
    let question = wire::read(&text).map_err(|why| damaged(tx.path, id, &why))?;
    let asked = QuestionRow::new(&question).map_err(|why| damaged(tx.path, id, &why))?;
    let sql = "UPDATE questions SET nonce = hex(randomblob(16)), changed = ?2 WHERE id = ?1 \
               RETURNING nonce";
    let row = params![to_sql(id), next_change(tx)?];
    let nonce: String = tx.connection.query_row(sql, row, |row| row.get(0)).in_store(tx.path)?;
    let taken = rows::take(tx, id, &nonce, &asked, now)?;
    let taken = taken.ok_or_else(|| damaged(tx.path, id, "its answer cannot be taken"))?;
    let (answer, by, votes) = taken;
    Ok(Ok(AnswerGiven { answer, by, question: Some(id), votes }))
}
