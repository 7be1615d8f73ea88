//! Ending a session: everything that it waits for is refused, and no yes of it is left.

use eclusa::{
    Answer,
    approve::{GivenAnswer, QueueError},
};

use super::{read::from_sql, rows};
use crate::{StoreError, error::InStore, writer::Transaction};

/// Refuses what waits and takes back what was not used. Says how many questions that ended.
pub(super) fn end(
    tx: &mut Transaction<'_>,
    session: &str,
    by: &str,
    now: u64,
) -> Result<Result<u64, QueueError>, StoreError> {
    if by.trim().is_empty() {
        return Ok(Err(QueueError::Nameless));
    }
    let mut ended = 0;
    for (id, pending) in open(tx, session)? {
        let done = match pending {
            true => {
                let (answer, by) = (Answer::Abort, by.to_owned());
                let questions = vec![id];
                let given = GivenAnswer { questions, answer, by, binding: None, signed: None };
                rows::decide(tx, &given, now)?
            }
            false => rows::revoke(tx, id, by, now)?,
        };
        // What expired or was taken at this very moment is over, too.
        ended += u64::from(done.is_ok());
    }
    Ok(Ok(ended))
}

/// The open questions of a session, and whether each still waits for an answer.
fn open(tx: &Transaction<'_>, session: &str) -> Result<Vec<(u64, bool)>, StoreError> {
    let sql = "SELECT id, state = 'pending' FROM questions WHERE state IN ('pending', 'approved') \
               AND conversation = ?1 ORDER BY id";
    let mut select = tx.connection.prepare_cached(sql).in_store(tx.path)?;
    let rows = select.query_map([session], |row| Ok((from_sql(row.get(0)?), row.get(1)?)));
    rows.in_store(tx.path)?.collect::<Result<_, _>>().in_store(tx.path)
}
