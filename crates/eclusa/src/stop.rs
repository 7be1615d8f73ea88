//! Why a call ended without the tool's output reaching the model.

use std::{borrow::Cow, time::Duration};

use crate::{Decision, Verdict};

mod human_duration;

pub use human_duration::HumanDuration;

/// Why a call ended without the tool's output reaching the model.
///
/// A `Stop` is an answer, not a crash: it goes back to the model as an error result whose text
/// says what happened and what the model may do next. [`code`](Stop::code) is stable and meant
/// for programs; [`message`](Stop::message) is for the model and may be reworded.
#[derive(Debug, Clone, PartialEq)]
pub enum Stop {
    /// No tool has that name.
    UnknownTool {
        /// The name the model used.
        name: String,
        /// Names that look like it, nearest first.
        nearest: Vec<String>,
    },
    /// The tool could be there and is not, because its server is down or has not started.
    Unavailable {
        /// What is known of it.
        why: String,
    },
    /// What the model wrote could not be read as a call.
    Malformed(String),
    /// Another call of the same turn has this id already.
    DuplicateId,
    /// The arguments do not fit the schema: one sentence for each violation.
    InvalidArgs(String),
    /// A person answered in place of the tool: their words are the result.
    Instead {
        /// Who.
        by: String,
        /// What they wrote.
        text: String,
    },
    /// Somebody said no, or could not say yes.
    Denied {
        /// Who.
        by: Decider,
        /// What to tell the model.
        why: String,
    },
    /// A person must say yes, and nobody can be asked.
    NoApprover {
        /// Why a person must.
        why: String,
        /// Whether a rule says so: one that allows does not help then.
        by_rule: bool,
    },
    /// Nobody answered the question in time.
    ApprovalExpired,
    /// The question waits in the approval queue under this number, and nobody waits with it.
    Parked(u64),
    /// The call ran ahead of its question: what it changes is kept, and not applied.
    RanAhead,
    /// Dry run: everything up to the permit was decided, and nothing was run.
    DryRun {
        /// What would have happened.
        verdict: Verdict,
        /// The call, as it would have been run.
        would: String,
    },
    /// The call was judged and recorded, and whoever made it is not held to that ([`Run::watched`](crate::Run::watched)).
    Watched(Box<Stop>),
    /// The tool was still running when its time was up.
    TimedOut(Duration),
    /// The deadline had passed before the tool could be started.
    TooLate,
    /// The caller took the call back.
    Cancelled {
        /// Whether the tool had started by then.
        ran: bool,
    },
    /// The tool panicked.
    Panicked,
    /// The tool ran, and what it would have changed was discarded for this reason: the workspace
    /// is as it was.
    Discarded(Box<Stop>),
    /// The tool was stopped while it ran where nothing is real: the workspace is as it was.
    Unapplied(Box<Stop>),
    /// What the tool would have changed could not be applied.
    NotCommitted {
        /// Whether something that the changes rest on has changed meanwhile.
        conflict: bool,
        /// What happened, and what the workspace is like now.
        why: String,
    },
    /// The tool ran, but its output may not be shown.
    Withheld(String),
    /// A person ended the whole turn.
    Aborted {
        /// Whether the tool was running: one of the calls it made was what the person ended.
        ran: bool,
    },
    /// Tools called tools too many levels deep.
    TooDeep(usize),
    /// The record could not be written, so nothing was done.
    Unrecorded(String),
    /// The tool ran, and its end could not be recorded, so its output is kept back.
    EndUnrecorded(String),
}

/// Who said no.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decider {
    /// A reviewer, by name.
    Reviewer(String),
    /// The rules.
    Policy,
    /// A person.
    Person,
    /// Someone who was to put the question to a person, and failed.
    Approver(String),
    /// The embedding program's checkpoint.
    Checkpoint,
    /// The reverse-thinking pass.
    ReverseThinking,
    /// The gate itself, because a check crashed.
    Gate,
}

impl std::fmt::Display for Decider {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Decider::Reviewer(name) => write!(f, "reviewer `{name}`"),
            Decider::Policy => f.write_str("policy"),
            Decider::Person => f.write_str("a person"),
            Decider::Approver(name) => write!(f, "approver `{name}`"),
            Decider::Checkpoint => f.write_str("checkpoint"),
            Decider::ReverseThinking => f.write_str("reverse thinking"),
            Decider::Gate => f.write_str("the gate"),
        }
    }
}

impl Stop {
    pub(crate) fn denied(by: Decider, why: impl Into<String>) -> Stop {
        Stop::Denied { by, why: why.into() }
    }

