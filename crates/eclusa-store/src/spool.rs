//! Texts that were too long for a model: kept whole, up to a size, the oldest dropped first.

use std::ops::Range;

use eclusa::Spool;
use futures::future::BoxFuture;
use rusqlite::{OptionalExtension, params};

use crate::{Store, StoreError, error::InStore, store_records::StoreRecord, writer::Transaction};

impl Spool for Store {
    fn keep(&self, text: String) -> BoxFuture<'_, Result<String, String>> {
        Box::pin(async move {
            let (room, now) = (self.inner.options.spool_bytes, self.inner.options.clock.unix_ms());
            let bytes = text.len() as u64;
            if bytes > room {
                return Err(format!("the output has {bytes} bytes, and at most {room} are saved"));
            }
            let reference = <dyn Spool>::reference(&text);
            let kept = reference.clone();
            let keeping = self.write_later(move |tx| {
                keep(tx, &kept, &text, now)?;
                make_room(tx, room, now)
            });
            keeping.await.map_err(|err| err.to_string())?;
            Ok(reference)
        })
    }

    fn read<'a>(
        &'a self,
        reference: &'a str,
        range: Range<usize>,
    ) -> BoxFuture<'a, Result<String, String>> {
        let (store, wanted) = (self.clone(), reference.to_owned());
        Box::pin(async move {
            let read = move || store.spooled(&wanted, range);
            match tokio::runtime::Handle::try_current() {
                Ok(runtime) => {
                    let read = runtime.spawn_blocking(read).await;
                    read.unwrap_or_else(|_| Err("reading it failed".to_owned()))
                }
                Err(_) => read(),
            }
        })
    }
}

impl Store {
    fn spooled(&self, reference: &str, range: Range<usize>) -> Result<String, String> {
        let text: Option<Vec<u8>> = self
            .reader()
            .prepare_cached("SELECT text FROM spool WHERE reference = ?1")
            .and_then(|mut select| select.query_row([reference], |row| row.get(0)).optional())
            .in_store(&self.inner.path)
            .map_err(|err| err.to_string())?;
        let text =
            text.ok_or_else(|| format!("no saved output `{reference}` (unknown or expired)"))?;
        let text = String::from_utf8(text)
            .map_err(|_| format!("the saved output `{reference}` is damaged"))?;
        if <dyn Spool>::reference(&text) != reference {
            return Err(format!("the saved output `{reference}` is damaged"));
        }
        Ok(<dyn Spool>::slice(&text, range).to_owned())
    }
}

/// The same text is kept once, and counts as new.
fn keep(tx: &Transaction<'_>, reference: &str, text: &str, now: u64) -> Result<(), StoreError> {
    let run = |sql: &str, params: &[&dyn rusqlite::ToSql]| {
        tx.connection.prepare_cached(sql).and_then(|mut it| it.execute(params)).in_store(tx.path)
    };
    let (bytes, kept) = (crate::writer::to_sql(text.len() as u64), crate::writer::to_sql(now));
    run("DELETE FROM spool WHERE reference = ?1", params![reference])?;
    run(
        "INSERT INTO spool (reference, bytes, kept, text) VALUES (?1, ?2, ?3, ?4)",
        params![reference, bytes, kept, text.as_bytes()],
    )?;
    Ok(())
}

/// Drops the oldest texts until the rest fits, and puts on record which.
fn make_room(tx: &mut Transaction<'_>, room: u64, now: u64) -> Result<(), StoreError> {
    let dropped: Vec<String> = {
        // Newest first: what lies beyond the room is dropped.
        let sql = "
            SELECT id, reference FROM (
                SELECT id, reference, sum(bytes) OVER (ORDER BY id DESC) AS held
                FROM spool INDEXED BY spool_sizes
            ) WHERE held > ?1 ORDER BY id";
        let mut select = tx.connection.prepare_cached(sql).in_store(tx.path)?;
        let rows = select
            .query_map([crate::writer::to_sql(room)], |row| {
                Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?))
            })
            .in_store(tx.path)?;
        let beyond = rows.collect::<rusqlite::Result<Vec<_>>>().in_store(tx.path)?;
        for (id, _) in &beyond {
            tx.connection
                .prepare_cached("DELETE FROM spool WHERE id = ?1")
                .and_then(|mut delete| delete.execute([id]))
                .in_store(tx.path)?;
        }
        beyond.into_iter().map(|(_, reference)| reference).collect()
    };
    if dropped.is_empty() {
        return Ok(());
    }
    let message = format!("{} saved outputs were dropped to make room", dropped.len());
    tracing::warn!("{message}");
    let note = StoreRecord {
        at: now,
        dropped: &dropped,
        event: "spool-dropped",
        message: Some(message),
        v: 1,
        ..StoreRecord::default()
    };
    tx.append(None, note.body()).map(drop)
}
