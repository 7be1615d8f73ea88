//! Where conversations are kept: appended to, read back, and what the log knows of their calls.

use std::sync::Arc;

pub use eclusa::store::{ItemSize, TranscriptError, TranscriptFuture, TranscriptHead};
use serde_json::Value;

use crate::item::TranscriptItem;

mod html;
mod import;
mod markdown;

pub use html::html;
pub use import::{ImportFormat, ImportedTranscript, import};
pub use markdown::markdown;

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
    /// It waits for a person.
    Parked {
        /// Whether it ran, and its changes wait.
        ran: bool,
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

/// Held by the one process that may append to a conversation; let go when it is dropped.
pub trait ConversationLock: Send + Sync {}

/// Where conversations are kept. What was appended is durable when the future resolves.
pub trait TranscriptStore: Send + Sync {
    /// Begins a conversation. False when the id is taken.
    fn create(&self, head: TranscriptHead) -> TranscriptFuture<'_, bool>;

    /// Appends entries, all or none, and with them what the head says now.
    fn append(&self, head: TranscriptHead, items: Vec<TranscriptItem>) -> TranscriptFuture<'_, ()>;

    /// All entries of a conversation, oldest first.
    fn items<'a>(&'a self, id: &'a str) -> TranscriptFuture<'a, Vec<TranscriptItem>>;

    /// The entries from one place to another, both included. Outputs longer than this stay where
    /// they are: [`AnswerItem::in_archive`](crate::AnswerItem::in_archive).
    fn items_between<'a>(
        &'a self,
        id: &'a str,
        (from, to): (u64, u64),
        longest_output: usize,
    ) -> TranscriptFuture<'a, Vec<TranscriptItem>> {
        Box::pin(async move {
            let mut items = self.items(id).await?;
            items.retain(|it| (from..=to).contains(&it.seq));
            items.iter_mut().for_each(|it| it.body.leave_output(longest_output));
            Ok(items)
        })
    }

    /// All entries of a conversation without their contents, oldest first.
    fn sizes<'a>(&'a self, id: &'a str) -> TranscriptFuture<'a, Vec<ItemSize>> {
        let size = |it: TranscriptItem| ItemSize {
            seq: it.seq,
            message: it.message,
            role: it.body.role().to_owned(),
            kind: it.body.row_kind().to_owned(),
            bytes: it.json("").to_string().len() as u64 + it.blocks.map_or(0, |it| it.len() as u64),
        };
        Box::pin(async move { Ok(self.items(id).await?.into_iter().map(size).collect()) })
    }

    /// The head of a conversation.
    fn head<'a>(&'a self, id: &'a str) -> TranscriptFuture<'a, Option<TranscriptHead>>;

    /// Takes a conversation for this process. `None`: another has it.
    fn lock(&self, id: &str) -> Result<Option<Box<dyn ConversationLock>>, TranscriptError>;

    /// Keeps a picture by its digest.
    fn keep_picture(&self, sha256: String, bytes: Arc<[u8]>) -> TranscriptFuture<'_, ()>;

    /// A picture that was kept.
    fn picture<'a>(&'a self, sha256: &'a str) -> TranscriptFuture<'a, Option<Arc<[u8]>>>;

    /// The number of the last record of the log.
    fn log_head(&self) -> Result<u64, TranscriptError>;

    /// What the log knows of a call of this conversation, in the records after this number.
    fn fate(&self, conversation: &str, call: &str, after: u64)
    -> Result<CallFate, TranscriptError>;
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
                    return CallFate::Parked { approval, number, ran: begun.is_some() };
                }
                return CallFate::Ended { code: text("code").to_owned(), number };
            }
            _ => {}
        }
    }
    fate
}
