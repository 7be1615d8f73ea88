//! Calls of the log that a person wants to see: of a tool, with an outcome, since, mentioning.

use std::collections::BTreeSet;

use eclusa::audit::{Log, calls::CallRecord};
use serde_json::Value;

use super::LogList;
use crate::{failure::Failure, log_call};

/// The last calls that match.
pub(super) fn calls(log: &dyn Log, wanted: &LogList) -> Result<Vec<CallRecord>, Failure> {
    let needle = wanted.grep.as_ref().map(|it| it.to_lowercase());
    let mut calls = log_call::since(log, wanted.since)?;
    calls.retain(|call| {
        let one_of = |all: &[String], it: &str| all.is_empty() || all.iter().any(|all| all == it);
        one_of(&wanted.tool, call.tool())
            && one_of(&wanted.outcome, call.outcome())
            && wanted.session.as_ref().is_none_or(|it| call.session() == it)
            && needle.as_ref().is_none_or(|it| mentions(&call.as_json(), it))
    });
    Ok(calls.split_off(calls.len().saturating_sub(wanted.count)))
}

/// Every outcome that a call of this log has.
pub(super) fn outcomes(log: &dyn Log) -> Result<BTreeSet<String>, Failure> {
    let calls = log_call::since(log, None)?;
    Ok(calls.iter().map(|it| it.outcome().to_owned()).collect())
}

/// True when a text anywhere in the value contains this, which is in lower case.
fn mentions(value: &Value, needle: &str) -> bool {
    match value {
        Value::String(text) => text.to_lowercase().contains(needle),
        Value::Array(items) => items.iter().any(|it| mentions(it, needle)),
        Value::Object(fields) => fields.values().any(|it| mentions(it, needle)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}
