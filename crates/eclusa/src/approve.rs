//! Putting a question to a person: the question, the answers, and who carries it.

use std::{path::PathBuf, time::Duration};

use futures::future::BoxFuture;
use serde_json::Value;

use crate::{Hash, PermissionClass, ReverseThinkingReport, SignatureRequest, Touch, Verdict};

pub use crate::errors::{AllowanceError, RememberError, TallyError};
pub use crate::requirement::{Escalation, Proof, Requirement, Vote};
pub use allowance::{Allowance, Allowances, LiveAllowance};
pub use closures::{AsyncFnApprover, FnApprover};
pub use earlier_yes::EarlierYes;
pub use memory::{Grant, GrantScope, Remember, RuleUse, Tally};
pub use outbox::{
    DueNotification, FailedNotification, NotificationEvent, NotificationTarget, Outbox, retry_after,
};
pub use questions::{
    GivenAnswer, KEEP, NO_COVERS, QuestionPage, Questions, QueueError, QueueFuture, QueuedQuestion,
};
pub use render::{Line, Rendered, Role, render};
pub use state::{QuestionEvent, QuestionState, QuestionTimes};
pub use statement::{SignedAnswer, Statement, end_statement, revoke_statement};
pub use votes::{GivenVote, SignerDirectory};

mod allowance;
mod closures;
mod earlier_yes;
pub(crate) mod memory;
mod offers;
mod outbox;
mod questions;
mod render;
mod state;
mod statement;
pub(crate) mod votes;

/// A way to put a question to a person: terminal, web page, webhook, editor.
///
/// ```
/// use eclusa::prelude::*;
/// use futures::future::BoxFuture;
///
/// /// Says yes to whatever is not destructive.
/// struct Lenient;
///
/// impl Approver for Lenient {
///     fn name(&self) -> &str {
///         "lenient"
///     }
///     fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Result<Answer, NotAsked>> {
///         Box::pin(async move {
///             Ok(match question.destructive {
///                 true => Answer::No("it is hard to take back".to_owned()),
///                 false => Answer::Once,
///             })
///         })
///     }
/// }
///
/// # #[derive(serde::Deserialize, schemars::JsonSchema)]
/// # struct Nothing {}
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let ring = FnTool::new("ring", "Rings a bell.", |_: Nothing| async { Ok::<_, ToolError>("ding") });
/// let gate = Gate::builder().tool(ring).approver(Lenient).build()?;
/// let call = ToolCall::new("1", "ring", serde_json::json!({}));
/// assert_eq!(gate.pass_blocking(call)?.content(), "ding");
/// # Ok(())
/// # }
/// ```
pub trait Approver: Send + Sync {
    /// Name for the record.
    fn name(&self) -> &str;

    /// Whether it can be asked something while it waits for another answer. Where it can, a
    /// question that nobody comes back to holds no other up.
    fn takes_several(&self) -> bool {
        false
    }

    /// Asks, and waits for the answer.
    ///
    /// [`NotAsked::Unavailable`] and [`NotAsked::Unread`] pass the question to the next approver. Any other error, a
    /// panic or silence until the deadline is a no.
    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Result<Answer, NotAsked>>;

    /// Asks like [`ask`](Approver::ask), and says who answered. The gate asks this way.
    ///
    /// With `wait` false, an approver that keeps questions for later does so and returns
    /// [`NotAsked::Parked`], unless there is an answer already.
    fn submit<'a>(
        &'a self,
        question: &'a Question,
        wait: bool,
    ) -> BoxFuture<'a, Result<AnswerGiven, NotAsked>> {
        let _ = wait;
        Box::pin(async move {
            let answer = self.ask(question).await?;
            Ok(AnswerGiven {
                answer,
                by: self.name().to_owned(),
                question: None,
                votes: Vec::new(),
            })
        })
    }

    /// Takes a question back: nobody wants the answer any more.
    fn withdraw(&self, question: &Question) {
        let _ = question;
    }
}

/// An answer, and whose it is.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerGiven {
    /// What was said.
    pub answer: Answer,
    /// Who said it: a person where that is known, or else the approver.
    pub by: String,
    /// The number of the question, where it waited in an approval queue. One number opens one
    /// call: a log takes it once.
    pub question: Option<u64>,
    /// Everybody who said yes, as the queue has it; empty where no queue was asked.
    pub votes: Vec<GivenVote>,
}

/// Why a question got no answer.
///
/// ```
/// use eclusa::prelude::*;
///
/// # #[derive(serde::Deserialize, schemars::JsonSchema)]
/// # struct Nothing {}
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let ring = FnTool::new("ring", "Rings a bell.", |_: Nothing| async { Ok::<_, ToolError>("ding") });
/// // Nobody is at the first, so the second is asked.
/// let away = || NotAsked::Unavailable("nobody is connected".to_owned());
/// let gate = Gate::builder()
///     .tool(ring)
///     .approver(AsyncFnApprover::new("page", move |_| async move { Err(away()) }))
///     .approver(FnApprover::new("phone", |_| Answer::Once))
///     .build()?;
/// let call = ToolCall::new("1", "ring", serde_json::json!({}));
/// assert_eq!(gate.pass_blocking(call)?.content(), "ding");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotAsked {
    /// Nobody can be reached this way (no terminal, nobody connected).
    Unavailable(String),
    /// The question came back at once, before anybody can have read it: whoever was asked has no
    /// person in front of it. The next approver is asked, and if there is none it is a no.
    Unread(String),
    /// Something broke while asking.
    Failed(String),
    /// The question waits under this number, and nobody waits for its answer.
    Parked(u64),
}

