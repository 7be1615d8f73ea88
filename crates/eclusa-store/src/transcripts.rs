//! Conversations: rows that this crate keeps and does not understand. The agent gives them a meaning.

use rusqlite::{OptionalExtension, Row, params};

use crate::{
    Store, StoreError,
    error::InStore,
    writer::{Transaction, to_sql},
};

const ITEM: &str = "SELECT seq, turn, message, at, role, kind, body, blocks, log_at FROM items ";

const CONVERSATION: &str = "SELECT id, parent, title, persona, model, created, touched, taint, usage, \
     coalesce((SELECT turn FROM items WHERE conversation = conversations.id \
         ORDER BY seq DESC LIMIT 1), 0), \
     (SELECT count(*) FROM items WHERE conversation = conversations.id AND kind = 'call') \
     FROM conversations ";

/// A conversation, without what was said in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConversationRow {
    /// Its id.
    pub id: String,
    /// The conversation that it comes from.
    pub parent: Option<String>,
    /// What it is about.
    pub title: String,
    /// The persona.
    pub persona: String,
    /// The model.
    pub model: String,
    /// When it began, in milliseconds since 1970.
    pub created: u64,
    /// When something was last kept.
    pub touched: u64,
    /// What brought text from outside into it.
    pub taint: Option<String>,
    /// What it cost, as JSON.
    pub usage: String,
    /// How many turns it has; only read.
    pub turns: u64,
    /// How many calls it has; only read.
    pub calls: u64,
}

/// One entry of a conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ItemRow {
    /// Its place, from 1.
    pub seq: u64,
    /// The turn.
    pub turn: u64,
    /// The message that it is part of.
    pub message: Option<u64>,
    /// When, in milliseconds since 1970.
    pub at: u64,
    /// Whose words.
    pub role: String,
    /// What it is.
    pub kind: String,
    /// What is shown, as JSON.
    pub body: String,
    /// What a model sent, to be sent back as it is.
    pub blocks: Option<String>,
    /// The end of the log at that time.
    pub log_at: Option<u64>,
    /// What a search finds it by; not read back.
    pub words: String,
}

/// An entry without its contents.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ItemSize {
    /// Its place, from 1.
    pub seq: u64,
    /// The message that it is part of.
    pub message: Option<u64>,
    /// Whose words.
    pub role: String,
    /// What it is.
    pub kind: String,
    /// How long its contents are.
    pub bytes: u64,
}

impl Store {
    /// Begins a conversation. False when the id is taken.
    pub async fn create_conversation(&self, row: ConversationRow) -> Result<bool, StoreError> {
        self.write_later(move |tx| {
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
        .await
    }

    /// Appends entries and notes what the head says now: all of it or nothing, durable when this
    /// resolves. A place that is taken is an error, so two writers never mix.
    pub async fn append_items(
        &self,
        row: ConversationRow,
        items: Vec<ItemRow>,
    ) -> Result<(), StoreError> {
        self.write_later(move |tx| {
            put(tx, &row)?;
            items.iter().try_for_each(|item| insert(tx, &row.id, item))
        })
        .await
    }

    /// A conversation.
    pub fn conversation(&self, id: &str) -> Result<Option<ConversationRow>, StoreError> {
        let sql = format!("{CONVERSATION} WHERE id = ?1");
        let reader = self.reader()?;
        let mut select = reader.prepare_cached(&sql).in_store(self.path())?;
        select.query_row([id], conversation).optional().in_store(self.path())
    }

    /// The conversations, those that were touched last first.
    pub fn conversations(&self, limit: usize) -> Result<Vec<ConversationRow>, StoreError> {
        let sql = format!("{CONVERSATION} ORDER BY touched DESC, id LIMIT ?1");
        let reader = self.reader()?;
        let mut select = reader.prepare_cached(&sql).in_store(self.path())?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let rows = select.query_map([limit], conversation).in_store(self.path())?;
        rows.collect::<rusqlite::Result<_>>().in_store(self.path())
    }

    /// The entries of a conversation, oldest first.
    pub fn items(&self, conversation: &str) -> Result<Vec<ItemRow>, StoreError> {
        let mut rows = Vec::new();
        self.each_item(conversation, 0, u64::MAX, |row| rows.push(row))?;
        Ok(rows)
    }

    /// Tells the entries of a conversation from one place to another, both included, one by one.
    pub fn each_item(
        &self,
        conversation: &str,
        from: u64,
        to: u64,
        mut tell: impl FnMut(ItemRow),
    ) -> Result<(), StoreError> {
        let sql = format!("{ITEM} WHERE conversation = ?1 AND seq BETWEEN ?2 AND ?3 ORDER BY seq");
        let reader = self.reader()?;
        let mut select = reader.prepare_cached(&sql).in_store(self.path())?;
        let between = params![conversation, to_sql(from), to_sql(to)];
        let rows = select.query_map(between, item).in_store(self.path())?;
        for row in rows {
            tell(row.in_store(self.path())?);
        }
        Ok(())
    }

    /// The entries of a conversation without their contents, oldest first.
    pub fn item_sizes(&self, conversation: &str) -> Result<Vec<ItemSize>, StoreError> {
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
        let rows = select.query_map([conversation], size).in_store(self.path())?;
        rows.collect::<rusqlite::Result<_>>().in_store(self.path())
    }

    /// The newest entries in which all of these words stand: conversation and entry.
    pub fn search_items(
        &self,
        words: &str,
        limit: usize,
    ) -> Result<Vec<(String, ItemRow)>, StoreError> {
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
        rows.collect::<rusqlite::Result<_>>().in_store(self.path())
    }

    /// Removes a conversation and everything said in it. What its calls did stays in the log. False
    /// when there is none.
    pub async fn remove_conversation(&self, id: String) -> Result<bool, StoreError> {
        self.write_later(move |tx| {
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
        .await
    }

    /// Keeps a picture by its digest, once.
    pub async fn keep_picture(&self, sha256: String, bytes: Vec<u8>) -> Result<(), StoreError> {
        self.write_later(move |tx| {
            tx.connection
                .prepare_cached("INSERT OR IGNORE INTO pictures (sha256, bytes) VALUES (?1, ?2)")
                .and_then(|mut it| it.execute(params![sha256, bytes]))
                .in_store(tx.path)
                .map(drop)
        })
        .await
    }

    /// A picture that was kept.
    pub fn picture(&self, sha256: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let reader = self.reader()?;
        let mut select = reader
            .prepare_cached("SELECT bytes FROM pictures WHERE sha256 = ?1")
            .in_store(self.path())?;
        select.query_row([sha256], |row| row.get(0)).optional().in_store(self.path())
    }
}

fn put(tx: &Transaction<'_>, row: &ConversationRow) -> Result<(), StoreError> {
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
        row.usage
    ];
    tx.connection
        .prepare_cached(sql)
        .and_then(|mut it| it.execute(params))
        .in_store(tx.path)
        .map(drop)
}

fn insert(tx: &Transaction<'_>, conversation: &str, item: &ItemRow) -> Result<(), StoreError> {
    let sql = "INSERT INTO items \
               (conversation, seq, turn, message, at, role, kind, body, blocks, log_at) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
    let params = params![
        conversation,
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

fn conversation(row: &Row<'_>) -> rusqlite::Result<ConversationRow> {
    Ok(ConversationRow {
        id: row.get(0)?,
        parent: row.get(1)?,
        title: row.get(2)?,
        persona: row.get(3)?,
        model: row.get(4)?,
        created: number(row, 5)?,
        touched: number(row, 6)?,
        taint: row.get(7)?,
        usage: row.get(8)?,
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
