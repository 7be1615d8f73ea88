//! A past call as the log has it, as far as taking it back asks.

use eclusa::{Record, Registry};
use eclusa_store::Store;
use serde_json::Value;

use crate::failure::Failure;

/// How many records are read at a time.
const PAGE: usize = 1_000;

/// What the first record of a call says.
#[derive(Debug)]
pub(super) struct LogCall {
    pub(super) number: u64,
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
            number: record.seq,
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
        let records = store.records(number, 1).map_err(Failure::failed)?;
        let record = records.first().filter(|it| it.seq == number);
        record.map(LogCall::read).ok_or_else(|| {
            Failure::failed(format!(
                "call {number} is in what is kept for undo, but not in the log"
            ))
            .hint("`eclusa log verify` says whether the log is whole")
        })
    }

    /// The calls that were started, from this number on.
    pub(super) fn since(store: &Store, mut from: u64) -> Result<Vec<LogCall>, Failure> {
        let mut all = Vec::new();
        loop {
            let records = store.records(from, PAGE).map_err(Failure::failed)?;
            let Some(last) = records.last() else { return Ok(all) };
            from = last.seq + 1;
            all.extend(records.iter().map(LogCall::read).filter(|it| it.event == "started"));
        }
    }

    /// The number of the first call at or after a moment.
    pub(super) fn first_since(store: &Store, at: u64) -> Result<u64, Failure> {
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
mod tests {
    use super::*;
    use serde_json::json;

    fn past(number: u64, fields: Value) -> LogCall {
        let mut head = eclusa::Head { seq: number - 1, ..Default::default() };
        LogCall::read(&Record::chain(fields.to_string(), &mut head))
    }

    #[test]
    fn a_turn_is_what_was_counted_as_one_and_a_call_with_its_own_where_nobody_counts() {
        let of = |number, conversation: &str, turn: u64| {
            past(number, json!({"conversation": conversation, "turn": turn}))
        };
        assert!(of(5, "a", 2).is_of_the_turn(&of(1, "a", 2)));
        assert!(!of(5, "a", 2).is_of_the_turn(&of(1, "a", 1)));
        assert!(!of(5, "a", 2).is_of_the_turn(&of(1, "b", 2)));
        let (outer, inner) = (past(3, json!({})), past(4, json!({"parent": 3})));
        assert!(inner.is_of_the_turn(&outer) && outer.is_of_the_turn(&inner));
        assert!(!past(6, json!({})).is_of_the_turn(&outer));
        assert!(!past(6, json!({})).is_of_the_turn(&of(1, "a", 2)));
    }
}
