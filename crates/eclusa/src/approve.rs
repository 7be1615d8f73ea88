//! Putting a question to a person: the question, the answers, and who carries it.

use std::time::Duration;

use futures::future::BoxFuture;
use serde_json::Value;

use crate::{PermissionClass, ReverseThinkingReport, Touch, Verdict};

pub use memory::{Grant, GrantScope, Remember, Tally};
pub use render::{Line, Rendered, Role, render};

pub(crate) mod memory;
mod render;

/// A way to put a question to a person: terminal, web page, webhook, editor.
pub trait Approver: Send + Sync {
    /// Name for the record.
    fn name(&self) -> &str;

    /// Whether it can be asked something while it waits for another answer. Where the first
    /// approver can, a question that nobody comes back to holds no other up.
    fn takes_several(&self) -> bool {
        false
    }

    /// Asks, and waits for the answer.
    ///
    /// [`NotAsked::Unavailable`] passes the question to the next approver. Any other error, a
    /// panic or silence until the deadline is a no.
    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Result<Answer, NotAsked>>;
}

/// Why a question got no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotAsked {
    /// Nobody can be reached this way (no terminal, nobody connected).
    Unavailable(String),
    /// Something broke while asking.
    Failed(String),
}

/// What a person is asked, complete: everything that is shown comes from here.
#[derive(Debug, Clone)]
pub struct Question {
    /// The model's id for the call.
    pub call: String,
    /// The tool's canonical name.
    pub tool: String,
    /// The server the tool comes from, when it is not one of our own.
    pub server: Option<String>,
    /// Which rules apply to it.
    pub class: PermissionClass,
    /// The final arguments: what is approved is what is run.
    pub args: Value,
    /// What the call would touch.
    pub touches: Vec<Touch>,
    /// Why a person is asked.
    pub verdict: Verdict,
    /// Why the model says it wants this. Model's words.
    pub reason: Option<String>,
    /// Label: what the tool does is hard to take back.
    pub destructive: bool,
    /// What a reverse-thinking pass said about it, if there was one.
    pub reverse_thinking: Option<ReverseThinkingReport>,
    /// What the call would change, once it has run where nothing is real: then the question is
    /// about this. `None`: it is about running the call.
    pub preview: Option<Preview>,
    /// What the answer is bound to: tool, revision and final arguments, and the changes where
    /// there is a preview of them.
    pub binding: String,
    /// What "for this conversation" and "always" would cover; `None` where they are not offered.
    pub grant: Option<Grant>,
    /// Whether "always" can be kept.
    pub can_always: bool,
    /// Who asks: the conversation's principal.
    pub principal: String,
    /// The conversation.
    pub conversation: String,
    /// How long an answer is waited for.
    pub time: Duration,
}

/// Changes, as a person sees them before they are real.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preview {
    /// In one line: `3 files changed, +12 -4`.
    pub summary: String,
    /// What becomes of which path, with the lines that differ ([`Diff::shown`](crate::Diff::shown)).
    pub diff: String,
    /// True when nothing was left out: no lines for want of room, and no contents that have none.
    pub whole: bool,
}

/// What a person said.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// Go ahead, this once.
    Once,
    /// Go ahead, and do not ask again for [`Question::grant`] in this conversation.
    Session,
    /// Go ahead, and never ask again for [`Question::grant`].
    Always,
    /// Do this instead; it is validated, reviewed and judged like any other call.
    Edit(Value),
    /// Do not, and tell the model this.
    No(String),
    /// Do not, and end the whole turn.
    Abort,
}

/// What happens when a person must be asked and nobody can be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OnNoApprover {
    /// The call is denied, and the text says how to fix it.
    #[default]
    Deny,
    /// The call runs, a warning goes out, and the record says that nobody approved it.
    AllowWithWarning,
    /// The question is parked at the desk until somebody answers it or it expires.
    Queue,
}
