//! Methods that the protocol does not know, and requests whose parameters nobody can read.

use rmcp::{ErrorData, model::ErrorCode};
use serde_json::json;

/// A method that nobody knows, or one whose parameters nobody can read.
pub(crate) fn unreadable(method: &str) -> ErrorData {
    const KNOWN: [&str; 12] = [
        "initialize",
        "tools/call",
        "tools/list",
        "resources/read",
        "resources/list",
        "prompts/get",
        "prompts/list",
        "completion/complete",
        "subscriptions/listen",
        "tasks/get",
        "tasks/update",
        "tasks/cancel",
    ];
    match KNOWN.contains(&method) {
        true => ErrorData::invalid_params(
            format!("the parameters of `{method}` do not fit the protocol"),
            None,
        ),
        false => unknown(method),
    }
}

/// The refusal of a method that the protocol does not have.
pub(crate) fn unknown(method: &str) -> ErrorData {
    ErrorData::new(
        ErrorCode::METHOD_NOT_FOUND,
        format!("there is no method `{method}`"),
        Some(json!({"method": method})),
    )
}
