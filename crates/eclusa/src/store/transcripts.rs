//! Transcripts of sessions with a model: rows that a store keeps and does not understand.

use futures::future::BoxFuture;
use serde_json::Value;

/// A transcript could not be read or written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TranscriptError(pub String);

/// What is kept of transcripts, or why it cannot be read or written.
pub type TranscriptFuture<'a, T> = BoxFuture<'a, Result<T, TranscriptError>>;

/// A transcript, without what was said in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TranscriptHead {
    /// The id of its session: six letters and digits.
    pub id: String,
    /// The session that it was forked from, or that started it.
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
    /// What it cost so far, as whoever keeps it counts.
    pub usage: Value,
    /// How many turns it has; only read.
    pub turns: u64,
    /// How many calls it has; only read.
    pub calls: u64,
}

/// One entry of a transcript.
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

/// Keeps transcripts.
pub trait TranscriptRows: Send + Sync {
    /// Begins a transcript. False when the id is taken.
    fn create_transcript(&self, row: TranscriptHead) -> TranscriptFuture<'_, bool>;

    /// Appends entries and notes what the head says now: all of it or nothing, durable when this
    /// resolves. A place that is taken is an error, so two writers never mix.
    fn append_items(&self, row: TranscriptHead, items: Vec<ItemRow>) -> TranscriptFuture<'_, ()>;

    /// A transcript.
    fn transcript(&self, id: &str) -> Result<Option<TranscriptHead>, TranscriptError>;

    /// The transcripts, those that were touched last first.
    fn transcripts(&self, limit: usize) -> Result<Vec<TranscriptHead>, TranscriptError>;

    /// Tells the entries of a transcript from one place to another, both included, one by one.
    fn each_item(
        &self,
        id: &str,
        from: u64,
        to: u64,
        tell: &mut dyn FnMut(ItemRow),
    ) -> Result<(), TranscriptError>;

    /// The entries of a transcript without their contents, oldest first.
    fn item_sizes(&self, id: &str) -> Result<Vec<ItemSize>, TranscriptError>;

    /// The newest entries in which all of these words stand: session and entry.
    fn search_items(
        &self,
        words: &str,
        limit: usize,
    ) -> Result<Vec<(String, ItemRow)>, TranscriptError>;

    /// Removes a transcript. What its calls did stays in the log. False when there is none.
    fn remove_transcript(&self, id: String) -> TranscriptFuture<'_, bool>;

    /// Keeps a picture by its digest, once.
    fn keep_picture(&self, sha256: String, bytes: Vec<u8>) -> TranscriptFuture<'_, ()>;

    /// A picture that was kept.
    fn picture(&self, sha256: &str) -> Result<Option<Vec<u8>>, TranscriptError>;
}
