//! Signed requests from elsewhere that were answered: whoever sends one again gets the same answer.

use rusqlite::{OptionalExtension, params};

use crate::{
    SqliteStore, StoreError,
    error::InStore,
    writer::{Transaction, to_sql},
};

/// For so long they are kept, in milliseconds.
const MAX_AGE: u64 = 24 * 60 * 60 * 1_000;

/// What a request with this id was answered.
pub(super) fn answered(store: &SqliteStore, id: &str) -> Result<Option<(u16, String)>, StoreError> {
    let sql = "SELECT status, answer FROM hook_requests WHERE id = ?1";
    let reader = store.reader()?;
    let mut select = reader.prepare_cached(sql).in_store(store.path())?;
    let found = select.query_row([id], |row| {
        let status: i64 = row.get(0)?;
        Ok((u16::try_from(status).unwrap_or_default(), row.get(1)?))
    });
    found.optional().in_store(store.path())
}

/// Keeps what it was answered. The first answer stays.
pub(super) fn keep(
    tx: &mut Transaction<'_>,
    id: &str,
    (status, answer): &(u16, String),
    now: u64,
) -> Result<(), StoreError> {
    let old = to_sql(now.saturating_sub(MAX_AGE));
    let sql = "DELETE FROM hook_requests WHERE at < ?1";
    tx.connection.execute(sql, [old]).in_store(tx.path)?;
    let sql = "INSERT OR IGNORE INTO hook_requests VALUES (?1, ?2, ?3, ?4)";
    let row = params![id, to_sql(now), i64::from(*status), answer];
    tx.connection.execute(sql, row).in_store(tx.path).map(drop)
}
