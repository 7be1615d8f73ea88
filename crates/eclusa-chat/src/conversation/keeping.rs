//! Keeping entries: what was kept is durable before anything follows from it.

use std::sync::Arc;

use eclusa::Hash;

use super::Conversation;
use crate::{
    item::{ItemBody, PictureRef, TranscriptItem},
    transcript::TranscriptError,
};

impl Conversation {
    /// Keeps entries, all or none: they are durable when this returns.
    pub(super) async fn keep(
        &mut self,
        items: Vec<(ItemBody, Option<String>)>,
    ) -> Result<(), TranscriptError> {
        self.keep_at(items, None, None).await
    }

    /// Keeps words that were not sent, for whoever goes on with the conversation.
    pub async fn keep_draft(&mut self, text: &str) -> Result<(), TranscriptError> {
        let text = self.redacted(text).0;
        self.keep(vec![(ItemBody::Draft { text }, None)]).await
    }

    /// Words that were not sent when the person left it.
    pub fn draft(&self) -> Option<&str> {
        let opened = |it: &&TranscriptItem| !matches!(it.body, ItemBody::Opened { .. });
        match &self.items.iter().rfind(opened)?.body {
            ItemBody::Draft { text } => Some(text),
            _ => None,
        }
    }

    pub(super) async fn keep_at(
        &mut self,
        bodies: Vec<(ItemBody, Option<String>)>,
        message: Option<u64>,
        log_at: Option<u64>,
    ) -> Result<(), TranscriptError> {
        self.count_aside();
        let at = self.gate.clock().unix_ms();
        let first = self.items.last().map_or(1, |it| it.seq + 1);
        let items: Vec<TranscriptItem> = (first..)
            .zip(bodies)
            .map(|(seq, (body, blocks))| TranscriptItem {
                seq,
                turn: self.turn,
                message,
                at,
                body,
                blocks,
                log_at,
            })
            .collect();
        self.head.touched = at;
        self.head.taint = self.gate.taint().map(|it| it.to_string());
        self.store.append(self.head.clone(), items.clone()).await?;
        let count = self.items.len();
        self.items.extend(items);
        self.show_since(count);
        Ok(())
    }

    pub(super) async fn keep_picture(
        &mut self,
        media_type: String,
        bytes: Arc<[u8]>,
    ) -> Result<PictureRef, TranscriptError> {
        let sha256 = Hash::sha256(&bytes).to_string();
        self.store.keep_picture(sha256.clone(), bytes.clone()).await?;
        self.pictures.insert(sha256.clone(), bytes);
        Ok(PictureRef { sha256, media_type })
    }
}
