//! A past call as the log has it, as far as taking it back asks.

use eclusa::{
    Record, Registry,
    audit::{Log, call_number},
};
use eclusa_store::Store;
use serde_json::Value;

use crate::{
    failure::Failure,
    since::{self, Since},
};

/// How many records are read at a time.
const PAGE: usize = 1_000;

/// What the first record of a call says.
#[derive(Debug)]
pub(super) struct LogCall {
    pub(super) number: u64,
    /// The number of its first record.
    pub(super) record: u64,
    pub(super) at: u64,
    pub(super) tool: String,
    event: String,
    class: String,
    conversation: String,
    turn: Option<u64>,
    parent: Option<u64>,
    /// The number of the start that it belongs to, when it is not the first record itself.
    start: Option<u64>,
}

impl LogCall {
    fn read(record: &Record) -> LogCall {
        let body: Value = serde_json::from_str(&record.body).unwrap_or_default();
        let text = |key: &str| body.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let number = |key: &str| body.get(key).and_then(Value::as_u64);
        LogCall {
            number: call_number(record).unwrap_or(record.seq),
            record: record.seq,
            at: number("at").unwrap_or_default(),
            tool: text("tool"),
            event: text("event"),
            class: text("class"),
            conversation: text("conversation"),
            turn: number("turn"),
            parent: number("parent"),
            start: number("start"),
        }
    }

    /// The call with this number.
    pub(super) fn find(store: &Store, number: u64) -> Result<LogCall, Failure> {
        let record = store.first_of(number).map_err(Failure::failed)?;
        record.as_ref().map(LogCall::read).ok_or_else(|| {
            Failure::failed(format!(
                "call {number} is in what is kept for undo, but not in the log"
            ))
            .hint("`eclusa log verify` says whether the log is whole")
        })
    }

    /// All records of the call with this number; none if there is no such call.
    pub(super) fn records(store: &Store, number: u64) -> Result<Vec<Record>, Failure> {
        let first = store.first_of(number).map_err(Failure::failed)?;
        let Some(first) = first else { return Ok(Vec::new()) };
        let ends = store.ends_of(first.seq).map_err(Failure::failed)?;
        Ok(std::iter::once(first).chain(ends).collect())
    }

    /// The calls that were started, from this record on.
    pub(super) fn since(store: &Store, mut from: u64) -> Result<Vec<LogCall>, Failure> {
        let mut all = Vec::new();
        loop {
            let records = store.records(from, PAGE).map_err(Failure::failed)?;
            let Some(last) = records.last() else { return Ok(all) };
            from = last.seq + 1;
            all.extend(records.iter().map(LogCall::read).filter(|it| it.event == "started"));
        }
    }

    /// The number of the first record that is meant by "since then".
    pub(super) fn first_record(store: &Store, since: Since) -> Result<u64, Failure> {
        match since {
            Since::Call(number) => {
                let first = store.first_from(number).map_err(Failure::failed)?;
                Ok(first.map_or(u64::MAX, |it| it.seq))
            }
            Since::Time(time) => LogCall::first_since(store, time.0),
            Since::Ago(ago) => {
                let ago = u64::try_from(ago.as_millis()).unwrap_or(u64::MAX);
                LogCall::first_since(store, since::now().saturating_sub(ago))
            }
        }
    }

    /// The number of the first record at or after a moment.
    fn first_since(store: &Store, at: u64) -> Result<u64, Failure> {
        let mut window = PAGE;
        loop {
            let records = store.last(window).map_err(Failure::failed)?;
            let before = records.iter().rposition(|it| LogCall::read(it).at < at);
            match (before, records.len() < window) {
                (Some(before), _) => {
                    let next = records.get(before).map_or(0, |it| it.seq + 1);
                    return Ok(next);
                }
                (None, true) => return Ok(0),
                (None, false) => window = window.saturating_mul(4),
            }
        }
    }

    /// True when both belong to one turn of one conversation. Where nobody counts turns, a call
    /// and those that its tool made are one.
    pub(super) fn is_of_the_turn(&self, other: &LogCall) -> bool {
        let root = |it: &LogCall| it.parent.unwrap_or(it.number);
        match (self.turn, other.turn) {
            (Some(a), Some(b)) => a == b && self.conversation == other.conversation,
            _ => root(self) == root(other),
        }
    }

    /// True when it may have done something of which nothing is kept: it does more than look, and
    /// what it changes does not pass through the gate.
    pub(super) fn left_nothing(&self, registry: &Registry) -> bool {
        let known = registry.get(&self.tool);
        let harmless = known.is_some_and(|it| it.facts().stages || it.facts().read_only);
        let takes_back = ["undo", "redo"].contains(&self.tool.as_str());
        self.start.is_none() && self.class != "read-only" && !harmless && !takes_back
    }
}

#[cfg(test)]
mod tests;
