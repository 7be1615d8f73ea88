//! `eclusa changes --discarded`: calls that ran and whose changes nobody wanted.

use eclusa::{Workspace, one_line};
use eclusa_store::Store;
use serde_json::{Value, json};

use crate::{
    commands::{call_record::CallRecord, log},
    failure::Failure,
    screen::{Screen, Style, sanitize},
};

pub(super) fn list(
    store: &Store,
    workspace: &Workspace,
    count: usize,
    json: bool,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let mut calls = log::all_calls(store, None)?;
    calls.retain(|it| changes(it).is_some());
    let last = calls.split_off(calls.len().saturating_sub(count));
    let kept = workspace.discarded_calls();
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
            screen.time_cell(call.at()),
            sanitize(call.text("tool")),
            call.about(),
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
fn changes(call: &CallRecord) -> Option<&Value> {
    call.field("changes").filter(|it| it.get("outcome").is_some_and(|it| it == "discarded"))
}

fn paths(call: &CallRecord) -> String {
    let Some(changes) = changes(call) else { return String::new() };
    let listed = changes.get("paths").and_then(Value::as_array).into_iter().flatten();
    let listed: Vec<&str> = listed.filter_map(Value::as_str).take(super::MAX_PATHS).collect();
    let count = changes.get("count").and_then(Value::as_u64).unwrap_or_default();
    let more = count.saturating_sub(listed.len() as u64);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    one_line(&format!("{}{more}", listed.join(", ")))
}

/// Who discarded them, or the rule that did.
fn why(call: &CallRecord) -> String {
    let Some(changes) = changes(call) else { return String::new() };
    let text = |value: &Value, key: &str| {
        value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    match changes.get("approval") {
        Some(approval) if text(approval, "answer") == "no_approver" => "nobody to ask".to_owned(),
        Some(approval) => format!("{} by {}", text(approval, "answer"), text(approval, "by")),
        None => {
            let because = changes.get("because").and_then(Value::as_array);
            because.and_then(|it| it.last()).map(|it| text(it, "text")).unwrap_or_default()
        }
    }
}

fn as_json(call: &CallRecord, kept: &[u64]) -> Value {
    json!({
        "call": call.number(),
        "at": call.at().0,
        "tool": call.text("tool"),
        "about": call.about(),
        "changes": changes(call),
        "kept": kept.contains(&call.number()),
    })
}
