//! What a conversation tells whoever watches it. No listener slows it down.

use std::time::Duration;

use eclusa::{Reply, Stop};
use serde_json::Value;

use crate::model::Usage;

/// Something that happened in a conversation. Texts are somebody else's words: whoever shows them
/// makes them harmless first.
#[derive(Debug, Clone, PartialEq)]
pub enum AgentEvent {
    /// The conversation is open.
    Opened {
        /// Its id.
        session: String,
        /// The model, as the configuration calls it.
        model: String,
        /// The persona.
        persona: String,
        /// Whether it was there before.
        resumed: bool,
    },
    /// The person's words went in: those that were typed while it worked as well.
    Heard(String),
    /// More words of the model.
    Text(String),
    /// More of its reasoning.
    Thought(String),
    /// A message is whole and kept: its words, for whoever did not follow them.
    Message(String),
    /// What has come of this message does not count: it is asked for again.
    Retry {
        /// Why.
        why: String,
        /// After how long.
        wait: Duration,
    },
    /// The model asks for a tool.
    Call {
        /// The model's id for the call.
        id: String,
        /// The tool.
        tool: String,
        /// The arguments, redacted.
        args: Value,
        /// Why the model says it wants this.
        reason: Option<String>,
    },
    /// A call is shown to a person, or runs, or says how far it is.
    Progress {
        /// The model's id for the call.
        id: String,
        /// What it is at.
        detail: String,
    },
    /// A question about a call was answered, or could not be.
    Approval {
        /// The model's id for the call.
        id: String,
        /// The tool.
        tool: String,
        /// The arguments, redacted.
        args: Value,
        /// Whether the call may go on.
        approved: bool,
        /// Who answered, or why nobody did.
        by: String,
    },
    /// A call was answered.
    Answered(CallOutcome),
    /// Something happened in a task, which a call of this conversation started.
    Task {
        /// The model's id for that call.
        call: String,
        /// Who works on it.
        persona: String,
        /// The conversation of the task.
        session: String,
        /// What happened there.
        event: Box<AgentEvent>,
    },
    /// The model is shown less of the conversation from now on.
    Compacted {
        /// Estimated tokens before.
        before: u64,
        /// And after.
        after: u64,
        /// The model's summary, where one was made.
        summary: Option<String>,
    },
    /// People should know this.
    Notice(String),
    /// The turn is over.
    Ended(TurnReport),
}

/// How a call was answered, in brief.
#[derive(Debug, Clone, PartialEq)]
pub struct CallOutcome {
    /// The model's id for the call.
    pub id: String,
    /// The tool.
    pub tool: String,
    /// The stable code of the outcome.
    pub code: String,
    /// Why it failed or was refused.
    pub error: Option<String>,
    /// What it produced.
    pub output: String,
    /// True when somebody or something said no.
    pub refused: bool,
    /// True when it was refused because nobody could be asked.
    pub unasked: bool,
    /// The pending approval that it waits for.
    pub approval: Option<u64>,
    /// The number of the call in the log.
    pub number: Option<u64>,
    /// Whether it changed something that can be undone.
    pub changed: bool,
    /// How long the tool ran; people who think are not counted.
    pub time: Duration,
}

impl CallOutcome {
    /// What a reply says. `id` is the model's for the call, which a task's record does not have.
    pub fn new(id: String, reply: &Reply) -> CallOutcome {
        let absent = |stop: &Stop| matches!(stop, Stop::NoApprover { .. } | Stop::ApprovalExpired);
        let unasked = reply.stop().is_some_and(|stop| match stop {
            Stop::Discarded(because) => absent(because),
            stop => absent(stop),
        });
        CallOutcome {
            id,
            tool: reply.tool().to_owned(),
            code: reply.code().to_owned(),
            error: match reply.parked() {
                Some(approval) => Some(waits(approval)),
                None => reply.error().map(str::to_owned),
            },
            output: output(reply).to_owned(),
            refused: reply.refused(),
            unasked,
            approval: reply.parked(),
            number: reply.number(),
            changed: reply.undo().is_some(),
            time: reply.run_time(),
        }
    }
}

/// What people are told of a call that waits: it goes on here, and nowhere else.
fn waits(approval: u64) -> String {
    format!(
        "waits for approval {approval}: `eclusa approvals yes {approval}`, and this session continues \
        with it, at once if it is open"
    )
}

/// What a reply tells besides an error.
pub(crate) fn output(reply: &Reply) -> &str {
    match reply.error() {
        Some(_) => reply.output().unwrap_or_default(),
        None => reply.text(),
    }
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TurnEnd {
    /// The model has said what it wanted to say.
    Done,
    /// It had written as much as it may in one reply.
    Length,
    /// The model, or its provider, refuses.
    Refused,
    /// A limit of the turn was reached. It can be resumed.
    Limit(String),
    /// The same call with the same answer again and again: which, and what to do.
    Stuck(String),
    /// A person ended the turn at a question.
    Aborted,
    /// A person interrupted it.
    Interrupted,
    /// The model, the archive or the log failed.
    Failed(String),
}

impl TurnEnd {
    /// The word for it in outputs.
    pub fn as_str(&self) -> &'static str {
        match self {
            TurnEnd::Done => "done",
            TurnEnd::Length => "length",
            TurnEnd::Refused => "refused",
            TurnEnd::Limit(_) => "limit",
            TurnEnd::Stuck(_) => "stuck",
            TurnEnd::Aborted => "aborted",
            TurnEnd::Interrupted => "interrupted",
            TurnEnd::Failed(_) => "failed",
        }
    }

    /// Why it is not finished, for people; `None` when it is.
    pub fn reason(&self) -> Option<&str> {
        match self {
            TurnEnd::Done => None,
            TurnEnd::Failed(what) | TurnEnd::Limit(what) | TurnEnd::Stuck(what) => Some(what),
            other => Some(other.as_str()),
        }
    }
}

/// What a turn came to.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnReport {
    /// How it ended.
    pub end: TurnEnd,
    /// The model's last words.
    pub text: String,
    /// How many requests it took.
    pub requests: u64,
    /// Tokens of this turn.
    pub usage: Usage,
    /// What they cost, in millionths of the currency, where the price is known.
    pub cost: Option<u64>,
    /// The currency.
    pub currency: Option<String>,
    /// How full the model's window is, in tokens, by estimate.
    pub context: u64,
    /// What brought text from outside into the conversation.
    pub taint: Option<String>,
}
