//! Where conversations are kept: appended to, read back, and what the log knows of their calls.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use eclusa::MemoryLog;
use futures::future::BoxFuture;
use serde_json::Value;

use crate::item::TranscriptItem;

mod html;
mod import;
mod markdown;

pub use html::html;
pub use import::{ImportFormat, ImportedTranscript, import};
pub use markdown::markdown;

/// What is known of a conversation without reading it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ConversationHead {
    /// Its name: six letters and digits.
    pub id: String,
    /// The conversation that it was forked from, or that started it.
    pub parent: Option<String>,
    /// What it is about: the beginning of the first words.
    pub title: String,
    /// The persona.
    pub persona: String,
    /// The model, as the configuration calls it.
    pub model: String,
    /// When it began, in milliseconds since 1970.
    pub created: u64,
    /// When something was last kept.
    pub touched: u64,
    /// What brought text from outside into it.
    pub taint: Option<String>,
    /// What it cost so far, as the loop keeps it.
    pub usage: Value,
    /// How many turns it has; filled in when it is read.
    pub turns: u64,
    /// How many calls it has; filled in when it is read.
    pub calls: u64,
}

/// Why something could not be kept or read. One sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ArchiveError(pub String);

/// What the log knows of a call that has no answer in the transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallFate {
    /// Nothing: it was not run.
    NotRun,
    /// It was answered, and the answer was lost.
    Ended {
        /// The code of the outcome.
        code: String,
        /// Its number in the log.
        number: u64,
    },
    /// It waits for a person, and was not run.
    Parked {
        /// The number of the pending approval.
        approval: u64,
        /// Its number in the log.
        number: u64,
    },
    /// It had started.
    Started {
        /// Its number in the log.
        number: u64,
    },
}

/// An entry without its contents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntrySize {
    /// Its place in the conversation.
    pub seq: u64,
    /// Which message of the model it is part of.
    pub message: Option<u64>,
    /// Whose words it holds.
    pub role: String,
    /// What it is, as [`ItemBody::row_kind`](crate::ItemBody::row_kind) says it.
    pub kind: String,
    /// How long it is, in bytes.
    pub bytes: u64,
}

/// Held by the one process that may append to a conversation; let go when it is dropped.
pub trait ConversationLock: Send + Sync {}

/// Where conversations are kept. What was appended is durable when the future resolves.
pub trait TranscriptStore: Send + Sync {
    /// Begins a conversation. False when the id is taken.
    fn create(&self, head: ConversationHead) -> BoxFuture<'_, Result<bool, ArchiveError>>;

    /// Appends entries, all or none, and with them what the head says now.
    fn append(
        &self,
        head: ConversationHead,
        items: Vec<TranscriptItem>,
    ) -> BoxFuture<'_, Result<(), ArchiveError>>;

    /// All entries of a conversation, oldest first.
    fn items<'a>(&'a self, id: &'a str)
    -> BoxFuture<'a, Result<Vec<TranscriptItem>, ArchiveError>>;

    /// The entries from one place to another, both included. Outputs longer than this stay where
    /// they are: [`AnswerItem::in_archive`](crate::AnswerItem::in_archive).
    fn items_between<'a>(
        &'a self,
        id: &'a str,
        (from, to): (u64, u64),
        longest_output: usize,
    ) -> BoxFuture<'a, Result<Vec<TranscriptItem>, ArchiveError>> {
        Box::pin(async move {
            let mut items = self.items(id).await?;
            items.retain(|it| (from..=to).contains(&it.seq));
            items.iter_mut().for_each(|it| it.body.leave_output(longest_output));
            Ok(items)
        })
    }

    /// All entries of a conversation without their contents, oldest first.
    fn sizes<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Vec<EntrySize>, ArchiveError>> {
        let size = |it: TranscriptItem| EntrySize {
            seq: it.seq,
            message: it.message,
            role: it.body.role().to_owned(),
            kind: it.body.row_kind().to_owned(),
            bytes: it.json("").to_string().len() as u64 + it.blocks.map_or(0, |it| it.len() as u64),
        };
        Box::pin(async move { Ok(self.items(id).await?.into_iter().map(size).collect()) })
    }

    /// The head of a conversation.
    fn head<'a>(
        &'a self,
        id: &'a str,
    ) -> BoxFuture<'a, Result<Option<ConversationHead>, ArchiveError>>;

    /// Takes a conversation for this process. `None`: another has it.
    fn lock(&self, id: &str) -> Result<Option<Box<dyn ConversationLock>>, ArchiveError>;

    /// Keeps a picture by its digest.
    fn keep_picture(
        &self,
        sha256: String,
        bytes: Arc<[u8]>,
    ) -> BoxFuture<'_, Result<(), ArchiveError>>;

    /// A picture that was kept.
    fn picture<'a>(
        &'a self,
        sha256: &'a str,
    ) -> BoxFuture<'a, Result<Option<Arc<[u8]>>, ArchiveError>>;

    /// The number of the last record of the log.
    fn log_head(&self) -> Result<u64, ArchiveError>;

    /// What the log knows of a call of this conversation, in the records after this number.
    fn fate(&self, conversation: &str, call: &str, after: u64) -> Result<CallFate, ArchiveError>;
}

