//! `eclusa changes --discarded`: calls that ran and whose changes nobody wanted.

use eclusa::{
    Workspace,
    audit::{
        Log,
        calls::{CallRecord, LoggedChanges},
    },
    one_line,
};
use serde_json::{Value, json};

use crate::{
    commands::call_record::about,
    failure::Failure,
    log_call,
    screen::{Screen, Style, sanitize},
    timestamp::Timestamp,
};

pub(super) fn list(
    log: &dyn Log,
    workspace: &Workspace,
    count: usize,
    json: bool,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let mut calls = log_call::since(log, None)?;
    calls.retain(|it| changes(it).is_some());
    let last = calls.split_off(calls.len().saturating_sub(count));
    let kept = workspace.pending_calls();
    if json {
        return Ok(last.iter().try_for_each(|it| screen.json(&as_json(it, &kept)))?);
    }
    if last.is_empty() {
        return Ok(screen.line("no call had its changes discarded")?);
    }
    let headings = ["call", "time", "tool", "about", "would have changed", "why not"];
    let mut rows = vec![headings.map(str::to_owned).to_vec()];
    for call in &last {
        rows.push(vec![
            call.number().to_string(),
            screen.time_cell(Timestamp(call.at())),
            sanitize(call.tool()),
            about(call),
            paths(call),
            one_line(&why(call)),
        ]);
    }
    screen.headed_table(&rows)?;
    let shown = last.iter().rev().map(CallRecord::number).find(|it| kept.contains(it));
    if let Some(call) = shown {
        let text = format!(
            "`eclusa changes show {call}` shows one, `eclusa changes apply {call}` applies it after \
             all; they are kept for a day"
        );
        screen.styled(Style::Faint, &text)?;
    }
    Ok(())
}

/// What the record says of changes that were discarded.
fn changes(call: &CallRecord) -> Option<LoggedChanges<'_>> {
    call.changes().filter(|it| it.is_discarded())
}

fn paths(call: &CallRecord) -> String {
    let Some(changes) = changes(call) else { return String::new() };
    let mut listed = changes.paths();
    listed.truncate(super::MAX_PATHS);
    let more = changes.count().saturating_sub(listed.len() as u64);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    one_line(&format!("{}{more}", listed.join(", ")))
}

/// Who discarded them, or the rule that did.
fn why(call: &CallRecord) -> String {
    let Some(changes) = changes(call) else { return String::new() };
    match changes.approval() {
        Some(approval) if approval.had_nobody() => "nobody to ask".to_owned(),
        Some(approval) => format!("{} by {}", approval.answer(), approval.by()),
        None => changes.because().last().map(|it| it.text().to_owned()).unwrap_or_default(),
    }
}

fn as_json(call: &CallRecord, kept: &[u64]) -> Value {
    json!({
        "call": call.number(),
        "at": call.at(),
        "tool": call.tool(),
        "about": about(call),
        "changes": changes(call).map(LoggedChanges::as_json),
        "kept": kept.contains(&call.number()),
    })
}
