//! What happens in a turn, as JSON for programs.

use eclusa_models::money;
use serde_json::{Value, json};

use super::TurnSummary;
use crate::{AgentEvent, CallOutcome, TurnEnd, TurnReport};

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
        AgentEvent::Approval { id, tool, args, approved, by } => {
            json!({"event": "tool_approval", "call": id, "tool": tool, "args": args, "approved": approved, "by": by})
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
        TurnEnd::Failed(what) | TurnEnd::Limit(what) | TurnEnd::Stuck(what) => Some(what.as_str()),
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
