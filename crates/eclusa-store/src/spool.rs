//! Texts that were too long for a model: kept whole, up to a size, the oldest dropped first.

use std::{io, ops::Range};

use eclusa::{Spool, audit::RECORD_VERSION, spool::TextPieces};
use futures::future::BoxFuture;
use rusqlite::{OptionalExtension, params};

use crate::{
    SqliteStore, StoreError, error::InStore, store_records::StoreRecord, writer::Transaction,
};

mod long_texts;

use long_texts::LongText;

impl Spool for SqliteStore {
    fn keep(&self, text: String) -> BoxFuture<'_, io::Result<String>> {
        Box::pin(async move {
            let (room, now) = (self.inner.options.spool_bytes, self.inner.options.clock.unix_ms());
            let bytes = text.len() as u64;
            if bytes > room {
                return Err(too_long(format!(
                    "the output has {bytes} bytes, and at most {room} are saved"
                )));
            }
            let reference = <dyn Spool>::reference(&text);
            let kept = reference.clone();
            let keeping = self.write_later(move |tx| {
                keep(tx, &kept, &text, bytes, now)?;
                make_room(tx, room, now)
            });
            keeping.await.map_err(io::Error::other)?;
            Ok(reference)
        })
    }

    fn keep_pieces(&self, pieces: &mut TextPieces<'_>) -> io::Result<String> {
        let (room, now) = (self.inner.options.spool_bytes, self.inner.options.clock.unix_ms());
        let failed = |err: io::Error| {
            io::Error::new(err.kind(), format!("the output cannot be saved: {err}"))
        };
        let mut text = LongText::begin(&self.inner.path).map_err(failed)?;
        for piece in pieces {
            if text.add(&piece?).map_err(failed)? > room {
                return Err(too_long(format!(
                    "the output is longer than the {room} bytes that are saved"
                )));
            }
        }
        let (reference, bytes) = text.finish().map_err(failed)?;
        let kept = reference.clone();
        let keeping = self.write(move |tx| {
            // An empty text with a length: it lies in a file.
            keep(tx, &kept, "", bytes, now)?;
            make_room(tx, room, now)?;
            sweep(tx)
        });
        keeping.map_err(io::Error::other)?;
        Ok(reference)
    }

    fn read<'a>(
        &'a self,
        reference: &'a str,
        range: Range<usize>,
    ) -> BoxFuture<'a, io::Result<String>> {
        let (store, wanted) = (self.clone(), reference.to_owned());
        Box::pin(async move {
            let read = move || store.spooled(&wanted, range);
            match tokio::runtime::Handle::try_current() {
                Ok(runtime) => {
                    let read = runtime.spawn_blocking(read).await;
                    read.unwrap_or_else(|_| Err(io::Error::other("reading it failed")))
                }
                Err(_) => read(),
            }
        })
    }
}

impl SqliteStore {
    fn spooled(&self, reference: &str, range: Range<usize>) -> io::Result<String> {
        let found: Option<(Vec<u8>, i64)> = self
            .reader()
            .map_err(io::Error::other)?
            .prepare_cached("SELECT text, bytes FROM spool WHERE reference = ?1")
            .and_then(|mut select| {
                select.query_row([reference], |row| Ok((row.get(0)?, row.get(1)?))).optional()
            })
            .in_store(&self.inner.path)
            .map_err(io::Error::other)?;
        let (text, bytes) = found.ok_or_else(|| <dyn Spool>::unknown(reference))?;
        let bytes = u64::try_from(bytes).unwrap_or_default();
        if text.is_empty() && bytes > 0 {
            return long_texts::read(&self.inner.path, reference, bytes, range);
        }
        let text = String::from_utf8(text).map_err(|_| damaged(reference))?;
        if <dyn Spool>::reference(&text) != reference {
            return Err(damaged(reference));
        }
        Ok(<dyn Spool>::slice(&text, range).to_owned())
    }
}

fn damaged(reference: &str) -> io::Error {
    let what = format!("the saved output `{reference}` is damaged");
    io::Error::new(io::ErrorKind::InvalidData, what)
}

fn too_long(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, what)
}

/// The same text is kept once, and counts as new.
fn keep(
    tx: &Transaction<'_>,
    reference: &str,
    text: &str,
    bytes: u64,
    now: u64,
) -> Result<(), StoreError> {
    let run = |sql: &str, params: &[&dyn rusqlite::ToSql]| {
        tx.connection.prepare_cached(sql).and_then(|mut it| it.execute(params)).in_store(tx.path)
    };
    let (bytes, kept) = (crate::writer::to_sql(bytes), crate::writer::to_sql(now));
    run("DELETE FROM spool WHERE reference = ?1", params![reference])?;
    run(
        "INSERT INTO spool (reference, bytes, kept, text) VALUES (?1, ?2, ?3, ?4)",
        params![reference, bytes, kept, text.as_bytes()],
    )?;
    Ok(())
}

/// Removes the files of long texts that were dropped.
fn sweep(tx: &Transaction<'_>) -> Result<(), StoreError> {
    let sql = "SELECT reference FROM spool WHERE bytes > 0 AND length(text) = 0";
    let mut select = tx.connection.prepare_cached(sql).in_store(tx.path)?;
    let rows = select.query_map([], |row| row.get::<_, String>(0)).in_store(tx.path)?;
    let kept = rows.collect::<rusqlite::Result<Vec<String>>>().in_store(tx.path)?;
    long_texts::sweep(tx.path, |name| kept.iter().any(|it| it == name));
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
        v: RECORD_VERSION,
        ..StoreRecord::default()
    };
    tx.append(None, note.body()).map(drop)
}
