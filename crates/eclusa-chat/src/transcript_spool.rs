//! Old outputs that a model is shown as references: the session answers for its own.

use std::{
    io,
    ops::Range,
    sync::{Arc, OnceLock},
};

use eclusa::{Registration, Registry, Spool, spool::TextPieces};
use eclusa_term::failure::Failure;
use eclusa_tools::PagedOutput;
use futures::future::BoxFuture;

use crate::{archive::Archive, item::ItemBody, transcript::TranscriptStore};

/// The session whose outputs can be asked for, once it has a name.
pub(crate) type OwnSession = Arc<OnceLock<String>>;

/// Lets the tool `output` answer for references to the entries of one session as well.
pub(crate) fn answer_references(
    registry: &Registry,
    archive: &Archive,
) -> Result<OwnSession, Failure> {
    let own = OwnSession::default();
    let spool = TranscriptSpool { archive: archive.clone(), own: own.clone() };
    let tool = Registration::new(PagedOutput::new(Arc::new(spool))).replace().lazy();
    registry.register(tool).map_err(Failure::usage)?;
    Ok(own)
}

struct TranscriptSpool {
    archive: Archive,
    own: OwnSession,
}

impl Spool for TranscriptSpool {
    fn keep(&self, text: String) -> BoxFuture<'_, io::Result<String>> {
        self.archive.store.keep(text)
    }

    fn keep_pieces(&self, pieces: &mut TextPieces<'_>) -> io::Result<String> {
        self.archive.store.keep_pieces(pieces)
    }

    fn read<'a>(
        &'a self,
        reference: &'a str,
        range: Range<usize>,
    ) -> BoxFuture<'a, io::Result<String>> {
        Box::pin(async move {
            let own = self.own.get();
            let entry = reference
                .split_once('.')
                .filter(|(id, _)| own.is_some_and(|own| own == id))
                .and_then(|(id, seq)| Some((id, seq.parse::<u64>().ok()?)));
            let Some((id, seq)) = entry else {
                return self.archive.store.read(reference, range).await;
            };
            let items = self.archive.items_between(id, (seq, seq), usize::MAX).await;
            let item = items.map_err(io::Error::other)?.pop().map(|it| it.body);
            let Some(ItemBody::Answer(answer) | ItemBody::LateAnswer(answer)) = item else {
                return Err(io::Error::other(format!("no saved output `{reference}`")));
            };
            let text = answer.output;
            let start = text.floor_char_boundary(range.start);
            let end = text.floor_char_boundary(range.end);
            Ok(text.get(start..end).unwrap_or_default().to_owned())
        })
    }
}
