//! A past call for people: in a line of a list, in full, and as a story.

use std::path::Path;

use eclusa::audit::calls::{CallRecord, LoggedApproval};
use serde_json::Value;

use crate::{
    screen::{Screen, layout, sanitize},
    timestamp::Timestamp,
};

/// How much of what a call is about is shown in a list.
const MAX_ABOUT: usize = 60;

/// The headings of [`row`].
pub(in crate::commands) fn headings(screen: &Screen) -> Vec<String> {
    let names = ["call", "time", "tool", "about", "decision", "outcome"];
    let names = names.into_iter().map(str::to_owned);
    names.chain([screen.number_cell("ms")]).collect()
}

/// What the call is about, short enough for a list.
pub(in crate::commands) fn about(call: &CallRecord) -> String {
    short(&call.subject())
}

/// A subject, short enough for a list.
pub(in crate::commands) fn short(subject: &str) -> String {
    layout::cut(subject, MAX_ABOUT)
}

/// One line of a list.
pub(in crate::commands) fn row(call: &CallRecord, screen: &Screen) -> Vec<String> {
    let took = call.took().map(|it| it.to_string()).unwrap_or_default();
    vec![
        call.number().to_string(),
        screen.time_cell(Timestamp(call.at())),
        sanitize(call.tool()),
        about(call),
        call.decision().map(|it| it.to_string()).unwrap_or_default(),
        call.outcome().to_owned(),
        screen.number_cell(&took),
    ]
}

/// What the call was and how it ended.
pub(in crate::commands) fn title(call: &CallRecord) -> String {
    format!("call {}: {}, {}", call.number(), sanitize(call.tool()), call.outcome())
}

/// Everything else, in the order in which it came about.
pub(in crate::commands) fn details(call: &CallRecord) -> Vec<Vec<String>> {
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
    row("time", Timestamp(call.at()).to_string());
    if let Some(ms) = call.took() {
        row("took", format!("{ms} ms"));
    }
    for name in ORDER {
        match call.field(name) {
            None => {}
            Some(Value::Array(items)) => items.iter().for_each(|it| row(name, line(it))),
            Some(value) => row(name, line(value)),
        }
    }
    for line in changes(call) {
        row("changes", line);
    }
    row("record", call.field("record").map(line).unwrap_or_default());
    rows
}

/// What it would change in the workspace, what led to the decision about that, and what became of
/// it.
fn changes(call: &CallRecord) -> Vec<String> {
    let Some(changes) = call.changes() else { return Vec::new() };
    let mut lines: Vec<String> = changes
        .because()
        .into_iter()
        .map(|it| format!("{}: {} ({})", it.decision(), it.text(), it.origin()))
        .collect();
    lines.extend(changes.approval().map(asked));
    let folded = changes.folded();
    let of_git = folded.iter().any(|(_, path)| path.is_none());
    let listed = changes.paths();
    let more = changes.count().saturating_sub(listed.len() as u64);
    // What a line stands for is not named path by path.
    let is_folded = |path: &str| {
        folded.iter().filter_map(|it| it.1).any(|it| Path::new(path).starts_with(it))
            || of_git && path.split('/').any(|it| it == ".git")
    };
    let mut named: Vec<&str> = folded.iter().map(|it| it.0).collect();
    named.extend(listed.into_iter().filter(|it| !is_folded(it)));
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    let outcome = match changes.outcome() {
        "committed" => "applied",
        "committing" => "being applied",
        other => other,
    };
    lines.push(format!("{outcome}: {}{more}", named.join(", ")));
    let declined = changes.declined();
    if !declined.is_empty() {
        lines.push(format!("discarded by a person: {}", declined.join(", ")));
    }
    lines
}

/// What led to the outcome, in a few lines.
pub(in crate::commands) fn story(call: &CallRecord) -> Vec<String> {
    let reviews = call.field("reviews").and_then(Value::as_array).into_iter().flatten();
    let said = |it: &&Value| it.get("said").is_some_and(|said| said != "approve");
    let mut lines: Vec<String> = reviews.filter(said).map(line).collect();
    if let (false, Some(args)) = (lines.is_empty(), call.args()) {
        lines.push(format!("arguments now: {args}"));
    }
    let because = call.because().into_iter();
    lines.extend(because.map(|it| format!("{}: {} ({})", it.decision(), it.text(), it.origin())));
    lines.extend(call.approval_of_call().map(asked));
    // A rule that was heard twice is told once.
    let changes = changes(call);
    let news: Vec<String> = changes.into_iter().filter(|it| !lines.contains(it)).collect();
    lines.extend(news);
    lines.iter().map(|it| sanitize(it)).collect()
}

/// How a question was answered, and by whom.
fn asked(approval: LoggedApproval<'_>) -> String {
    format!("asked: {} ({})", approval.answer(), approval.by())
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
