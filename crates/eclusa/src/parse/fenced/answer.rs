//! Results for a model that called tools in `tool` blocks.

use serde_json::Value;

use crate::{CallResult, Reply, ResultShape, parse::was_made};

/// The answers to a turn, as the text of the next message: one `tool_result` block for each.
///
/// Each holds one line of JSON, and JSON has no raw line breaks, so no output can close its
/// block early or open another. An id is told only where the model gave one.
pub fn results(replies: &[Reply]) -> String {
    let blocks = replies.iter().map(|reply| {
        let mut result = CallResult::new(reply).json(ResultShape::Timed);
        if let Some(fields) = result.as_object_mut()
            && !was_made(reply.id())
        {
            fields.insert("id".to_owned(), Value::from(reply.id()));
        }
        format!("```tool_result\n{result}\n```\n")
    });
    blocks.collect()
}
