//! Calls, put together from their records.

use std::collections::BTreeMap;

use eclusa::{Record, audit::Log, one_line};
use serde_json::{Map, Value};

/// One call: everything that its records say of it.
#[derive(Debug, Clone)]
pub(super) struct RecordedCall {
    pub(super) number: u64,
    /// The number of its first record.
    first: u64,
    /// The fields of its first record, and over them those of its end.
    pub(super) fields: Map<String, Value>,
    /// Its records, as they are.
    pub(super) records: Vec<(u64, String, String)>,
}

impl RecordedCall {
    pub(super) fn text(&self, key: &str) -> &str {
        self.fields.get(key).and_then(Value::as_str).unwrap_or_default()
    }

    pub(super) fn number_of(&self, key: &str) -> Option<u64> {
        self.fields.get(key).and_then(Value::as_u64)
    }

    pub(super) fn at(&self) -> u64 {
        self.number_of("at").unwrap_or_default()
    }

    /// The outcome; empty for a call that is still on its way.
    pub(super) fn code(&self) -> &str {
        match (self.text("code"), self.text("event")) {
            ("", "abandoned") => "abandoned",
            (code, _) => code,
        }
    }

    /// The outcome in words.
    pub(super) fn outcome(&self) -> String {
        match self.code() {
            "" => "running".to_owned(),
            code => code.replace('_', " "),
        }
    }

    /// Whether a person was asked, and what became of that.
    pub(super) fn approval(&self) -> Option<&Value> {
        let changes = self.fields.get("changes").and_then(|it| it.get("approval"));
        self.fields.get("approval").or(changes)
    }

    /// What the call is about, in one line.
    pub(super) fn headline(&self) -> String {
        let Some(args) = self.fields.get("args") else { return String::new() };
        let first = ["command", "path", "url", "pattern", "text"];
        let said = first.iter().find_map(|it| args.get(it)).and_then(Value::as_str);
        let said = said.map_or_else(|| args.to_string(), str::to_owned);
        one_line(&said).chars().take(140).collect()
    }

    /// How it went, for colours.
    pub(super) fn kind(&self) -> &'static str {
        match self.code() {
            "ok" => "good",
            "" | "parked" => "open",
            "tool_failed" | "timed_out" | "tool_panicked" | "conflict" | "commit_failed" => "warn",
            _ => "bad",
        }
    }

    pub(super) fn is_denied(&self) -> bool {
        self.kind() == "bad"
    }

    pub(super) fn contains(&self, text: &str) -> bool {
        text.is_empty() || self.records.iter().any(|it| it.2.to_lowercase().contains(text))
    }
}

/// The calls that these records are about, oldest first, and the answers among them.
pub(super) fn gather(records: &[Record]) -> (Vec<RecordedCall>, Vec<Map<String, Value>>) {
    let mut calls: BTreeMap<u64, RecordedCall> = BTreeMap::new();
    let mut answers = Vec::new();
    for record in records {
        let Ok(Value::Object(body)) = serde_json::from_str(&record.body) else { continue };
        let event = body.get("event").and_then(Value::as_str).unwrap_or_default();
        match event {
            "started" | "ended" | "abandoned" => {}
            "answered" => {
                answers.push(body);
                continue;
            }
            _ => continue,
        }
        let read = |name: &str| body.get(name).and_then(Value::as_u64);
        let first = read("start").unwrap_or(record.seq);
        let call = calls.entry(first).or_insert_with(|| RecordedCall {
            number: read("number").unwrap_or(first),
            first,
            fields: Map::new(),
            records: Vec::new(),
        });
        let hash = record.hash.to_string();
        call.records.push((record.seq, hash, record.body.clone()));
        let began = call.fields.get("at").cloned();
        call.fields.extend(body);
        if let Some(began) = began {
            call.fields.insert("at".to_owned(), began);
        }
    }
    (calls.into_values().collect(), answers)
}

/// So many records are looked through for calls that match.
const MAX_LOOKED_AT: u64 = 20_000;

/// So many records are read at a time.
const CHUNK: u64 = 1_000;

/// The newest calls before this record that match, newest first; and where to go on, if there may
/// be more.
pub(super) fn newest(
    log: &dyn Log,
    before: Option<u64>,
    limit: usize,
    matches: impl Fn(&RecordedCall) -> bool,
) -> (Vec<RecordedCall>, Option<u64>) {
    let head = log.head().map(|it| it.seq).unwrap_or_default();
    let mut end = before.unwrap_or(u64::MAX).min(head.saturating_add(1));
    let stop = end.saturating_sub(MAX_LOOKED_AT);
    let mut found: Vec<RecordedCall> = Vec::new();
    let mut records: Vec<Record> = Vec::new();
    while end > 1 && end > stop {
        let from = end.saturating_sub(CHUNK).max(1);
        let count = usize::try_from(end - from).unwrap_or_default();
        let mut chunk = log.records(from, count).unwrap_or_default();
        chunk.append(&mut records);
        records = chunk;
        let (mut calls, _) = gather(&records);
        // The start of a call may lie before what was read.
        calls.retain(|it| it.records.first().is_some_and(|first| first.0 == it.first));
        calls.retain(&matches);
        calls.reverse();
        found = calls;
        end = from;
        if found.len() > limit {
            break;
        }
    }
    let more = found.len() > limit;
    found.truncate(limit);
    let next = found.last().map(|it| it.first).filter(|_| more);
    (found, next)
}
