//! What happens in a turn, as JSON for programs and as a line for people.

use eclusa_models::money;
use serde_json::{Value, json};

use super::TurnSummary;
use crate::ui::screen::Style;
use crate::{AgentEvent, CallOutcome, TurnEnd, TurnReport};

/// Arguments in a line are no longer than this.
const MAX_ARGS: usize = 60;

/// An event as one object; those that only a screen needs are left out.
pub(super) fn event(told: &AgentEvent) -> Option<Value> {
    Some(match told {
        AgentEvent::Opened { session, model, persona, resumed } => {
            json!({"event": "opened", "session": session, "model": model, "persona": persona, "resumed": resumed})
        }
        AgentEvent::Text(text) => json!({"event": "text", "text": text}),
        AgentEvent::Thought(text) => json!({"event": "thought", "text": text}),
        AgentEvent::Call { id, tool, args, reason } => {
            json!({"event": "call", "call": id, "tool": tool, "args": args, "reason": reason})
        }
        AgentEvent::Answered(it) => json!({
            "event": "answer",
            "call": it.id,
            "tool": it.tool,
            "code": it.code,
            "error": it.error,
            "output": it.output,
            "number": it.number,
            "approval": it.approval,
        }),
        AgentEvent::Task { call, persona, session, event: inner } => json!({
            "event": "task",
            "call": call,
            "persona": persona,
            "session": session,
            "of": event(inner)?,
        }),
        AgentEvent::Retry { why, wait } => {
            json!({"event": "retry", "why": why, "wait_ms": u64::try_from(wait.as_millis()).unwrap_or(u64::MAX)})
        }
        AgentEvent::Compacted { before, after, .. } => {
            json!({"event": "compacted", "before": before, "after": after})
        }
        _ => return None,
    })
}

/// The last line: what the turn came to.
pub(super) fn object(
    report: &TurnReport,
    summary: &TurnSummary,
    session: &str,
    model: &str,
) -> Value {
    let refusal = |it: &CallOutcome| json!({"call": it.id, "tool": it.tool, "code": it.code, "why": it.error});
    let error = match &report.end {
        TurnEnd::Failed(what) | TurnEnd::Limit(what) => Some(what.as_str()),
        _ => None,
    };
    let cost = report
        .cost
        .map(|it| json!({"amount": money(it), "micros": it, "currency": report.currency}));
    json!({
        "v": 1,
        "event": "ended",
        "session": session,
        "ended": report.end.as_str(),
        "text": report.text,
        "requests": report.requests,
        "calls": {"ok": summary.ok, "failed": summary.failed, "refused": summary.refused},
        "refusals": summary.refusals.iter().map(refusal).collect::<Value>(),
        "changes": summary.changes,
        "waiting": summary.waiting,
        "usage": {
            "input": report.usage.input,
            "cache_read": report.usage.cache_read,
            "cache_write": report.usage.cache_write,
            "output": report.usage.output,
            "reasoning": report.usage.reasoning,
        },
        "cost": cost,
        "model": model,
        "error": error,
    })
}

/// A call in a line: how it went, what it was, how long it took, its number.
pub(in crate::ui) fn call_line(call: &CallOutcome, args: &str) -> (Style, String) {
    let (style, sign) = match (&call.error, call.refused) {
        _ if call.approval.is_some() => (Style::Warn, '⋯'),
        (None, _) => (Style::Good, '✓'),
        (Some(_), true) => (Style::Bad, '✗'),
        (Some(_), false) => (Style::Warn, '!'),
    };
    let number = call.number.map(|it| format!("  #{it}")).unwrap_or_default();
    let first = call.error.as_deref().and_then(|it| it.lines().next());
    let rest = first.map_or_else(|| format!("{} ms", call.time.as_millis()), str::to_owned);
    (style, format!("  {sign} {:<6} {args}  {rest}{number}", call.tool))
}

/// The arguments in one line: the only one by itself, others by name.
pub(in crate::ui) fn brief(args: &Value) -> String {
    let text = match args {
        Value::Object(fields) => {
            let one = |(name, value): (&String, &Value)| match value {
                Value::String(text) if fields.len() == 1 => text.clone(),
                Value::String(text) => format!("{name}={text}"),
                value => format!("{name}={value}"),
            };
            fields.iter().map(one).collect::<Vec<_>>().join(" ")
        }
        Value::Null => String::new(),
        other => other.to_string(),
    };
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(MAX_ARGS) {
        Some((end, _)) => text.get(..end).unwrap_or_default().to_owned() + "…",
        None => text,
    }
}