/// What the records of a log say of a call: each is the body of one record and its number. A call of
/// a log that does not number calls has that of its first record.
pub fn fate_in<'a>(
    records: impl IntoIterator<Item = (u64, &'a str)>,
    conversation: &str,
    call: &str,
) -> CallFate {
    let mut fate = CallFate::NotRun;
    let mut begun = None;
    for (seq, body) in records {
        let Ok(body) = serde_json::from_str::<Value>(body) else { continue };
        let text = |name: &str| body.get(name).and_then(Value::as_str).unwrap_or_default();
        if text("call") != call || text("conversation") != conversation {
            continue;
        }
        let read = |name: &str| body.get(name).and_then(Value::as_u64);
        let number = begun.or(read("number")).or(read("start")).unwrap_or(seq);
        match text("event") {
            "started" => {
                begun = Some(number);
                fate = CallFate::Started { number };
            }
            "ended" => {
                let number_at = |place: &str| body.pointer(place).and_then(Value::as_u64);
                let approval = number_at("/changes/approval/question")
                    .or_else(|| number_at("/approval/question"));
                if let (Some(approval), "parked") = (approval, text("code")) {
                    return CallFate::Parked { approval, number };
                }
                return CallFate::Ended { code: text("code").to_owned(), number };
            }
            _ => {}
        }
    }
    fate
}

/// Keeps conversations in memory, for tests and for programs that keep them elsewhere.
#[derive(Clone, Default)]
pub struct MemoryTranscripts {
    kept: Arc<Mutex<Archive>>,
    log: Arc<MemoryLog>,
}

#[derive(Default)]
struct Archive {
    heads: BTreeMap<String, ConversationHead>,
    items: HashMap<String, Vec<TranscriptItem>>,
    pictures: HashMap<String, Arc<[u8]>>,
    held: HashSet<String>,
    /// Refuses everything that would be kept, to see what happens then.
    full: bool,
}

impl MemoryTranscripts {
    /// Empty, beside this log.
    pub fn beside(log: Arc<MemoryLog>) -> MemoryTranscripts {
        MemoryTranscripts { kept: Arc::default(), log }
    }

    /// From now on nothing more can be kept.
    pub fn fill_up(&self) {
        self.archive().full = true;
    }

    fn archive(&self) -> MutexGuard<'_, Archive> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write<T>(&self, write: impl FnOnce(&mut Archive) -> T) -> Result<T, ArchiveError> {
        let mut archive = self.archive();
        match archive.full {
            true => Err(ArchiveError("no space left for the transcript".to_owned())),
            false => Ok(write(&mut archive)),
        }
    }
}

struct HeldInMemory(MemoryTranscripts, String);

impl ConversationLock for HeldInMemory {}

impl Drop for HeldInMemory {
    fn drop(&mut self) {
        self.0.archive().held.remove(&self.1);
    }
}

impl TranscriptStore for MemoryTranscripts {
    fn create(&self, head: ConversationHead) -> BoxFuture<'_, Result<bool, ArchiveError>> {
        let created = self.write(|it| {
            let free = !it.heads.contains_key(&head.id);
            if free {
                it.heads.insert(head.id.clone(), head);
            }
            free
        });
        Box::pin(std::future::ready(created))
    }

    fn append(
        &self,
        head: ConversationHead,
        items: Vec<TranscriptItem>,
    ) -> BoxFuture<'_, Result<(), ArchiveError>> {
        let kept = self.write(|it| {
            it.items.entry(head.id.clone()).or_default().extend(items);
            it.heads.insert(head.id.clone(), head);
        });
        Box::pin(std::future::ready(kept))
    }

    fn items<'a>(
        &'a self,
        id: &'a str,
    ) -> BoxFuture<'a, Result<Vec<TranscriptItem>, ArchiveError>> {
        let items = self.archive().items.get(id).cloned().unwrap_or_default();
        Box::pin(std::future::ready(Ok(items)))
    }

    fn head<'a>(
        &'a self,
        id: &'a str,
    ) -> BoxFuture<'a, Result<Option<ConversationHead>, ArchiveError>> {
        let head = self.archive().heads.get(id).cloned();
        Box::pin(std::future::ready(Ok(head)))
    }

    fn lock(&self, id: &str) -> Result<Option<Box<dyn ConversationLock>>, ArchiveError> {
        let new = self.archive().held.insert(id.to_owned());
        Ok(new.then(|| Box::new(HeldInMemory(self.clone(), id.to_owned())) as _))
    }

    fn keep_picture(
        &self,
        sha256: String,
        bytes: Arc<[u8]>,
    ) -> BoxFuture<'_, Result<(), ArchiveError>> {
        let kept = self.write(|it| drop(it.pictures.insert(sha256, bytes)));
        Box::pin(std::future::ready(kept))
    }

    fn picture<'a>(
        &'a self,
        sha256: &'a str,
    ) -> BoxFuture<'a, Result<Option<Arc<[u8]>>, ArchiveError>> {
        Box::pin(std::future::ready(Ok(self.archive().pictures.get(sha256).cloned())))
    }

    fn log_head(&self) -> Result<u64, ArchiveError> {
        Ok(self.log.head().seq)
    }

    fn fate(&self, conversation: &str, call: &str, after: u64) -> Result<CallFate, ArchiveError> {
        let records = self.log.records();
        let after = records.iter().filter(|it| it.seq > after);
        Ok(fate_in(after.map(|it| (it.seq, it.body.as_str())), conversation, call))
    }
}
