//! Checks the chain against the place where it is known to end, in constant memory: all of it, or
//! what came after a record that somebody has noted.

use eclusa::{
    Hash, Record,
    audit::{Broken, Draft, Head, Verifier, VerifyError},
};
use rusqlite::{Connection, OptionalExtension as _, Row};

use crate::{SqliteStore, StoreError, error::InStore, schema, writer};

/// Progress is told after so many records.
const STEP: u64 = 4_096;

/// Checks every record after the noted one, or from the first, to the stored head.
pub(crate) fn verify(
    store: &SqliteStore,
    noted: Option<Hash>,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<(Head, Head), VerifyError> {
    let path = &store.inner.path;
    let mut connection = schema::open_to_read(path, store.inner.options.busy)?;
    // One snapshot for the head, the records and the index.
    let snapshot = connection.transaction().in_store(path)?;
    let known = writer::stored_head(&snapshot, path)?;
    let from = match noted {
        Some(noted) => place(&snapshot, path, noted)?,
        None => Head::default(),
    };
    progress(from.seq, known.seq);
    let mut verifier = Verifier::after(from);
    {
        let sql = "SELECT seq, start, hash, body FROM records WHERE seq > ?1 ORDER BY seq";
        let mut statement = snapshot.prepare(sql).in_store(path)?;
        let mut rows = statement.query([writer::to_sql(from.seq)]).in_store(path)?;
        let mut record = Record {
            seq: 0,
            previous: Hash::default(),
            hash: Hash::default(),
            body: String::new(),
        };
        while let Some(row) = rows.next().in_store(path)? {
            record.previous = verifier.head().hash;
            let seq = row.get::<_, i64>(0).in_store(path)?;
            record.seq = u64::try_from(seq).unwrap_or_default();
            let start = read(row, &mut record).ok_or(Broken::Altered { seq: record.seq });
            // What the verifier says of its place comes first.
            match (verifier.next(&record), start) {
                (Err(broken @ Broken::Order { .. }), _) | (_, Err(broken)) => Err(broken)?,
                (checked, Ok(start)) => {
                    checked?;
                    if Draft::start_in(&record.body).ok() != Some(start) {
                        Err(Broken::Altered { seq: record.seq })?;
                    }
                }
            }
            if record.seq.is_multiple_of(STEP) {
                progress(record.seq, known.seq);
            }
        }
    }
    let head = verifier.finish(known)?;
    if noted.is_none() {
        whole(&snapshot, path)?;
    }
    progress(head.seq, known.seq);
    Ok((from, head))
}

/// The record with this hash. It is looked for from the end, where it is if it was noted lately.
fn place(snapshot: &Connection, path: &std::path::Path, noted: Hash) -> Result<Head, VerifyError> {
    let sql = "SELECT seq FROM records WHERE hash = ?1 ORDER BY seq DESC LIMIT 1";
    let mut statement = snapshot.prepare(sql).in_store(path)?;
    let found = statement.query_row([&noted.as_bytes()[..]], |row| row.get::<_, i64>(0));
    let seq = found.optional().in_store(path)?.and_then(|it| u64::try_from(it).ok());
    let seq = seq.ok_or(VerifyError::NotNoted(noted))?;
    Ok(Head { seq, hash: noted })
}

/// Reads a row into `record`, and returns what its index says of its start; `None` where a field
/// cannot be read at all.
fn read(row: &Row<'_>, record: &mut Record) -> Option<Option<u64>> {
    let start: Option<i64> = row.get(1).ok()?;
    record.hash = Hash::from(row.get::<_, [u8; 32]>(2).ok()?);
    record.body.clear();
    record.body.push_str(row.get_ref(3).ok()?.as_str().ok()?);
    start.map(u64::try_from).transpose().ok()
}

/// The index leads to the end of a call, so it is checked as well.
fn whole(snapshot: &Connection, path: &std::path::Path) -> Result<(), StoreError> {
    let said: String = snapshot
        .query_row("PRAGMA integrity_check(records)", [], |row| row.get(0))
        .in_store(path)?;
    match said.as_str() {
        "ok" => Ok(()),
        _ => Err(StoreError::Damaged { path: path.to_owned(), what: said }),
    }
}
