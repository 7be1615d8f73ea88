//! Where outputs go that are too long for a model: kept whole, readable by reference and range.

use std::{
    collections::HashMap,
    io,
    ops::Range,
    sync::{Mutex, PoisonError},
};

use futures::future::BoxFuture;

use crate::Hash;

/// The pieces of a text, one after the other, or why there are no more.
pub type TextPieces<'a> = dyn Iterator<Item = io::Result<String>> + 'a;

/// Keeps texts that were cut.
///
/// Its errors: [`io::ErrorKind::NotFound`] for what was never kept or was dropped since,
/// [`io::ErrorKind::InvalidData`] for what was altered, any other where the disk or its owner failed.
pub trait Spool: Send + Sync {
    /// Keeps a text, and says how to find it again.
    fn keep(&self, text: String) -> BoxFuture<'_, io::Result<String>>;

    /// Keeps a text that comes in pieces because it is too long to be held, and says how to find
    /// it again. It may block. One that knows no better holds all of it.
    fn keep_pieces(&self, pieces: &mut TextPieces<'_>) -> io::Result<String> {
        let text = pieces.collect::<io::Result<String>>()?;
        futures::executor::block_on(self.keep(text))
    }

    /// The bytes of a kept text in this range, cut to its length and to whole characters.
    fn read<'a>(
        &'a self,
        reference: &'a str,
        range: Range<usize>,
    ) -> BoxFuture<'a, io::Result<String>>;
}

impl dyn Spool {
    /// What a text is kept as: the same text is kept once.
    pub fn reference(text: &str) -> String {
        <dyn Spool>::reference_of(Hash::sha256(text.as_bytes()))
    }

    /// What a text with this hash is kept as.
    pub fn reference_of(hash: Hash) -> String {
        let mut hex = hash.to_string();
        hex.truncate(24);
        format!("out-{hex}")
    }

    /// The error for a reference under which nothing is kept.
    pub fn unknown(reference: &str) -> io::Error {
        let what = format!("no saved output `{reference}` (unknown or expired)");
        io::Error::new(io::ErrorKind::NotFound, what)
    }

    /// The part of a text in this range of bytes, cut to its length and to whole characters.
    pub fn slice(text: &str, range: Range<usize>) -> &str {
        let start = text.ceil_char_boundary(range.start.min(text.len()));
        let end = text.floor_char_boundary(range.end.min(text.len()));
        text.get(start..end).unwrap_or_default()
    }
}

/// Keeps texts in memory.
#[derive(Debug, Default)]
pub struct MemorySpool(Mutex<HashMap<String, String>>);

impl Spool for MemorySpool {
    fn keep(&self, text: String) -> BoxFuture<'_, io::Result<String>> {
        let reference = <dyn Spool>::reference(&text);
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.insert(reference.clone(), text);
        Box::pin(std::future::ready(Ok(reference)))
    }

    fn read<'a>(
        &'a self,
        reference: &'a str,
        range: Range<usize>,
    ) -> BoxFuture<'a, io::Result<String>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let text = kept.get(reference).map(|text| <dyn Spool>::slice(text, range).to_owned());
        let text = text.ok_or_else(|| <dyn Spool>::unknown(reference));
        Box::pin(std::future::ready(text))
    }
}
