//! Past calls, as far as the log lets them be judged again.

use std::collections::BTreeMap;

use eclusa::{
    Decision, Gate, ToolCall,
    audit::{Log, calls::CallRecord},
};
use serde_json::Value;

use crate::{failure::Failure, log_call, since::Since};

/// A past call that can be judged again.
pub(in crate::commands) struct LoggedCall {
    /// What the log has of it.
    pub(in crate::commands) record: CallRecord,
    /// What was decided then.
    pub(in crate::commands) decision: Decision,
    args: Value,
}

impl LoggedCall {
    /// The number of the call.
    pub(in crate::commands) fn number(&self) -> u64 {
        self.record.number()
    }

    /// The call, to be judged again.
    pub(super) fn call(&self) -> ToolCall {
        let id = format!("replay-{}", self.number());
        ToolCall::new(id, self.record.tool().to_owned(), self.args.clone())
    }

    /// What a gate makes of it, in the mode of that time.
    pub(in crate::commands) fn again(&self, gate: &Gate) -> Decision {
        let gate = match self.record.mode() {
            Some(mode) => gate.in_mode(mode),
            None => gate.clone(),
        };
        gate.check(self.call()).map_or(Decision::Deny, |(_, verdict)| verdict.decision)
    }

    /// The same call in another workspace: what names a place in the one is in the other then.
    #[cfg(feature = "fleet-server")]
    pub(in crate::commands) fn move_to(&mut self, from: &str, to: &str) {
        if from.starts_with('/') {
            moved(&mut self.args, from, to);
        }
    }

    /// True when an agent made it that is only watched, and it would not have been denied: nobody was asked.
    pub(super) fn was_watched(&self) -> bool {
        self.record.outcome() == "watched"
    }

    /// True when a person said yes to it, it ran to its end, and what it changed was not discarded.
    pub(super) fn was_welcome(&self) -> bool {
        let kept = self.record.changes().is_none_or(|it| !it.is_discarded());
        let yes = self.record.approval().is_some_and(|it| it.is_yes());
        yes && kept && self.record.outcome() == "ok"
    }

    /// In a line, short.
    pub(in crate::commands) fn line(&self) -> String {
        let args = self.args.to_string();
        let cut = args.char_indices().nth(100).map(|(at, _)| at);
        let args = match cut {
            Some(at) => format!("{}…", args.get(..at).unwrap_or_default()),
            None => args,
        };
        format!("call {}: {} {args}", self.number(), self.record.tool())
    }
}

/// Replaces a directory in all texts of a value by another one.
#[cfg(feature = "fleet-server")]
fn moved(value: &mut Value, from: &str, to: &str) {
    match value {
        Value::String(text) => *text = text.replace(from, to),
        Value::Array(items) => items.iter_mut().for_each(|it| moved(it, from, to)),
        Value::Object(fields) => fields.values_mut().for_each(|it| moved(it, from, to)),
        _ => {}
    }
}

/// Calls that can be judged again, and how many cannot, by why.
#[derive(Default)]
pub(in crate::commands) struct LoggedCalls {
    pub(in crate::commands) all: Vec<LoggedCall>,
    pub(in crate::commands) left: BTreeMap<&'static str, usize>,
}

/// All calls of the log since then.
pub(super) fn calls(log: &dyn Log, since: Option<Since>) -> Result<LoggedCalls, Failure> {
    Ok(those_of(log_call::since(log, since)?))
}

/// Those of past calls that can be judged again.
pub(in crate::commands) fn those_of(records: Vec<CallRecord>) -> LoggedCalls {
    let mut calls = LoggedCalls::default();
    for record in records {
        match judged_again(record) {
            Ok(call) => calls.all.push(call),
            Err(why) => *calls.left.entry(why).or_default() += 1,
        }
    }
    calls
}

/// The call, if it can be judged again; the error says why it cannot.
fn judged_again(record: CallRecord) -> Result<LoggedCall, &'static str> {
    let decision = record.decision().ok_or("never came to a decision")?;
    if record.is_of_a_tool() {
        return Err("were made by another tool");
    }
    // A person typed it, and the tool is there for no model.
    if ["undo", "redo"].contains(&record.tool()) {
        return Err("took a change back or made it again");
    }
    let args = record.whole_args()?.clone();
    Ok(LoggedCall { record, decision, args })
}
