//! Transcripts of sessions with a model.

use eclusa::store::{
    ItemRow, ItemSize, TranscriptError, TranscriptFuture, TranscriptHead, TranscriptRows,
};
use rusqlite::{OptionalExtension, Row, params};

use crate::{
    SqliteStore, StoreError,
    error::InStore,
    writer::{Transaction, to_sql},
};

const ITEM: &str = "SELECT seq, turn, message, at, role, kind, body, blocks, log_at FROM items ";

const TRANSCRIPT: &str = "SELECT id, parent, title, persona, model, created, touched, taint, usage, \
     coalesce((SELECT turn FROM items WHERE conversation = conversations.id \
         ORDER BY seq DESC LIMIT 1), 0), \
     (SELECT count(*) FROM items WHERE conversation = conversations.id AND kind = 'call') \
     FROM conversations ";

impl TranscriptRows for SqliteStore {
    fn create_transcript(&self, row: TranscriptHead) -> TranscriptFuture<'_, bool> {
        self.write_rows(move |tx| {
            let known = tx
                .connection
                .prepare_cached("SELECT 1 FROM conversations WHERE id = ?1")
                .and_then(|mut it| it.exists([&row.id]))
                .in_store(tx.path)?;
            if !known {
                put(tx, &row)?;
            }
            Ok(!known)
        })
    }

    fn append_items(&self, row: TranscriptHead, items: Vec<ItemRow>) -> TranscriptFuture<'_, ()> {
        self.write_rows(move |tx| {
            put(tx, &row)?;
            items.iter().try_for_each(|item| insert(tx, &row.id, item))
        })
    }

    fn transcript(&self, id: &str) -> Result<Option<TranscriptHead>, TranscriptError> {
        let sql = format!("{TRANSCRIPT} WHERE id = ?1");
        let reader = self.reader()?;
        let mut select = reader.prepare_cached(&sql).in_store(self.path())?;
        Ok(select.query_row([id], transcript).optional().in_store(self.path())?)
    }

    fn transcripts(&self, limit: usize) -> Result<Vec<TranscriptHead>, TranscriptError> {
        let sql = format!("{TRANSCRIPT} ORDER BY touched DESC, id LIMIT ?1");
        let reader = self.reader()?;
        let mut select = reader.prepare_cached(&sql).in_store(self.path())?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let rows = select.query_map([limit], transcript).in_store(self.path())?;
        Ok(rows.collect::<rusqlite::Result<_>>().in_store(self.path())?)
    }

    fn each_item(
        &self,
        id: &str,
        from: u64,
        to: u64,
        tell: &mut dyn FnMut(ItemRow),
    ) -> Result<(), TranscriptError> {
        let sql = format!("{ITEM} WHERE conversation = ?1 AND seq BETWEEN ?2 AND ?3 ORDER BY seq");
        let reader = self.reader()?;
        let mut select = reader.prepare_cached(&sql).in_store(self.path())?;
        let between = params![id, to_sql(from), to_sql(to)];
        let rows = select.query_map(between, item).in_store(self.path())?;
        for row in rows {
            tell(row.in_store(self.path())?);
        }
        Ok(())
    }

    fn item_sizes(&self, id: &str) -> Result<Vec<ItemSize>, TranscriptError> {
        let sql = "SELECT seq, message, role, kind, \
                   octet_length(body) + coalesce(octet_length(blocks), 0) \
                   FROM items WHERE conversation = ?1 ORDER BY seq";
        let reader = self.reader()?;
        let mut select = reader.prepare_cached(sql).in_store(self.path())?;
        let size = |row: &Row<'_>| {
            Ok(ItemSize {
                seq: number(row, 0)?,
                message: optional(row, 1)?,
                role: row.get(2)?,
                kind: row.get(3)?,
                bytes: number(row, 4)?,
            })
        };
        let rows = select.query_map([id], size).in_store(self.path())?;
        Ok(rows.collect::<rusqlite::Result<_>>().in_store(self.path())?)
    }

    fn search_items(
        &self,
        words: &str,
        limit: usize,
    ) -> Result<Vec<(String, ItemRow)>, TranscriptError> {
        let words: Vec<String> =
            words.split_whitespace().map(|it| format!("\"{}\"", it.replace('"', "\"\""))).collect();
        if words.is_empty() {
            return Ok(Vec::new());
        }
        let sql = "SELECT seq, turn, message, at, role, kind, body, blocks, log_at, conversation \
                   FROM items WHERE id IN (SELECT rowid FROM items_words WHERE items_words MATCH ?1) \
                   ORDER BY at DESC, id DESC LIMIT ?2";
        let reader = self.reader()?;
        let mut select = reader.prepare_cached(sql).in_store(self.path())?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let found = |row: &Row<'_>| Ok((row.get(9)?, item(row)?));
        let rows =
            select.query_map(params![words.join(" "), limit], found).in_store(self.path())?;
        Ok(rows.collect::<rusqlite::Result<_>>().in_store(self.path())?)
    }

    fn remove_transcript(&self, id: String) -> TranscriptFuture<'_, bool> {
        self.write_rows(move |tx| {
            let run = |sql: &str| {
                tx.connection
                    .prepare_cached(sql)
                    .and_then(|mut it| it.execute([&id]))
                    .in_store(tx.path)
            };
            run("DELETE FROM items_words WHERE rowid IN (SELECT id FROM items WHERE conversation = ?1)")?;
            run("DELETE FROM items WHERE conversation = ?1")?;
            Ok(run("DELETE FROM conversations WHERE id = ?1")? > 0)
        })
    }

    fn keep_picture(&self, sha256: String, bytes: Vec<u8>) -> TranscriptFuture<'_, ()> {
        self.write_rows(move |tx| {
            tx.connection
                .prepare_cached("INSERT OR IGNORE INTO pictures (sha256, bytes) VALUES (?1, ?2)")
                .and_then(|mut it| it.execute(params![sha256, bytes]))
                .in_store(tx.path)
                .map(drop)
        })
    }

    fn picture(&self, sha256: &str) -> Result<Option<Vec<u8>>, TranscriptError> {
        let reader = self.reader()?;
        let mut select = reader
            .prepare_cached("SELECT bytes FROM pictures WHERE sha256 = ?1")
            .in_store(self.path())?;
        Ok(select.query_row([sha256], |row| row.get(0)).optional().in_store(self.path())?)
    }
}

