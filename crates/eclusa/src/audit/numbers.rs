//! Numbers of calls: 1, 2, 3, whatever else is on record between them.

use std::cmp::Ordering;

use serde::Deserialize;

use super::{AuditError, Log, Record};

/// How many records are read at a time.
const PAGE: usize = 32;

/// The number of the call that a record opens: `None` for the end of a call that started, and for
/// records of something else. Logs of earlier versions did not number calls: there it is the
/// number of the record, and numbers go on from the last of them.
pub fn call_number(record: &Record) -> Option<u64> {
    #[derive(Deserialize)]
    struct Opening<'a> {
        #[serde(borrow)]
        event: std::borrow::Cow<'a, str>,
        start: Option<u64>,
        number: Option<u64>,
    }
    let opening: Opening<'_> = serde_json::from_str(&record.body).ok()?;
    let of_call = matches!(&*opening.event, "started" | "ended" | "abandoned");
    (of_call && opening.start.is_none()).then(|| opening.number.unwrap_or(record.seq))
}

/// Finds the first record of a call, or of the next. Numbers rise with the records and are never higher than
/// theirs, so halving finds it without an index, which every call would pay for.
pub(super) fn first_from(
    log: &(impl Log + ?Sized),
    number: u64,
) -> Result<Option<Record>, AuditError> {
    let (mut low, mut high) = (number.max(1), log.head()?.seq);
    let mut next = None;
    while low <= high {
        let middle = low + (high - low) / 2;
        let Some((record, found)) = next_opening(log, middle, high)? else {
            high = middle - 1;
            continue;
        };
        match found.cmp(&number) {
            Ordering::Equal => return Ok(Some(record)),
            Ordering::Less => low = record.seq + 1,
            Ordering::Greater => {
                next = Some(record);
                high = middle - 1;
            }
        }
    }
    Ok(next)
}

/// The first record from here on, up to the last, that opens a call.
fn next_opening(
    log: &(impl Log + ?Sized),
    mut from: u64,
    last: u64,
) -> Result<Option<(Record, u64)>, AuditError> {
    while from <= last {
        let page = log.records(from, PAGE)?;
        let Some(end) = page.last() else { return Ok(None) };
        from = end.seq + 1;
        let opening = |it: Record| call_number(&it).map(|number| (it, number));
        if let Some(found) = page.into_iter().filter(|it| it.seq <= last).find_map(opening) {
            return Ok(Some(found));
        }
    }
    Ok(None)
}