    /// The stable code of this outcome.
    pub fn code(&self) -> &'static str {
        match self {
            Stop::UnknownTool { .. } => "unknown_tool",
            Stop::Unavailable { .. } => "tool_unavailable",
            Stop::Malformed(_) => "malformed_call",
            Stop::DuplicateId => "duplicate_id",
            Stop::InvalidArgs(_) => "invalid_args",
            Stop::Instead { .. } => "answered_by_person",
            Stop::Denied { by, .. } => match by {
                Decider::Reviewer(_) => "denied_by_review",
                Decider::Policy => "denied_by_policy",
                Decider::Person => "denied_by_person",
                Decider::Approver(_) => "approver_failed",
                Decider::Checkpoint => "denied_by_checkpoint",
                Decider::ReverseThinking => "denied_by_reverse_thinking",
                Decider::Gate => "check_crashed",
            },
            Stop::NoApprover { .. } => "no_approver",
            Stop::ApprovalExpired => "approval_expired",
            Stop::Parked(_) => "parked",
            Stop::RanAhead => "ran_ahead",
            Stop::DryRun { verdict, .. } if verdict.decision == Decision::Deny => "dry_run_denied",
            Stop::DryRun { .. } => "dry_run",
            Stop::Watched(judged) if judged.is_error() => "watched_denied",
            Stop::Watched(_) => "watched",
            Stop::TimedOut(_) => "timed_out",
            Stop::TooLate => "too_late",
            Stop::Cancelled { .. } => "cancelled",
            Stop::Panicked => "tool_panicked",
            Stop::Discarded(because) => match &**because {
                Stop::Aborted { .. } | Stop::Parked(_) | Stop::RanAhead | Stop::Instead { .. } => {
                    because.code()
                }
                _ => "changes_discarded",
            },
            Stop::Unapplied(because) => because.code(),
            Stop::NotCommitted { conflict: true, .. } => "conflict",
            Stop::NotCommitted { conflict: false, .. } => "commit_failed",
            Stop::Withheld(_) => "executed_output_withheld",
            Stop::Aborted { .. } => "aborted",
            Stop::TooDeep(_) => "too_deep",
            Stop::Unrecorded(_) => "audit_unavailable",
            Stop::EndUnrecorded(_) => "executed_unrecorded",
        }
    }

    /// True when the call did not do what was asked. A dry run of a call that would have been
    /// allowed or asked about did (C9), and so did a person who answered in place of the tool.
    pub fn is_error(&self) -> bool {
        match self {
            Stop::DryRun { verdict, .. } => verdict.decision == Decision::Deny,
            Stop::Watched(_) => false,
            it => !it.is_answer(),
        }
    }

    /// The same, of a run that watches and does not hold.
    pub(crate) fn held_or_watched(self, watched: bool) -> Stop {
        if watched { Stop::Watched(Box::new(self)) } else { self }
    }

    /// Whether a person answered in place of the tool.
    pub(crate) fn is_answer(&self) -> bool {
        match self {
            Stop::Instead { .. } => true,
            Stop::Discarded(because) => because.is_answer(),
            _ => false,
        }
    }

    /// True when the call was refused: before anything ran, or before what it changed was real.
    pub fn is_refusal(&self) -> bool {
        match self {
            Stop::UnknownTool { .. }
            | Stop::Unavailable { .. }
            | Stop::Malformed(_)
            | Stop::DuplicateId
            | Stop::InvalidArgs(_)
            | Stop::Denied { .. }
            | Stop::NoApprover { .. }
            | Stop::ApprovalExpired
            | Stop::Parked(_)
            | Stop::RanAhead
            | Stop::TooLate
            | Stop::Cancelled { ran: false }
            | Stop::Aborted { ran: false }
            | Stop::TooDeep(_)
            | Stop::Unrecorded(_) => true,
            Stop::DryRun { .. } | Stop::Instead { .. } | Stop::Discarded(_) => self.is_error(),
            Stop::Unapplied(because) => because.is_refusal(),
            Stop::TimedOut(_)
            | Stop::Watched(_)
            | Stop::Cancelled { ran: true }
            | Stop::Aborted { ran: true }
            | Stop::Panicked
            | Stop::NotCommitted { .. }
            | Stop::Withheld(_)
            | Stop::EndUnrecorded(_) => false,
        }
    }

    /// The text the model reads: what happened, and what it may do next.
    pub fn message(&self) -> Cow<'static, str> {
        Cow::Owned(match self {
            Stop::UnknownTool { name, nearest } if nearest.is_empty() => {
                format!("no tool is called `{name}`; use one of the tools you were given")
            }
            Stop::UnknownTool { name, nearest } => {
                format!("no tool is called `{name}`; did you mean `{}`?", nearest.join("` or `"))
            }
            Stop::Unavailable { why } => why.clone(),
            Stop::Malformed(problem) => {
                format!("this is not a tool call that can be read: {problem}")
            }
            Stop::DuplicateId => {
                return "another call of this turn has the same id, so this one was not run; give every call an id of its own".into();
            }
            Stop::InvalidArgs(what) => {
                format!("the arguments do not fit the tool's schema, so nothing was run: {what}")
            }
            Stop::Instead { by, text } => {
                format!(
                    "`{by}`, a person, answered in place of the tool, which was not run:\n{text}"
                )
            }
            Stop::Denied { by: Decider::Gate, why } => {
                format!(
                    "denied by the gate: {why}; nothing was run, and trying again will not help until this is fixed"
                )
            }
            Stop::Denied { by, why } => format!("denied by {by}: {why}; nothing was run"),
            Stop::NoApprover { why, by_rule } => format!(
                "not run: this call needs approval, and nobody is available to approve it: {why}; a person can {}",
                ways(*by_rule)
            ),
            Stop::ApprovalExpired => {
                return "not run: nobody approved this call in time; do not repeat it unless a person \
                asks for it".into();
            }
            Stop::Parked(id) => format!(
                "this call waits for approval {id}, and nothing has run; after it is approved, `eclusa resume {id}` runs it, or the same call made again"
            ),
            Stop::RanAhead => {
                return "ran; its changes are kept, and are not applied yet".into();
            }
            Stop::DryRun { verdict, would } => {
                format!("dry run, nothing was done: {}", verdict.foretold(would))
            }
            Stop::Watched(judged) => match &**judged {
                Stop::DryRun { verdict, would } => {
                    format!("watched, not enforced: {}", verdict.foretold(would))
                }
                other => format!("watched, not enforced; otherwise: {}", other.message()),
            },
            Stop::TimedOut(_)
            | Stop::Cancelled { ran: true }
            | Stop::Panicked
            | Stop::Aborted { ran: true } => {
                format!("{}; it may have done part of its work", self.stopped())
            }
            Stop::TooLate => {
                return "the deadline had passed before the tool could start, so nothing was run"
                    .into();
            }
            Stop::Cancelled { ran: false } => {
                return "the call was cancelled before it ran, so nothing was done".into();
            }
            Stop::Discarded(because) => match **because {
                Stop::Parked(id) => format!(
                    "ran; its changes wait for approval {id}; approving it applies exactly what was \
                    shown, without running anything again"
                ),
                Stop::RanAhead => return because.message(),
                Stop::Instead { ref by, ref text } => format!(
                    "`{by}`, a person, answered in place of the tool; nothing that it changed was applied:\n{text}"
                ),
                _ => format!("changes discarded, nothing was applied: {}", because.discarding()),
            },
            Stop::Unapplied(because) => {
                format!("{}; nothing that it changed was applied", because.stopped())
            }
            Stop::NotCommitted { why, .. } => why.clone(),
            Stop::Withheld(why) => {
                format!(
                    "the tool ran, but its output is withheld: {why}; do not run it again to get the output"
                )
            }
            Stop::Aborted { ran: false } => {
                return "a person ended this turn, so this call was not run".into();
            }
            Stop::TooDeep(limit) => {
                format!("tools may call tools only {limit} levels deep, so this call was not run")
            }
            Stop::Unrecorded(what) => {
                format!(
                    "the audit log cannot be written ({what}), so nothing was run; a person must fix the log first"
                )
            }
            Stop::EndUnrecorded(what) => {
                format!(
                    "the tool ran, but its end could not be recorded ({what}), so its output is withheld; do not run it again"
                )
            }
        })
    }
}

