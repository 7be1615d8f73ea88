//! Reading records back.

use eclusa::{
    Hash, Record,
    audit::{AuditError, Head, Log, VerifyError},
};
use rusqlite::{Connection, Params, Row};
use serde::Deserialize;

use crate::{
    SqliteStore, StoreError,
    error::InStore,
    schema, verify,
    writer::{stored_head, to_sql},
};

/// What a record is read from. The hash before it is that of the row before it.
macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT r.seq, (SELECT p.hash FROM records p WHERE p.seq = r.seq - 1), r.hash, r.body \
             FROM records r ",
            $rest
        )
    };
}

impl Log for SqliteStore {
    fn records(&self, from_seq: u64, limit: usize) -> Result<Vec<Record>, AuditError> {
        let sql = select!("WHERE r.seq >= ?1 ORDER BY r.seq LIMIT ?2");
        Ok(self.query(sql, (to_sql(from_seq), to_limit(limit)))?)
    }

    fn last(&self, limit: usize) -> Result<Vec<Record>, AuditError> {
        let sql = select!("ORDER BY r.seq DESC LIMIT ?1");
        let mut records = self.query(sql, (to_limit(limit),))?;
        records.reverse();
        Ok(records)
    }

    fn ends_of(&self, start: u64) -> Result<Vec<Record>, AuditError> {
        Ok(self.query(select!("WHERE r.start = ?1 ORDER BY r.seq"), (to_sql(start),))?)
    }

    /// There is no index for it, because it would be paid for by every call: the whole log is
    /// read.
    fn find(&self, call: &str) -> Result<Vec<Record>, AuditError> {
        let quoted = serde_json::to_string(call).unwrap_or_default();
        let needle = format!("\"call\":{quoted}");
        let sql = select!("WHERE instr(r.body, ?1) > 0 ORDER BY r.seq");
        // On a connection of its own: it may take long, and nobody should wait for it.
        let reader = schema::open_to_read(&self.inner.path, self.inner.options.busy)?;
        let mut records = self.query_on(&reader, sql, (needle,))?;
        // The same text may stand in somebody's arguments.
        records.retain(|record| call_in(&record.body).as_deref() == Some(call));
        Ok(records)
    }

    fn head(&self) -> Result<Head, AuditError> {
        Ok(stored_head(&*self.reader()?, &self.inner.path)?)
    }

    /// What others append meanwhile is not looked at, and they are not held up.
    fn verify_since(
        &self,
        noted: Option<Hash>,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<(Head, Head), VerifyError> {
        verify::verify(self, noted, progress)
    }
}

impl SqliteStore {
    fn query(&self, sql: &str, params: impl Params) -> Result<Vec<Record>, StoreError> {
        self.query_on(&*self.reader()?, sql, params)
    }

    fn query_on(
        &self,
        reader: &Connection,
        sql: &str,
        params: impl Params,
    ) -> Result<Vec<Record>, StoreError> {
        let path = &self.inner.path;
        let mut statement = reader.prepare_cached(sql).in_store(path)?;
        let mut rows = statement.query(params).in_store(path)?;
        let mut records = Vec::new();
        while let Some(row) = rows.next().in_store(path)? {
            records.push(record(row).map_err(|err| StoreError::Damaged {
                path: path.clone(),
                what: format!("a record cannot be read: {err}"),
            })?);
        }
        Ok(records)
    }
}

fn record(row: &Row<'_>) -> rusqlite::Result<Record> {
    let previous: Option<[u8; 32]> = row.get(1)?;
    Ok(Record {
        seq: u64::try_from(row.get::<_, i64>(0)?).unwrap_or_default(),
        previous: previous.map(Hash::from).unwrap_or_default(),
        hash: Hash::from(row.get::<_, [u8; 32]>(2)?),
        body: row.get(3)?,
    })
}

fn to_limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

/// The model's id of the call that a body is about.
fn call_in(body: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Named {
        call: String,
    }
    serde_json::from_str(body).ok().map(|named: Named| named.call)
}
