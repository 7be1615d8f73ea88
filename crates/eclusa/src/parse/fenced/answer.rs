//! Results for a model that called tools in `tool` blocks.

use serde_json::json;

use crate::parse::{ToolAnswer, was_made};

/// The answers to a turn, as the text of the next message: one `tool_result` block for each.
///
/// Each holds one line of JSON, and JSON has no raw line breaks, so no output can close its
/// block early or open another. An id is told only where the model gave one.
pub fn results(answers: impl IntoIterator<Item = impl Into<ToolAnswer>>) -> String {
    let blocks = answers.into_iter().map(|it| {
        let answer: ToolAnswer = it.into();
        let mut result = json!({
            "tool": answer.tool,
            "success": !answer.is_error(),
            "output": answer.output,
            "truncated": answer.truncated,
            "execution_time_ms": answer.time_ms,
        });
        if let Some(fields) = result.as_object_mut() {
            if let Some(error) = answer.error {
                fields.insert("error".to_owned(), error.into());
            }
            if !was_made(&answer.id) {
                fields.insert("id".to_owned(), answer.id.into());
            }
        }
        format!("```tool_result\n{result}\n```\n")
    });
    blocks.collect()
}
