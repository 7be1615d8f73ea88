//! Past calls, as far as the log lets them be judged again.

use std::collections::BTreeMap;

use eclusa::{
    Decision, Gate, ToolCall,
    audit::{Log, calls::CallRecord},
};
use serde_json::Value;

use crate::{failure::Failure, log_call, since::Since};

/// A past call that can be judged again.
pub(super) struct LoggedCall {
    /// What the log has of it.
    pub(super) record: CallRecord,
    /// What was decided then.
    pub(super) decision: Decision,
    args: Value,
}

impl LoggedCall {
    /// The number of the call.
    pub(super) fn number(&self) -> u64 {
        self.record.number()
    }

    /// The call, to be judged again.
    pub(super) fn call(&self) -> ToolCall {
        let id = format!("replay-{}", self.number());
        ToolCall::new(id, self.record.tool().to_owned(), self.args.clone())
    }

    /// What a gate makes of it, in the mode of that time.
    pub(super) fn again(&self, gate: &Gate) -> Decision {
        let gate = match self.record.mode() {
            Some(mode) => gate.in_mode(mode),
            None => gate.clone(),
        };
        gate.check(self.call()).map_or(Decision::Deny, |(_, verdict)| verdict.decision)
    }

    /// True when a person said yes to it, it ran to its end, and what it changed was not discarded.
    pub(super) fn was_welcome(&self) -> bool {
        let kept = self.record.changes().is_none_or(|it| !it.is_discarded());
        let yes = self.record.approval().is_some_and(|it| it.is_yes());
        yes && kept && self.record.outcome() == "ok"
    }

    /// In a line, short.
    pub(super) fn line(&self) -> String {
        let args = self.args.to_string();
        let cut = args.char_indices().nth(100).map(|(at, _)| at);
        let args = match cut {
            Some(at) => format!("{}…", args.get(..at).unwrap_or_default()),
            None => args,
        };
        format!("call {}: {} {args}", self.number(), self.record.tool())
    }
}

/// Calls that can be judged again, and how many cannot, by why.
#[derive(Default)]
pub(super) struct LoggedCalls {
    pub(super) all: Vec<LoggedCall>,
    pub(super) left: BTreeMap<&'static str, usize>,
}

/// All calls of the log since then.
pub(super) fn calls(log: &dyn Log, since: Option<Since>) -> Result<LoggedCalls, Failure> {
    let mut calls = LoggedCalls::default();
    for record in log_call::since(log, since)? {
        match judged_again(record) {
            Ok(call) => calls.all.push(call),
            Err(why) => *calls.left.entry(why).or_default() += 1,
        }
    }
    Ok(calls)
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
