//! Finding past calls in a log: by number, by time, the last, and those that match.

use super::{CallRecord, fields};
use crate::audit::{AuditError, Log, Record};
use serde_json::Value;

/// How many records are read at a time.
const PAGE: usize = 1_000;

/// So many records are looked through for calls that match.
const MAX_LOOKED_AT: u64 = 20_000;

/// All records from this one on.
pub fn records_from(log: &dyn Log, mut next: u64) -> Result<Vec<Record>, AuditError> {
    let mut records = Vec::new();
    loop {
        let page = log.records(next, PAGE)?;
        let Some(last) = page.last() else { return Ok(records) };
        next = last.seq + 1;
        records.extend(page);
    }
}

/// Every call whose first record is this one or a later one, oldest first.
pub fn calls_from(log: &dyn Log, record: u64) -> Result<Vec<CallRecord>, AuditError> {
    Ok(CallRecord::gather(records_from(log, record)?))
}

/// The call with this number; nothing if there is no such call.
pub fn call_with(log: &dyn Log, number: u64) -> Result<Option<CallRecord>, AuditError> {
    let Some(first) = log.first_of(number)? else { return Ok(None) };
    let ends = log.ends_of(first.seq)?;
    Ok(CallRecord::gather(std::iter::once(first).chain(ends)).pop())
}

/// The last calls, oldest first. A call has one or two records, and others may stand between.
pub fn last_calls(log: &dyn Log, count: usize) -> Result<Vec<CallRecord>, AuditError> {
    let mut window = count.saturating_mul(3).max(50);
    loop {
        let records = log.last(window)?;
        let all = records.len() < window;
        let mut calls = CallRecord::gather(records);
        if all || calls.len() >= count {
            let surplus = calls.len().saturating_sub(count);
            return Ok(calls.split_off(surplus));
        }
        window = window.saturating_mul(4);
    }
}

/// The number of the first record at or after a moment, in milliseconds since 1970.
pub fn first_record_at(log: &dyn Log, at: u64) -> Result<u64, AuditError> {
    let time = |it: &Record| fields(it).get("at").and_then(Value::as_u64).unwrap_or_default();
    let mut window = PAGE;
    loop {
        let records = log.last(window)?;
        let before = records.iter().rposition(|it| time(it) < at);
        match before.and_then(|it| records.get(it)) {
            Some(before) => return Ok(before.seq + 1),
            None if records.len() < window => return Ok(0),
            None => window = window.saturating_mul(4),
        }
    }
}

/// The newest calls before this record that match, newest first; and where to go on, if there may
/// be more.
pub fn newest_calls(
    log: &dyn Log,
    before: Option<u64>,
    limit: usize,
    matches: impl Fn(&CallRecord) -> bool,
) -> Result<(Vec<CallRecord>, Option<u64>), AuditError> {
    let head = log.head()?.seq;
    let mut end = before.unwrap_or(u64::MAX).min(head.saturating_add(1));
    let stop = end.saturating_sub(MAX_LOOKED_AT);
    let mut found: Vec<CallRecord> = Vec::new();
    let mut records: Vec<Record> = Vec::new();
    while end > 1 && end > stop && found.len() <= limit {
        let from = end.saturating_sub(PAGE as u64).max(1);
        let mut chunk = log.records(from, usize::try_from(end - from).unwrap_or_default())?;
        chunk.append(&mut records);
        records = chunk;
        found = CallRecord::gather(records.iter().cloned());
        found.retain(&matches);
        found.reverse();
        end = from;
    }
    let more = found.len() > limit;
    found.truncate(limit);
    let next = found.last().map(CallRecord::first_record).filter(|_| more);
    Ok((found, next))
}