impl Stop {
    /// How a tool was stopped while it ran.
    fn stopped(&self) -> Cow<'static, str> {
        match self {
            Stop::TimedOut(limit) => {
                let limit = HumanDuration(*limit);
                format!("the tool did not finish within {limit} and was stopped").into()
            }
            Stop::Cancelled { .. } => "the call was cancelled while it ran".into(),
            Stop::Panicked => "the tool crashed".into(),
            Stop::Aborted { .. } => {
                "a person ended this turn while the tool ran, so its output is withheld".into()
            }
            other => other.message(),
        }
    }

    /// The reason for discarding changes, in words for the model.
    fn discarding(&self) -> Cow<'static, str> {
        match self {
            Stop::Denied { by, why } => format!("denied by {by}: {why}").into(),
            Stop::NoApprover { why, by_rule } => format!("they need approval, and nobody is available to approve them: {why}; a person can {}", ways(*by_rule)).into(),
            Stop::ApprovalExpired => "nobody approved them in time; do not repeat it unless a person asks for it".into(),
            Stop::Cancelled { .. } => "the call was cancelled".into(),
            Stop::Aborted { .. } => "a person ended this turn".into(),
            other => other.message(),
        }
    }
}

/// What a person can do where nobody could be asked. An allow rule does not help against a rule that asks.
fn ways(by_rule: bool) -> &'static str {
    match by_rule {
        true => {
            "run it in a terminal, change the rule that asks, or have such questions wait for `eclusa approvals` (`on_no_approver = \"queue\"`)"
        }
        false => "run it in a terminal, add an allow rule, or choose another mode",
    }
}
