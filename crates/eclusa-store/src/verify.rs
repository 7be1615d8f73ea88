//! Checks the whole chain against the place where it is known to end, in constant memory.

use eclusa::{Broken, Draft, Hash, Head, Record, Verifier};
use rusqlite::{Connection, Row};

use crate::{Store, StoreError, VerifyError, error::InStore, schema, writer};

/// Progress is told after so many records.
const STEP: u64 = 4_096;

impl Store {
    /// Checks every record from the first to the stored head. `progress` is told how many of how
    /// many are done.
    ///
    /// What others append meanwhile is not looked at, and they are not held up.
    pub fn verify(&self, mut progress: impl FnMut(u64, u64)) -> Result<Head, VerifyError> {
        let path = &self.inner.path;
        let mut connection = schema::open_to_read(path, self.inner.options.busy)?;
        // One snapshot for the head, the records and the index.
        let snapshot = connection.transaction().in_store(path)?;
        let known = writer::stored_head(&snapshot, path)?;
        progress(0, known.seq);
        let mut verifier = Verifier::default();
        {
            let sql = "SELECT seq, start, hash, body FROM records ORDER BY seq";
            let mut statement = snapshot.prepare(sql).in_store(path)?;
            let mut rows = statement.query([]).in_store(path)?;
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
        whole(&snapshot, path)?;
        progress(head.seq, known.seq);
        Ok(head)
    }
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
