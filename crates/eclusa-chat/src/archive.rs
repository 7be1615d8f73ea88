//! Conversations in the store of this workspace: what the agent means, in rows that the store keeps.

use std::{fs::File, path::PathBuf, sync::Arc};

use eclusa::{
    store::{ItemRow, ItemSize, Store, TranscriptError, TranscriptFuture, TranscriptHead},
    workspace::private_file,
};
use rustix::fs::{FlockOperation, flock};

use crate::{
    item::TranscriptItem,
    transcript::{CallFate, ConversationLock, TranscriptStore, fate_in},
};

/// Conversations in a store, each held by one process at a time.
#[derive(Clone)]
pub struct Archive {
    /// Where they are kept.
    pub store: Arc<dyn Store>,
    /// Where the locks are.
    locks: PathBuf,
}

/// So many records of the log are read at once.
const BATCH: usize = 512;

impl Archive {
    /// The conversations of this store, with their locks in this directory.
    pub fn new(store: Arc<dyn Store>, locks: PathBuf) -> Archive {
        Archive { store, locks }
    }

    /// The conversations, those that were touched last first.
    pub fn list(&self, limit: usize) -> Result<Vec<TranscriptHead>, TranscriptError> {
        self.store.transcripts(limit)
    }

    /// The newest entries with all of these words, and their conversations.
    pub fn search(
        &self,
        words: &str,
        limit: usize,
    ) -> Result<Vec<(String, TranscriptItem)>, TranscriptError> {
        let found = self.store.search_items(words, limit)?;
        Ok(found.into_iter().filter_map(|(id, row)| Some((id, item(row)?))).collect())
    }
}

/// The file is locked as long as it is open.
struct LockFile(#[expect(dead_code, reason = "held, never read")] File);

impl ConversationLock for LockFile {}

impl TranscriptStore for Archive {
    fn create(&self, head: TranscriptHead) -> TranscriptFuture<'_, bool> {
        self.store.create_transcript(head)
    }

    fn append(&self, head: TranscriptHead, items: Vec<TranscriptItem>) -> TranscriptFuture<'_, ()> {
        let id = head.id.clone();
        let rows = items.into_iter().map(|it| item_row(&id, it)).collect();
        self.store.append_items(head, rows)
    }

    fn items<'a>(&'a self, id: &'a str) -> TranscriptFuture<'a, Vec<TranscriptItem>> {
        self.items_between(id, (0, u64::MAX), usize::MAX)
    }

    fn items_between<'a>(
        &'a self,
        id: &'a str,
        (from, to): (u64, u64),
        longest_output: usize,
    ) -> TranscriptFuture<'a, Vec<TranscriptItem>> {
        Box::pin(async move {
            let (mut items, mut damaged) = (Vec::new(), None);
            let mut each = |row: ItemRow| {
                let seq = row.seq;
                match item(row) {
                    Some(mut it) => {
                        it.body.leave_output(longest_output);
                        items.push(it);
                    }
                    None => damaged = damaged.or(Some(seq)),
                }
            };
            self.store.each_item(id, from, to, &mut each)?;
            match damaged {
                Some(seq) => {
                    Err(TranscriptError(format!("entry {id}.{seq} of the session is damaged")))
                }
                None => Ok(items),
            }
        })
    }

    fn sizes<'a>(&'a self, id: &'a str) -> TranscriptFuture<'a, Vec<ItemSize>> {
        Box::pin(async move { self.store.item_sizes(id) })
    }

    fn head<'a>(&'a self, id: &'a str) -> TranscriptFuture<'a, Option<TranscriptHead>> {
        Box::pin(async move { self.store.transcript(id) })
    }

    fn lock(&self, id: &str) -> Result<Option<Box<dyn ConversationLock>>, TranscriptError> {
        let failed =
            |err: std::io::Error| TranscriptError(format!("the session cannot be locked: {err}"));
        let file = private_file::open_lock(&self.locks.join(id)).map_err(failed)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(Box::new(LockFile(file)))),
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
            Err(err) => Err(failed(err.into())),
        }
    }

    fn keep_picture(&self, sha256: String, bytes: Arc<[u8]>) -> TranscriptFuture<'_, ()> {
        self.store.keep_picture(sha256, bytes.to_vec())
    }

    fn picture<'a>(&'a self, sha256: &'a str) -> TranscriptFuture<'a, Option<Arc<[u8]>>> {
        Box::pin(async move { Ok(self.store.picture(sha256)?.map(Arc::from)) })
    }

    fn log_head(&self) -> Result<u64, TranscriptError> {
        self.store.head().map(|it| it.seq).map_err(failed)
    }

    fn fate(
        &self,
        conversation: &str,
        call: &str,
        after: u64,
    ) -> Result<CallFate, TranscriptError> {
        let (mut from, mut fate) = (after + 1, CallFate::NotRun);
        loop {
            let records = self.store.records(from, BATCH).map_err(failed)?;
            let found =
                fate_in(records.iter().map(|it| (it.seq, it.body.as_str())), conversation, call);
            fate = match (fate, found) {
                (fate, CallFate::NotRun) => fate,
                // Its start was among the records before.
                (CallFate::Started { number }, CallFate::Ended { code, .. }) => {
                    CallFate::Ended { code, number }
                }
                (CallFate::Started { number }, CallFate::Parked { approval, .. }) => {
                    CallFate::Parked { approval, number, ran: true }
                }
                (_, found) => found,
            };
            match records.last() {
                Some(last) if !matches!(fate, CallFate::Ended { .. }) => from = last.seq + 1,
                _ => return Ok(fate),
            }
        }
    }
}

fn failed(err: impl std::fmt::Display) -> TranscriptError {
    TranscriptError(err.to_string())
}

fn item_row(conversation: &str, item: TranscriptItem) -> ItemRow {
    ItemRow {
        seq: item.seq,
        turn: item.turn,
        message: item.message,
        at: item.at,
        role: item.body.role().to_owned(),
        kind: item.body.row_kind().to_owned(),
        body: item.json(conversation).to_string(),
        words: item.body.words(),
        blocks: item.blocks,
        log_at: item.log_at,
    }
}

fn item(row: ItemRow) -> Option<TranscriptItem> {
    let body = TranscriptItem::from_json(&serde_json::from_str(&row.body).ok()?)?;
    Some(TranscriptItem { blocks: row.blocks, log_at: row.log_at, ..body })
}
