//! Models without native calls: calls are `tool` blocks in their text, answers `tool_result` blocks.

use eclusa::parse::fenced::{self, Fenced, Options, Piece};
use serde_json::{Value, json};

use super::StreamReader;
use crate::model::{Delta, ModelError, ModelReply, StopReason, ViewMessage};

/// The same message in words alone.
pub(super) fn flattened(message: &ViewMessage) -> ViewMessage {
    match message {
        ViewMessage::User { .. } => message.clone(),
        ViewMessage::Assistant { text, calls, .. } => {
            let blocks = calls.iter().map(|it| {
                let call = json!({"name": it.name, "args": it.args});
                format!("\n```tool\n{call}\n```\n")
            });
            ViewMessage::Assistant {
                text: format!("{text}{}", blocks.collect::<String>()),
                calls: Vec::new(),
                blocks: None,
            }
        }
        ViewMessage::Answers(all) => {
            ViewMessage::User { text: fenced::results(all), pictures: Vec::new() }
        }
    }
}

/// Reads the text of another reader: what is a call there is prose, what is a block is a call.
pub(super) struct BlockReader {
    inner: Box<dyn StreamReader>,
    fenced: Fenced,
    text: String,
    asked: Vec<eclusa::Incoming>,
}

impl BlockReader {
    pub(super) fn new(inner: Box<dyn StreamReader>) -> BlockReader {
        let fenced = Fenced::new(Options::default());
        BlockReader { inner, fenced, text: String::new(), asked: Vec::new() }
    }
}

impl StreamReader for BlockReader {
    fn push(
        &mut self,
        event: &Value,
        hear: &mut (dyn FnMut(Delta) + Send),
    ) -> Result<(), ModelError> {
        let BlockReader { inner, fenced, text, asked } = self;
        inner.push(event, &mut |delta| match delta {
            Delta::Text(part) => {
                for piece in fenced.push(&part) {
                    match piece {
                        Piece::Text(it) => {
                            text.push_str(&it);
                            hear(Delta::Text(it.into_owned()));
                        }
                        Piece::Incoming(it) => asked.push(it),
                    }
                }
            }
            Delta::Thought(_) => hear(delta),
        })
    }

    fn finish(self: Box<Self>) -> Result<ModelReply, ModelError> {
        let BlockReader { inner, fenced, mut text, mut asked } = *self;
        let reply = inner.finish()?;
        for piece in fenced.finish() {
            match piece {
                Piece::Text(it) => text.push_str(&it),
                Piece::Incoming(it) => asked.push(it),
            }
        }
        let why = match (reply.why, asked.is_empty()) {
            (StopReason::Done | StopReason::Calls, true) => StopReason::Done,
            (StopReason::Done | StopReason::Calls, false) => StopReason::Calls,
            (why, _) => why,
        };
        Ok(ModelReply { text: text.trim().to_owned(), asked, blocks: None, why, ..reply })
    }
}
