//! Past calls, as the pages show them.

use eclusa::audit::{
    Log,
    calls::{CallRecord, OutcomeKind, newest_calls},
};

/// How much of what a call is about is shown in a list, in characters.
const MAX_HEADLINE: usize = 140;

/// The outcome in words.
pub(super) fn outcome(call: &CallRecord) -> String {
    match call.outcome() {
        "unfinished" => "running".to_owned(),
        code => code.replace('_', " "),
    }
}

/// How it went, as a class of the style sheet.
pub(super) fn kind(call: &CallRecord) -> &'static str {
    match call.outcome_kind() {
        OutcomeKind::Good => "good",
        OutcomeKind::Open => "open",
        OutcomeKind::Failed => "warn",
        OutcomeKind::Refused => "bad",
    }
}

/// What the call is about, in one line.
pub(super) fn headline(call: &CallRecord) -> String {
    call.subject().chars().take(MAX_HEADLINE).collect()
}

/// Whether a text, in lower case, stands anywhere in its records.
pub(super) fn contains(call: &CallRecord, text: &str) -> bool {
    text.is_empty() || call.records().iter().any(|it| it.body.to_lowercase().contains(text))
}

/// The newest calls before this record that match, newest first, and where to go on. A log that
/// cannot be read shows none.
pub(super) fn newest(
    log: &dyn Log,
    before: Option<u64>,
    limit: usize,
    matches: impl Fn(&CallRecord) -> bool,
) -> (Vec<CallRecord>, Option<u64>) {
    newest_calls(log, before, limit, matches).unwrap_or_default()
}