impl SqliteStore {
    fn write_rows<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Transaction<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> TranscriptFuture<'_, T> {
        Box::pin(async move { Ok(self.write_later(work).await?) })
    }
}

fn put(tx: &Transaction<'_>, row: &TranscriptHead) -> Result<(), StoreError> {
    let sql = "INSERT INTO conversations \
               (id, parent, title, persona, model, created, touched, taint, usage) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) \
               ON CONFLICT (id) DO UPDATE SET parent = ?2, title = ?3, persona = ?4, model = ?5, \
               touched = ?7, taint = ?8, usage = ?9";
    let params = params![
        row.id,
        row.parent,
        row.title,
        row.persona,
        row.model,
        to_sql(row.created),
        to_sql(row.touched),
        row.taint,
        row.usage.to_string()
    ];
    tx.connection
        .prepare_cached(sql)
        .and_then(|mut it| it.execute(params))
        .in_store(tx.path)
        .map(drop)
}

fn insert(tx: &Transaction<'_>, session: &str, item: &ItemRow) -> Result<(), StoreError> {
    let sql = "INSERT INTO items \
               (conversation, seq, turn, message, at, role, kind, body, blocks, log_at) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
    let params = params![
        session,
        to_sql(item.seq),
        to_sql(item.turn),
        item.message.map(to_sql),
        to_sql(item.at),
        item.role,
        item.kind,
        item.body,
        item.blocks,
        item.log_at.map(to_sql)
    ];
    let run = |sql: &str, params: &[&dyn rusqlite::ToSql]| {
        tx.connection.prepare_cached(sql).and_then(|mut it| it.execute(params)).in_store(tx.path)
    };
    run(sql, params)?;
    let id = tx.connection.last_insert_rowid();
    run("INSERT INTO items_words (rowid, words) VALUES (?1, ?2)", params![id, item.words])?;
    Ok(())
}

fn transcript(row: &Row<'_>) -> rusqlite::Result<TranscriptHead> {
    Ok(TranscriptHead {
        id: row.get(0)?,
        parent: row.get(1)?,
        title: row.get(2)?,
        persona: row.get(3)?,
        model: row.get(4)?,
        created: number(row, 5)?,
        touched: number(row, 6)?,
        taint: row.get(7)?,
        usage: serde_json::from_str(&row.get::<_, String>(8)?).unwrap_or_default(),
        turns: number(row, 9)?,
        calls: number(row, 10)?,
    })
}

fn item(row: &Row<'_>) -> rusqlite::Result<ItemRow> {
    Ok(ItemRow {
        seq: number(row, 0)?,
        turn: number(row, 1)?,
        message: optional(row, 2)?,
        at: number(row, 3)?,
        role: row.get(4)?,
        kind: row.get(5)?,
        body: row.get(6)?,
        blocks: row.get(7)?,
        log_at: optional(row, 8)?,
        words: String::new(),
    })
}

fn optional(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<u64>> {
    Ok(row.get::<_, Option<i64>>(at)?.and_then(|it| u64::try_from(it).ok()))
}

fn number(row: &Row<'_>, at: usize) -> rusqlite::Result<u64> {
    Ok(u64::try_from(row.get::<_, i64>(at)?).unwrap_or_default())
}
