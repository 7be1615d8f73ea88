//! Past calls, each put together from its records. Whoever asks the log what became of a call reads
//! it here: the names of the fields stand in no other place.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::Record;
use crate::{Decision, Mode, PermissionClass, digest, one_line};

mod find;
mod logged;

pub use find::{
    call_with, calls_from, first_record_at, last_calls, newest_calls, newest_first, records_from,
};
pub use logged::{LoggedApproval, LoggedChanges, LoggedReason};

use logged::{reasons, text};

/// The answer where rules let changes pass that nobody was asked about.
pub(crate) const UNASKED: &str = "unasked";

/// One call: everything that its records say of it.
#[derive(Debug, Clone)]
pub struct CallRecord {
    number: u64,
    /// True when its first record is a start: then it may have done something.
    started: bool,
    /// The fields of its first record, and over them those of its end.
    fields: Map<String, Value>,
    /// Never empty, and the first is the one that opened the call.
    records: Vec<Record>,
}

/// How a call went, as far as people tell calls apart by colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutcomeKind {
    /// It ran, and what it did stands.
    Good,
    /// It is not finished.
    Open,
    /// It was allowed, and failed.
    Failed,
    /// It was refused, or nobody waited for its end.
    Refused,
}

/// Arguments that say what a call is about, the first that is there.
const SUBJECTS: [&str; 12] = [
    "command",
    "path",
    "file_path",
    "url",
    "pattern",
    "query",
    "from",
    "calls",
    "undo",
    "tool",
    "name",
    "text",
];

/// What a call with these arguments is about, in one line: its command, path or host.
pub fn subject(args: &Value) -> String {
    let Some(args) = args.as_object() else { return String::new() };
    let named = SUBJECTS.iter().find_map(|it| args.get(*it));
    let text = match named.or_else(|| args.values().find(|it| it.is_string())) {
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
        None if args.is_empty() => String::new(),
        None => Value::Object(args.clone()).to_string(),
    };
    one_line(&text)
}

impl CallRecord {
    /// The calls that these records are about, oldest first. Records of something else are left
    /// out, and so are ends whose start is not among them.
    pub fn gather(records: impl IntoIterator<Item = Record>) -> Vec<CallRecord> {
        // By the number of their first record, which their ends name.
        let mut calls: BTreeMap<u64, CallRecord> = BTreeMap::new();
        for record in records {
            let mut fields = fields(&record);
            let event = fields.get("event").and_then(Value::as_str).unwrap_or_default();
            if !["started", "ended", "abandoned"].contains(&event) {
                continue;
            }
            let started = event == "started";
            match fields.get("start").and_then(Value::as_u64) {
                Some(start) => {
                    if let Some(call) = calls.get_mut(&start) {
                        call.end(fields);
                        call.records.push(record);
                    }
                }
                None => {
                    let number = fields.remove("number").and_then(|it| it.as_u64());
                    let number = number.unwrap_or(record.seq);
                    fields.insert("record".to_owned(), record.hash.to_string().into());
                    let (seq, records) = (record.seq, vec![record]);
                    calls.insert(seq, CallRecord { number, started, fields, records });
                }
            }
        }
        calls.into_values().collect()
    }

    /// Takes in what the end says; times and reviews of both are kept.
    fn end(&mut self, mut end: Map<String, Value>) {
        if let Some(at) = end.remove("at") {
            end.insert("ended_at".to_owned(), at);
        }
        if let (Some(Value::Array(before)), Some(Value::Array(after))) =
            (self.fields.get_mut("reviews"), end.get_mut("reviews"))
        {
            before.append(after);
            end.remove("reviews");
        }
        self.fields.extend(end);
    }

    /// The number of the call.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Its records, the first one first.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// The number of its first record.
    pub fn first_record(&self) -> u64 {
        self.records.first().map_or(0, |it| it.seq)
    }

    /// True when it was started, and may have done something. A call that was refused was not.
    pub fn was_started(&self) -> bool {
        self.started
    }

    /// True when it was started, and its tool is labelled destructive.
    pub fn was_destructive(&self) -> bool {
        self.started && self.fields.get("destructive") == Some(&Value::Bool(true))
    }

    /// A field of its records, to be shown as it is; those that mean something have a method.
    pub fn field(&self, name: &str) -> Option<&Value> {
        self.fields.get(name)
    }

    fn text(&self, name: &str) -> &str {
        text(self.fields.get(name))
    }

    fn count(&self, name: &str) -> Option<u64> {
        self.fields.get(name).and_then(Value::as_u64)
    }

    /// When it was made, in milliseconds since 1970.
    pub fn at(&self) -> u64 {
        self.count("at").unwrap_or_default()
    }

    /// How long it took, in milliseconds.
    pub fn took(&self) -> Option<u64> {
        self.count("ms")
    }

    /// The name of its tool.
    pub fn tool(&self) -> &str {
        self.text("tool")
    }

    /// The tool's class.
    pub fn class(&self) -> Option<PermissionClass> {
        self.text("class").parse().ok()
    }

