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
    let end = before.unwrap_or(u64::MAX).min(head.saturating_add(1));
    let mut found: Vec<CallRecord> = Vec::new();
    visit_newest(log, end.saturating_sub(MAX_LOOKED_AT), end, |call| {
        found.extend(Some(call).filter(&matches));
        found.len() <= limit
    })?;
    let more = found.len() > limit;
    found.truncate(limit);
    let next = found.last().map(CallRecord::first_record).filter(|_| more);
    Ok((found, next))
}

/// Goes through the calls whose first record is this one or a later one, the newest first, until `visit` says
/// that it has seen enough. Only a page of records is in memory, and ends of calls that began before it.
pub fn newest_first(
    log: &dyn Log,
    from: u64,
    visit: impl FnMut(CallRecord) -> bool,
) -> Result<(), AuditError> {
    visit_newest(log, from, log.head()?.seq.saturating_add(1), visit)
}

fn visit_newest(
    log: &dyn Log,
    from: u64,
    mut end: u64,
    mut visit: impl FnMut(CallRecord) -> bool,
) -> Result<(), AuditError> {
    let from = from.max(1);
    let mut ends: Vec<Record> = Vec::new();
    while end > from {
        let first = end.saturating_sub(PAGE as u64).max(from);
        let mut page = log.records(first, usize::try_from(end - first).unwrap_or_default())?;
        page.append(&mut ends);
        ends = page.iter().filter(|it| is_end_of_earlier(it, first)).cloned().collect();
        for call in CallRecord::gather(page).into_iter().rev() {
            if !visit(call) {
                return Ok(());
            }
        }
        end = first;
    }
    Ok(())
}

/// True for the end of a call whose start is before this record.
fn is_end_of_earlier(record: &Record, first: u64) -> bool {
    let start = || fields(record).get("start").and_then(Value::as_u64);
    record.body.contains("\"start\":") && start().is_some_and(|it| it < first)
}
