//! Calls of the log that a person wants to see: of a tool, with an outcome, since, mentioning.

use eclusa_store::Store;
use serde_json::Value;

use super::PAGE;
use crate::{
    args::LogList,
    commands::{call_record::CallRecord, log_call::LogCall},
    failure::Failure,
    since::Since,
};

/// The last calls that match.
pub(super) fn calls(store: &Store, wanted: &LogList) -> Result<Vec<CallRecord>, Failure> {
    let needle = wanted.grep.as_ref().map(|it| it.to_lowercase());
    let mut calls = all_calls(store, wanted.since)?;
    calls.retain(|call| {
        let one_of = |all: &[String], it: &str| all.is_empty() || all.iter().any(|all| all == it);
        one_of(&wanted.tool, call.text("tool"))
            && one_of(&wanted.outcome, call.outcome())
            && wanted.session.as_ref().is_none_or(|it| call.text("conversation") == it)
            && needle.as_ref().is_none_or(|it| mentions(&call.as_json(), it))
    });
    Ok(calls.split_off(calls.len().saturating_sub(wanted.count)))
}

/// Every call since then, oldest first.
pub(in crate::commands) fn all_calls(
    store: &Store,
    since: Option<Since>,
) -> Result<Vec<CallRecord>, Failure> {
    let mut next = match since {
        None => 1,
        Some(since) => LogCall::first_record(store, since)?,
    };
    let mut records = Vec::new();
    loop {
        let page = store.records(next, PAGE).map_err(Failure::failed)?;
        let Some(last) = page.last() else { break };
        next = last.seq + 1;
        records.extend(page);
    }
    Ok(CallRecord::gather(&records))
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
