//! LoggedCall calls, as far as the log lets them be judged again.

use std::collections::BTreeMap;

use eclusa::{Gate, Mode, ToolCall, workspace::digest};
use eclusa_store::Store;
use serde_json::Value;

use crate::{
    commands::{call_record::CallRecord, log_call},
    failure::Failure,
    since::Since,
};

/// How many records are read at a time.
const PAGE: usize = 1_000;

/// A call of the log.
pub(super) struct LoggedCall {
    pub(super) number: u64,
    pub(super) tool: String,
    /// What was decided then.
    pub(super) decision: String,
    /// How a person answered, if one was asked: about the call, or about its changes.
    pub(super) answer: Option<String>,
    /// True when it ran to its end and what it changed was not discarded.
    pub(super) went_well: bool,
    mode: Option<Mode>,
    args: Value,
}

impl LoggedCall {
    /// The call, to be judged again.
    pub(super) fn call(&self) -> ToolCall {
        ToolCall::new(format!("replay-{}", self.number), self.tool.clone(), self.args.clone())
    }

    /// What a gate makes of it, in the mode of that time.
    pub(super) fn again(&self, gate: &Gate) -> &'static str {
        let gate = match self.mode {
            Some(mode) => gate.in_mode(mode),
            None => gate.clone(),
        };
        match gate.check(self.call()) {
            Ok((_, verdict)) => verdict.decision.as_str(),
            Err(_) => "deny",
        }
    }

    /// In a line, short.
    pub(super) fn line(&self) -> String {
        let args = self.args.to_string();
        let cut = args.char_indices().nth(100).map(|(at, _)| at);
        let args = match cut {
            Some(at) => format!("{}…", args.get(..at).unwrap_or_default()),
            None => args,
        };
        format!("call {}: {} {args}", self.number, self.tool)
    }
}

/// Calls that can be judged again, and how many cannot, by why.
#[derive(Default)]
pub(super) struct LoggedCalls {
    pub(super) all: Vec<LoggedCall>,
    pub(super) left: BTreeMap<&'static str, usize>,
}

/// All calls of the log since then.
pub(super) fn calls(store: &Store, since: Option<Since>) -> Result<LoggedCalls, Failure> {
    let mut next = match since {
        None => 1,
        Some(since) => log_call::LogCall::first_record(store, since)?,
    };
    let mut records = Vec::new();
    loop {
        let page = store.records(next, PAGE).map_err(Failure::failed)?;
        let Some(last) = page.last() else { break };
        next = last.seq + 1;
        records.extend(page);
    }
    let mut calls = LoggedCalls::default();
    for entry in CallRecord::gather(&records) {
        match read(&entry.as_json()) {
            Ok(call) => calls.all.push(call),
            Err(why) => *calls.left.entry(why).or_default() += 1,
        }
    }
    Ok(calls)
}

fn read(fields: &Value) -> Result<LoggedCall, &'static str> {
    let text = |value: &Value, key: &str| {
        value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let decision = text(fields, "decision");
    if decision.is_empty() {
        return Err("never came to a decision");
    }
    if fields.get("origin").and_then(Value::as_str) == Some("tool") {
        return Err("were made by another tool");
    }
    // A person typed it, and the tool is there for no model.
    if ["undo", "redo"].contains(&text(fields, "tool").as_str()) {
        return Err("took a change back or made it again");
    }
    let args = fields.get("args").ok_or("have no arguments in the log, only their digest")?;
    if fields.get("args_redacted").and_then(Value::as_u64).unwrap_or_default() > 0 {
        return Err("had secrets in their arguments, which the log does not hold");
    }
    // What was shortened has another digest, whatever it looks like.
    if digest(args).to_string() != text(fields, "args_sha256") {
        return Err("had long arguments, which the log holds shortened");
    }
    let changes = fields.get("changes");
    let answered = |value: Option<&Value>| {
        value.and_then(|it| it.get("approval")).map(|it| text(it, "answer"))
    };
    let kept = changes.is_none_or(|it| text(it, "outcome") != "discarded");
    Ok(LoggedCall {
        number: fields.get("number").and_then(Value::as_u64).unwrap_or_default(),
        tool: text(fields, "tool"),
        decision,
        answer: answered(Some(fields)).or_else(|| answered(changes)),
        went_well: text(fields, "code") == "ok" && kept,
        mode: text(fields, "mode").parse().ok(),
        args: args.clone(),
    })
}
