//! What the index of calls keeps of a record. It can be made again from the records, so that nothing in it counts, and
//! whatever a machine writes it is kept or left out, never refused.

use eclusa::Record;
use serde::Deserialize;

use super::machines::text;

/// The last moment that is written as it is: 2100-01-01.
const MAX_AT: u64 = 4_102_444_800_000;

/// The first record of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CallRow {
    pub(crate) seq: i64,
    pub(crate) at: i64,
    pub(crate) number: Option<i64>,
    pub(crate) tool: String,
    pub(crate) class: Option<String>,
    pub(crate) decision: Option<String>,
    pub(crate) code: Option<String>,
    pub(crate) rule: Option<String>,
    pub(crate) principal: Option<String>,
    pub(crate) person: Option<String>,
    pub(crate) ms: Option<i32>,
}

/// The end of a call whose start came before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LateEnd {
    pub(crate) start: i64,
    pub(crate) code: Option<String>,
    pub(crate) ms: Option<i32>,
}

#[derive(Deserialize)]
struct RecordFields {
    at: u64,
    tool: String,
    #[serde(default)]
    start: Option<u64>,
    #[serde(default)]
    number: Option<u64>,
    #[serde(default)]
    class: Option<String>,
    #[serde(default)]
    decision: Option<String>,
    #[serde(default)]
    code: Option<String>,
    #[serde(default)]
    principal: Option<String>,
    #[serde(default)]
    ms: Option<u64>,
    #[serde(default)]
    because: Vec<BecauseFields>,
    #[serde(default)]
    approval: Option<ApprovalFields>,
}

#[derive(Deserialize)]
struct BecauseFields {
    #[serde(default)]
    decision: Option<String>,
    #[serde(default)]
    origin: Option<String>,
}

#[derive(Deserialize)]
struct ApprovalFields {
    #[serde(default)]
    by: Option<String>,
}

/// Calls that begin in these records, with their ends where those are here too, and ends of calls that began before.
pub(crate) fn of_records(records: &[Record]) -> (Vec<CallRow>, Vec<LateEnd>) {
    let (mut calls, mut late): (Vec<CallRow>, Vec<LateEnd>) = (Vec::new(), Vec::new());
    for record in records {
        let Ok(it) = serde_json::from_str::<RecordFields>(&record.body) else { continue };
        let ms = it.ms.map(|it| i32::try_from(it).unwrap_or(i32::MAX));
        let code = it.code.as_deref().map(text);
        if let Some(start) = it.start.and_then(|it| i64::try_from(it).ok()) {
            match calls.iter_mut().rev().find(|it| it.seq == start) {
                Some(call) => (call.code, call.ms) = (code, ms),
                None => late.push(LateEnd { start, code, ms }),
            }
            continue;
        }
        let (Some(number), Ok(seq)) = (it.number, i64::try_from(record.seq)) else { continue };
        let decided = |because: &&BecauseFields| because.decision == it.decision;
        let rule = it.because.iter().find(decided).and_then(|it| it.origin.as_deref());
        calls.push(CallRow {
            seq,
            at: i64::try_from(it.at.min(MAX_AT)).unwrap_or_default(),
            number: i64::try_from(number).ok(),
            tool: text(&it.tool),
            class: it.class.as_deref().map(text),
            rule: rule.map(text),
            decision: it.decision.as_deref().map(text),
            code,
            principal: it.principal.as_deref().map(text),
            person: it.approval.and_then(|it| it.by).as_deref().map(text),
            ms,
        });
    }
    (calls, late)
}
