//! One call, put together from its records.

use std::{collections::BTreeMap, path::Path};

use eclusa::{Record, one_line};
use serde_json::{Map, Value, json};

use crate::{
    screen::{Screen, layout, sanitize},
    timestamp::Timestamp,
};

/// One call: everything that its records say of it.
pub(in crate::commands) struct CallRecord {
    number: u64,
    /// The fields of its first record, and over them those of its end.
    fields: Map<String, Value>,
}

impl CallRecord {
    /// The headings of [`row`](CallRecord::row).
    pub(in crate::commands) fn headings(screen: &Screen) -> Vec<String> {
        let names = ["call", "time", "tool", "about", "decision", "outcome"];
        let names = names.into_iter().map(str::to_owned);
        names.chain([screen.number_cell("ms")]).collect()
    }

    /// Arguments that say what a call is about, the first that is there.
    const SUBJECTS: [&'static str; 12] = [
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

    /// How much of that is shown in a list.
    const MAX_ABOUT: usize = 60;

    /// The calls that these records are about, oldest first. Records of something else are left
    /// out, and so are ends whose start is not among them.
    pub(in crate::commands) fn gather(records: &[Record]) -> Vec<CallRecord> {
        // By the number of their first record, which their ends name.
        let mut calls: BTreeMap<u64, CallRecord> = BTreeMap::new();
        for record in records {
            let mut fields = read(record);
            let event = fields.get("event").and_then(Value::as_str).unwrap_or_default();
            if !["started", "ended", "abandoned"].contains(&event) {
                continue;
            }
            match fields.get("start").and_then(Value::as_u64) {
                Some(start) => {
                    if let Some(call) = calls.get_mut(&start) {
                        call.end(fields);
                    }
                }
                None => {
                    let number = fields.remove("number").and_then(|it| it.as_u64());
                    fields.insert("record".to_owned(), record.hash.to_string().into());
                    let number = number.unwrap_or(record.seq);
                    calls.insert(record.seq, CallRecord { number, fields });
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

    /// The outcome's code; a call that has none is running, or its process died.
    pub(in crate::commands) fn outcome(&self) -> &str {
        match self.text("event") {
            "started" => "unfinished",
            "abandoned" => "abandoned",
            _ => self.text("code"),
        }
    }

    pub(in crate::commands) fn text(&self, name: &str) -> &str {
        self.fields.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    fn time(&self, name: &str) -> Option<String> {
        self.fields.get(name).and_then(Value::as_u64).map(|it| Timestamp(it).to_string())
    }

    /// What the call is about: its command, path or host.
    pub(in crate::commands) fn about(&self) -> String {
        let Some(args) = self.fields.get("args").and_then(Value::as_object) else {
            return String::new();
        };
        let named = Self::SUBJECTS.iter().find_map(|it| args.get(*it));
        let text = match named.or_else(|| args.values().find(|it| it.is_string())) {
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
            None if args.is_empty() => String::new(),
            None => Value::Object(args.clone()).to_string(),
        };
        layout::cut(&one_line(&text), Self::MAX_ABOUT)
    }

    /// The number of the call.
    pub(in crate::commands) fn number(&self) -> u64 {
        self.number
    }

    /// A field of the record.
    pub(in crate::commands) fn field(&self, name: &str) -> Option<&Value> {
        self.fields.get(name)
    }

    /// When it was made.
    pub(in crate::commands) fn at(&self) -> Timestamp {
        Timestamp(self.fields.get("at").and_then(Value::as_u64).unwrap_or_default())
    }

    /// One line of a list.
    pub(in crate::commands) fn row(&self, screen: &Screen) -> Vec<String> {
        vec![
            self.number.to_string(),
            screen.time_cell(self.at()),
            sanitize(self.text("tool")),
            self.about(),
            self.text("decision").to_owned(),
            self.outcome().to_owned(),
            screen.number_cell(&self.fields.get("ms").map(Value::to_string).unwrap_or_default()),
        ]
    }

    /// What the call was and how it ended.
    pub(in crate::commands) fn title(&self) -> String {
        format!("call {}: {}, {}", self.number, sanitize(self.text("tool")), self.outcome())
    }

    /// Everything else, in the order in which it came about.
    pub(in crate::commands) fn details(&self) -> Vec<Vec<String>> {
        const ORDER: [&str; 27] = [
            "call",
            "principal",
            "client",
            "conversation",
            "turn",
            "origin",
            "parent",
            "class",
            "server",
            "tool_revision",
            "operation",
            "destructive",
            "mode",
            "reason",
            "args",
            "args_sha256",
            "args_redacted",
            "decision",
            "because",
            "reviews",
            "reverse_thinking",
            "approval",
            "checkpoint",
            "message",
            "output",
            "taint",
            "warnings",
        ];
        let mut rows: Vec<Vec<String>> = Vec::new();
        let mut row = |name: &str, text: String| {
            let name = name.strip_prefix("tool_").unwrap_or(name).replace('_', " ");
            rows.push(vec![format!("  {name}"), sanitize(&text)]);
        };
        row("time", self.time("at").unwrap_or_default());
        if let Some(ms) = self.fields.get("ms") {
            row("took", format!("{ms} ms"));
        }
        for name in ORDER {
            let Some(value) = self.fields.get(name) else { continue };
            match value {
                Value::Array(items) => items.iter().for_each(|it| row(name, line(it))),
                value => row(name, line(value)),
            }
        }
        for line in self.changes() {
            row("changes", line);
        }
        row("record", self.text("record").to_owned());
        rows
    }

    /// What it would change in the workspace, what led to the decision about that, and what became
    /// of it.
    fn changes(&self) -> Vec<String> {
        let Some(changes) = self.fields.get("changes") else { return Vec::new() };
        let items = |name: &str| changes.get(name).and_then(Value::as_array).into_iter().flatten();
        let mut lines: Vec<String> = items("because").map(line).collect();
        if let Some(approval) = changes.get("approval") {
            lines.push(asked(approval));
        }
        let text = |it: &Value, name: &str| Some(it.get(name)?.as_str()?.to_owned());
        let mut named: Vec<String> = items("folded").filter_map(|it| text(it, "text")).collect();
        let folded: Vec<String> = items("folded").filter_map(|it| text(it, "path")).collect();
        let of_git = named.len() > folded.len();
        let count = changes.get("count").and_then(Value::as_u64).unwrap_or_default();
        let listed: Vec<&str> = items("paths").filter_map(Value::as_str).collect();
        let more = count.saturating_sub(listed.len() as u64);
        // What a line stands for is not named path by path.
        let is_folded = |path: &str| {
            folded.iter().any(|it| Path::new(path).starts_with(it))
                || of_git && path.split('/').any(|it| it == ".git")
        };
        named.extend(listed.into_iter().filter(|it| !is_folded(it)).map(str::to_owned));
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        let outcome = match changes.get("outcome").and_then(Value::as_str).unwrap_or_default() {
            "committed" => "applied",
            "committing" => "being applied",
            other => other,
        };
        lines.push(format!("{outcome}: {}{more}", named.join(", ")));
        let declined: Vec<&str> = items("declined").filter_map(Value::as_str).collect();
        if !declined.is_empty() {
            lines.push(format!("discarded by a person: {}", declined.join(", ")));
        }
        lines
    }

    /// What led to the outcome, in a few lines.
    pub(in crate::commands) fn story(&self) -> Vec<String> {
        let items = |name| self.fields.get(name).and_then(Value::as_array).into_iter().flatten();
        let said = |it: &&Value| it.get("said").is_some_and(|said| said != "approve");
        let mut lines: Vec<String> = items("reviews").filter(said).map(line).collect();
        if let (false, Some(args)) = (lines.is_empty(), self.fields.get("args")) {
            lines.push(format!("arguments now: {args}"));
        }
        lines.extend(items("because").map(line));
        if let Some(approval) = self.fields.get("approval") {
            lines.push(asked(approval));
        }
        // A rule that was heard twice is told once.
        let changes = self.changes();
        let news: Vec<String> = changes.into_iter().filter(|it| !lines.contains(it)).collect();
        lines.extend(news);
        lines.iter().map(|it| sanitize(it)).collect()
    }

    /// The whole call, for programs.
    pub(in crate::commands) fn as_json(&self) -> Value {
        let mut value = json!({"number": self.number, "outcome": self.outcome()});
        if let Some(fields) = value.as_object_mut() {
            fields.extend(self.fields.clone());
        }
        value
    }
}

/// How a question was answered, and by whom.
fn asked(approval: &Value) -> String {
    let text = |name| approval.get(name).and_then(Value::as_str).unwrap_or_default();
    format!("asked: {} ({})", text("answer"), text("by"))
}

/// A value in one line: words for what has a sentence in it, JSON otherwise.
fn line(value: &Value) -> String {
    let text = |name: &str| value.get(name).and_then(Value::as_str);
    match (text("decision"), text("text"), text("origin"), text("by"), text("said")) {
        (Some(decision), Some(why), Some(origin), _, _) => format!("{decision}: {why} ({origin})"),
        (_, _, _, Some(by), Some(said)) => {
            let why = text("why").map(|it| format!(": {it}")).unwrap_or_default();
            format!("{by} ({}): {said}{why}", text("on").unwrap_or_default())
        }
        _ => match value {
            Value::String(text) => text.clone(),
            value => value.to_string(),
        },
    }
}

fn read(record: &Record) -> Map<String, Value> {
    serde_json::from_str(&record.body).unwrap_or_default()
}
