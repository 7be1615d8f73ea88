//! Conversations in the store of this workspace: what the agent means, in rows that the store keeps.

use std::{fs::File, path::PathBuf, sync::Arc};

use eclusa::{
    store::{ItemRow, ItemSize, Store, TranscriptError, TranscriptRow},
    workspace::private_file,
};
use futures::future::BoxFuture;
use rustix::fs::{FlockOperation, flock};

use crate::{
    item::TranscriptItem,
    transcript::{
        ArchiveError, CallFate, ConversationHead, ConversationLock, EntrySize, TranscriptStore,
        fate_in,
    },
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
    pub fn list(&self, limit: usize) -> Result<Vec<ConversationHead>, TranscriptError> {
        Ok(self.store.transcripts(limit)?.into_iter().map(from_row).collect())
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
    fn create(&self, head: ConversationHead) -> BoxFuture<'_, Result<bool, ArchiveError>> {
        Box::pin(async move { self.store.create_transcript(to_row(head)).await.map_err(failed) })
    }

    fn append(
        &self,
        head: ConversationHead,
        items: Vec<TranscriptItem>,
    ) -> BoxFuture<'_, Result<(), ArchiveError>> {
        let id = head.id.clone();
        let rows = items.into_iter().map(|it| item_row(&id, it)).collect();
        Box::pin(async move { self.store.append_items(to_row(head), rows).await.map_err(failed) })
    }

    fn items<'a>(
        &'a self,
        id: &'a str,
    ) -> BoxFuture<'a, Result<Vec<TranscriptItem>, ArchiveError>> {
        self.items_between(id, (0, u64::MAX), usize::MAX)
    }

    fn items_between<'a>(
        &'a self,
        id: &'a str,
        (from, to): (u64, u64),
        longest_output: usize,
    ) -> BoxFuture<'a, Result<Vec<TranscriptItem>, ArchiveError>> {
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
            self.store.each_item(id, from, to, &mut each).map_err(failed)?;
            match damaged {
                Some(seq) => {
                    Err(ArchiveError(format!("entry {id}.{seq} of the session is damaged")))
                }
                None => Ok(items),
            }
        })
    }

    fn sizes<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Vec<EntrySize>, ArchiveError>> {
        let size = |it: ItemSize| EntrySize {
            seq: it.seq,
            message: it.message,
            role: it.role,
            kind: it.kind,
            bytes: it.bytes,
        };
        Box::pin(async move {
            let sizes = self.store.item_sizes(id).map_err(failed)?;
            Ok(sizes.into_iter().map(size).collect())
        })
    }

    fn head<'a>(
        &'a self,
        id: &'a str,
    ) -> BoxFuture<'a, Result<Option<ConversationHead>, ArchiveError>> {
        Box::pin(async move { Ok(self.store.transcript(id).map_err(failed)?.map(from_row)) })
    }

    fn lock(&self, id: &str) -> Result<Option<Box<dyn ConversationLock>>, ArchiveError> {
        let failed =
            |err: std::io::Error| ArchiveError(format!("the session cannot be locked: {err}"));
        let file = private_file::open_lock(&self.locks.join(id)).map_err(failed)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(Box::new(LockFile(file)))),
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
            Err(err) => Err(failed(err.into())),
        }
    }

    fn keep_picture(
        &self,
        sha256: String,
        bytes: Arc<[u8]>,
    ) -> BoxFuture<'_, Result<(), ArchiveError>> {
        Box::pin(
            async move { self.store.keep_picture(sha256, bytes.to_vec()).await.map_err(failed) },
        )
    }

    fn picture<'a>(
        &'a self,
        sha256: &'a str,
    ) -> BoxFuture<'a, Result<Option<Arc<[u8]>>, ArchiveError>> {
        Box::pin(async move { Ok(self.store.picture(sha256).map_err(failed)?.map(Arc::from)) })
    }

    fn log_head(&self) -> Result<u64, ArchiveError> {
        self.store.head().map(|it| it.seq).map_err(failed)
    }

    fn fate(&self, conversation: &str, call: &str, after: u64) -> Result<CallFate, ArchiveError> {
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
                    CallFate::Parked { approval, number }
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

fn failed(err: impl std::fmt::Display) -> ArchiveError {
    ArchiveError(err.to_string())
}

fn to_row(head: ConversationHead) -> TranscriptRow {
    TranscriptRow {
        id: head.id,
        parent: head.parent,
        title: head.title,
        persona: head.persona,
        model: head.model,
        created: head.created,
        touched: head.touched,
        taint: head.taint,
        usage: head.usage.to_string(),
        turns: 0,
        calls: 0,
    }
}

fn from_row(row: TranscriptRow) -> ConversationHead {
    ConversationHead {
        id: row.id,
        parent: row.parent,
        title: row.title,
        persona: row.persona,
        model: row.model,
        created: row.created,
        touched: row.touched,
        taint: row.taint,
        usage: serde_json::from_str(&row.usage).unwrap_or_default(),
        turns: row.turns,
        calls: row.calls,
    }
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
