//! Calls of the log that a person wants to see: of a tool, with an outcome, since, mentioning.

use std::collections::BTreeSet;

use eclusa::audit::{
    Log,
    calls::{self, CallRecord},
};
use serde_json::Value;

use super::LogList;
use crate::{failure::Failure, log_call};

/// The last calls that match.
pub(super) fn calls(log: &dyn Log, wanted: &LogList) -> Result<Vec<CallRecord>, Failure> {
    let needle = wanted.grep.as_ref().map(|it| it.to_lowercase());
    let matches = |call: &CallRecord| {
        let one_of = |all: &[String], it: &str| all.is_empty() || all.iter().any(|all| all == it);
        one_of(&wanted.tool, call.tool())
            && one_of(&wanted.outcome, call.outcome())
            && wanted.session.as_ref().is_none_or(|it| call.session() == it)
            && needle.as_ref().is_none_or(|it| mentions(&call.as_json(), it))
    };
    let from = wanted.since.map_or(Ok(1), |it| log_call::first_record(log, it))?;
    let mut found = Vec::new();
    // From the end, and no further than it takes: the log may be long.
    let visit = |call: CallRecord| {
        found.extend(Some(call).filter(&matches));
        found.len() < wanted.count
    };
    calls::newest_first(log, from, visit).map_err(Failure::failed)?;
    found.truncate(wanted.count);
    found.reverse();
    Ok(found)
}

/// Every outcome that a call of this log has.
pub(super) fn outcomes(log: &dyn Log) -> Result<BTreeSet<String>, Failure> {
    let mut known = BTreeSet::new();
    let visit = |call: CallRecord| {
        if !known.contains(call.outcome()) {
            known.insert(call.outcome().to_owned());
        }
        true
    };
    calls::newest_first(log, 1, visit).map_err(Failure::failed)?;
    Ok(known)
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
