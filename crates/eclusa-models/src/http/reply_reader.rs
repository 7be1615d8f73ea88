//! The bytes of a streamed response, in whatever chunks they come, read into one reply.

use serde_json::Value;

use super::sse::EventReader;
use crate::{
    model::{Delta, ModelError, ModelReply},
    wire::{self, StreamReader, WireSettings},
};

/// A response is no longer than this.
const MAX_RESPONSE: usize = 64 << 20;

/// Reads one streamed response.
pub struct ReplyReader {
    events: EventReader,
    reader: Box<dyn StreamReader>,
    total: usize,
}

impl ReplyReader {
    /// A reader for one response of such a model.
    pub fn new(settings: &WireSettings) -> ReplyReader {
        let (events, reader) = (EventReader::default(), wire::reader(settings));
        ReplyReader { events, reader, total: 0 }
    }

    /// Takes the next bytes, and tells what they bring.
    pub fn push(
        &mut self,
        bytes: &[u8],
        hear: &mut (dyn FnMut(Delta) + Send),
    ) -> Result<(), ModelError> {
        self.total += bytes.len();
        if self.total > MAX_RESPONSE {
            return Err(ModelError::fatal("the response is longer than 64 MiB"));
        }
        for data in self.events.push(bytes).map_err(ModelError::fatal)? {
            take(&data, &mut *self.reader, hear)?;
        }
        Ok(())
    }

    /// The response has ended: the whole reply, or that it was cut.
    pub fn finish(
        mut self,
        hear: &mut (dyn FnMut(Delta) + Send),
    ) -> Result<ModelReply, ModelError> {
        if let Some(data) = self.events.finish() {
            take(&data, &mut *self.reader, hear)?;
        }
        self.reader.finish()
    }
}

/// One event of a stream. Its end mark, and what is no JSON, say nothing.
fn take(
    data: &str,
    reader: &mut dyn StreamReader,
    hear: &mut (dyn FnMut(Delta) + Send),
) -> Result<(), ModelError> {
    match serde_json::from_str::<Value>(data) {
        Ok(event) => reader.push(&event, hear),
        Err(_) => Ok(()),
    }
}