    /// The session that it belongs to.
    pub fn session(&self) -> &str {
        self.text("conversation")
    }

    /// The turn of the session, where somebody counts them.
    pub fn turn(&self) -> Option<u64> {
        self.count("turn")
    }

    /// The number of the call whose tool made it.
    pub fn parent(&self) -> Option<u64> {
        self.count("parent")
    }

    /// The program that asked for it.
    pub fn client(&self) -> &str {
        self.text("client")
    }

    /// Whom it was made for.
    pub fn principal(&self) -> &str {
        self.text("principal")
    }

    /// True when another tool made it.
    pub fn is_of_a_tool(&self) -> bool {
        self.text("origin") == "tool"
    }

    /// The mode that it was decided in.
    pub fn mode(&self) -> Option<Mode> {
        self.text("mode").parse().ok()
    }

    /// What the rules said of it; nothing for a call that never got so far.
    pub fn decision(&self) -> Option<Decision> {
        Decision::ALL.into_iter().find(|it| it.as_str() == self.text("decision"))
    }

    /// The outcome's code; a call that has none is running, or its process died.
    pub fn outcome(&self) -> &str {
        match self.text("event") {
            "started" => "unfinished",
            "abandoned" => "abandoned",
            _ => self.text("code"),
        }
    }

    /// How it went.
    pub fn outcome_kind(&self) -> OutcomeKind {
        match self.outcome() {
            "ok" => OutcomeKind::Good,
            "" | "unfinished" | "parked" => OutcomeKind::Open,
            "tool_failed" | "timed_out" | "tool_panicked" | "conflict" | "commit_failed" => {
                OutcomeKind::Failed
            }
            _ => OutcomeKind::Refused,
        }
    }

    /// What it told about its outcome.
    pub fn message(&self) -> &str {
        self.text("message")
    }

    /// What had brought text from outside into the session, if the call ran; `None` where it
    /// did not.
    pub fn taint(&self) -> Option<&str> {
        let ran = ["running", "ran", "settled", "released"].contains(&self.text("stage"));
        ran.then(|| self.text("taint"))
    }

    /// The arguments as the log has them.
    pub fn args(&self) -> Option<&Value> {
        self.fields.get("args")
    }

    /// The arguments as they were judged. The error says why the log does not have them.
    pub fn whole_args(&self) -> Result<&Value, &'static str> {
        let args = self.args().ok_or("have no arguments in the log, only their digest")?;
        if self.count("args_redacted").unwrap_or_default() > 0 {
            return Err("had secrets in their arguments, which the log does not hold");
        }
        // What was shortened has another digest, whatever it looks like.
        if digest(args).to_string() == self.text("args_sha256") {
            Ok(args)
        } else {
            Err("had long arguments, which the log holds shortened")
        }
    }

    /// What the call is about, in one line: its command, path or host.
    pub fn subject(&self) -> String {
        self.args().map(subject).unwrap_or_default()
    }

    /// What led to the decision about the call.
    pub fn because(&self) -> Vec<LoggedReason<'_>> {
        reasons(self.fields.get("because"))
    }

    /// How a question about the call itself was answered.
    pub fn approval_of_call(&self) -> Option<LoggedApproval<'_>> {
        self.fields.get("approval").map(LoggedApproval)
    }

    /// How a question about it was answered: about the call, or about its changes.
    pub fn approval(&self) -> Option<LoggedApproval<'_>> {
        self.approval_of_call().or_else(|| self.changes()?.approval())
    }

    /// True when nobody was asked because rules let its changes pass: what a job wrote by itself.
    pub fn is_unasked(&self) -> bool {
        self.approval().is_some_and(|it| it.answer() == UNASKED)
    }

    /// True when a person was to answer about it. An answer that was remembered, an allowance and
    /// rules that let changes pass are there so that nobody is asked.
    pub fn was_asked(&self) -> bool {
        let nobody = ["remembered", "allowance", UNASKED];
        self.approval().is_some_and(|it| !nobody.contains(&it.answer()))
    }

    /// What it would change in the workspace, and what became of that.
    pub fn changes(&self) -> Option<LoggedChanges<'_>> {
        self.fields.get("changes").map(LoggedChanges)
    }

    /// The digest of its whole output.
    pub fn output_sha256(&self) -> Option<&str> {
        self.fields.get("output")?.get("sha256")?.as_str()
    }

    /// Where its whole output is kept, if it was cut.
    pub fn output_spool(&self) -> Option<&str> {
        self.fields.get("output")?.get("spool")?.as_str()
    }

    /// The whole call, for programs.
    pub fn as_json(&self) -> Value {
        let mut value = json!({"number": self.number, "outcome": self.outcome()});
        if let Some(fields) = value.as_object_mut() {
            fields.extend(self.fields.clone());
        }
        value
    }
}

/// The fields of a record; none where it cannot be read.
fn fields(record: &Record) -> Map<String, Value> {
    serde_json::from_str(&record.body).unwrap_or_default()
}

#[cfg(test)]
pub(in crate::audit) mod tests;