/// The origin of the reason that says that a call is staged.
pub(crate) const STAGING: &str = "staging";

/// What a person is asked, complete: everything that is shown comes from here.
///
/// ```
/// use eclusa::prelude::*;
///
/// # #[derive(serde::Deserialize, schemars::JsonSchema)]
/// # struct Pay { #[allow(dead_code)] euros: u32 }
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let pay = FnTool::new("pay", "Pays.", |_: Pay| async { Ok::<_, ToolError>("paid") });
/// let thrifty = FnApprover::new("me", |question| {
///     assert_eq!(question.tool, "pay");
///     match question.args["euros"].as_u64() {
///         Some(0..=100) => Answer::Once,
///         _ => Answer::No("too much".to_owned()),
///     }
/// });
/// let gate = Gate::builder().tool(pay).approver(thrifty).build()?;
/// let call = ToolCall::new("1", "pay", serde_json::json!({"euros": 2_000}));
/// assert_eq!(gate.pass_blocking(call)?.code(), "denied_by_person");
/// # Ok(())
/// # }
/// ```
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
    /// The arguments as they are shown, where they hold secrets: those are masked. `None`: as they
    /// are.
    pub shown_args: Option<Value>,
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
    /// What the question is about. A yes is to this and to nothing else.
    pub about: QuestionAbout,
    /// What the answer is bound to: tool, revision and final arguments, and the changes where
    /// there is a preview of them.
    pub binding: String,
    /// What "for this session" and "always" would cover; `None` where they are not offered.
    pub grant: Option<Grant>,
    /// Whether "always" can be kept.
    pub can_always: bool,
    /// Who asks: the session's principal.
    pub principal: String,
    /// The session.
    pub session: String,
    /// The task that asks, where a model works inside a call.
    pub task: Option<String>,
    /// How long an answer is waited for.
    pub time: Duration,
    /// How long the question is kept where nobody waits for its answer, and a yes that nobody has
    /// taken.
    pub keep: Duration,
    /// The run whose changes it is about, where it is kept until somebody answers.
    pub pending: Option<PendingRef>,
}

/// What stands in a binding before the digest of the files that the call names.
pub(crate) const FILES: &str = " files ";

impl Question {
    /// The digest of the files that an answer is bound to, where the call names some.
    pub fn bound_files(&self) -> Option<&str> {
        self.binding.split_once(FILES).map(|(_, files)| files)
    }
}

/// A run that is kept until somebody answers: see [`PendingRun`](crate::workspace::PendingRun).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PendingRef {
    /// The number of the call that ran.
    pub call: u64,
    /// The digest of what is kept of it.
    pub sha256: Hash,
}

/// What a question is about. Whoever answers without reading it, because somebody said yes before,
/// looks here: a yes to one of these is none to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QuestionAbout {
    /// Running the call.
    Running,
    /// Applying what the call would change, once it has run where nothing is real.
    Changes(Preview),
    /// Running the call again with these hosts open, which it tried to reach.
    Hosts(Vec<String>),
    /// Running the call again and signing what it made with a person's key. What it has changed so far is shown.
    Signature(SignatureRequest, Preview),
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
    /// The paths that can be applied alone, and what is shown of each; empty where only all of the
    /// changes together make sense.
    pub choices: Vec<(PathBuf, String)>,
}

/// What a person said.
///
/// ```
/// use eclusa::prelude::*;
///
/// assert!(Answer::Once.is_yes());
/// // What somebody writes instead of the arguments is judged like any other call.
/// assert!(Answer::Edit(serde_json::json!({"path": "notes.txt"})).is_yes());
/// assert!(!Answer::No("not on a Friday".to_owned()).is_yes());
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// Go ahead, this once.
    Once,
    /// Go ahead, and do not ask again for [`Question::grant`] in this session.
    Session,
    /// Go ahead, and do not ask again about edits of this workspace in this session, as in the mode
    /// auto-approve ([`Question::offers_edits`]).
    Edits,
    /// Run it, and ask about its changes ([`Question::offers_review`]).
    Review,
    /// Go ahead, and never ask again for [`Question::grant`].
    Always,
    /// Apply the changes of these paths alone ([`Preview::choices`]), and discard the others.
    Only(Vec<PathBuf>),
    /// Do this instead; it is validated, reviewed and judged like any other call.
    Edit(Value),
    /// Do not: this text is the result, as that person's ([`Question::offers_instead`]).
    Instead(String),
    /// Do not, and tell the model this.
    No(String),
    /// Do not, and end the whole turn.
    Abort,
}

impl Answer {
    /// The word for it in records, stores and statements.
    pub fn word(&self) -> &'static str {
        match self {
            Answer::Once => "once",
            Answer::Session => "session",
            Answer::Edits => "edits",
            Answer::Review => "review",
            Answer::Always => "always",
            Answer::Only(_) => "only",
            Answer::Edit(_) => "edit",
            Answer::Instead(_) => "instead",
            Answer::No(_) => "no",
            Answer::Abort => "abort",
        }
    }

    /// Whether the call may go on, as it is or edited.
    pub fn is_yes(&self) -> bool {
        !matches!(self, Answer::Instead(_) | Answer::No(_) | Answer::Abort)
    }
}

/// What happens when a person must be asked and nobody can be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OnNoApprover {
    /// The call is denied, and the text says how to fix it.
    #[default]
    Deny,
    /// The call runs, a warning goes out, and the record says that nobody approved it.
    AllowWithWarning,
    /// The question waits in the approval queue until somebody answers it or it expires.
    Queue,
}
