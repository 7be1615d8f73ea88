//! Where questions wait for people: what every store of them can do.

use std::time::Duration;

use futures::future::BoxFuture;

use super::outbox::FailedNotification;
use crate::{Answer, AnswerGiven, GivenVote, Proof, Question, QuestionState, SignedAnswer};

/// For how long a question that nobody waits for is kept, and a yes that nobody has taken, unless
/// somebody says otherwise.
pub const KEEP: Duration = Duration::from_secs(24 * 60 * 60);

/// For how long a no also covers the same call, asked again in the same session.
pub const NO_COVERS: Duration = Duration::from_secs(10 * 60);

/// A question in an approval queue.
#[derive(Debug, Clone)]
pub struct QueuedQuestion {
    /// Its number; never given twice.
    pub id: u64,
    /// The question, complete. Once it is over, the arguments are no longer kept, and are `null`.
    pub question: Question,
    /// When it was asked, in milliseconds since 1970.
    pub created: u64,
    /// When it is too late to answer, in milliseconds since 1970.
    pub expires: u64,
    /// How it stands.
    pub state: QuestionState,
    /// Whether whoever asked has gone away. A yes is kept for [`Question::keep`], for whoever asks the
    /// same again.
    pub asker_away: bool,
    /// The word for the answer: `once`, `session`, `always`, `edit`, `no`, `abort`.
    pub answer: Option<String>,
    /// Who answered.
    pub decided_by: Option<String>,
    /// How sure that is.
    pub proof: Option<Proof>,
    /// When it was answered or expired, in milliseconds since 1970.
    pub decided_at: Option<u64>,
    /// Why not, in the words of whoever said no.
    pub reason: Option<String>,
    /// When the answer was taken by whoever waited for it.
    pub taken_at: Option<u64>,
}

/// Part of the pending questions, oldest first.
#[derive(Debug, Clone, Copy)]
pub struct QuestionPage {
    /// Only questions with higher numbers.
    pub after: u64,
    /// At most so many.
    pub limit: usize,
}

impl QuestionPage {
    /// The first page.
    pub const FIRST: QuestionPage = QuestionPage { after: 0, limit: 100 };
}

/// An answer to one question, or to several that are identical.
#[derive(Debug, Clone)]
pub struct GivenAnswer {
    /// The questions. Either all are answered or none.
    pub questions: Vec<u64>,
    /// The answer.
    pub answer: Answer,
    /// Who gives it.
    pub by: String,
    /// What was shown: where it is given and is not what a question is bound to, that question is
    /// not answered.
    pub binding: Option<String>,
    /// The signature, where there is one.
    pub signed: Option<SignedAnswer>,
}

impl GivenAnswer {
    /// The word of this person, without a signature, to whatever these questions are about.
    pub fn new(questions: Vec<u64>, answer: Answer, by: impl Into<String>) -> GivenAnswer {
        GivenAnswer { questions, answer, by: by.into(), binding: None, signed: None }
    }
}

/// What a queue gives once it has looked, or why it cannot.
pub type QueueFuture<'a, T> = BoxFuture<'a, Result<T, QueueError>>;

/// Why an answer does not count.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QueueError {
    /// There is no such question.
    #[error("there is no pending approval {0}")]
    Unknown(u64),
    /// It is too late.
    #[error("approval {0} has expired and its call was refused; the agent has to ask again")]
    Expired(u64),
    /// Somebody else was faster, or the same person said something else.
    #[error("approval {id} is already {state}: `{by}` answered `{answer}`")]
    Decided {
        /// The question.
        id: u64,
        /// How it stands.
        state: QuestionState,
        /// The answer that holds.
        answer: String,
        /// Who gave it.
        by: String,
    },
    /// It stands otherwise than the request needs.
    #[error("approval {id} is {state}; only one that is {needed} can be {wanted}")]
    WrongState {
        /// The question.
        id: u64,
        /// How it stands.
        state: QuestionState,
        /// How it would have to stand.
        needed: QuestionState,
        /// What was wanted.
        wanted: &'static str,
    },
    /// The question is not the one that was shown.
    #[error("approval {0} is not the question that was shown; look at it again")]
    Swapped(u64),
    /// Nobody answers anonymously.
    #[error("an answer needs the name of the person who gives it")]
    Nameless,
    /// Too many questions wait already.
    #[error("{0} approvals are pending already; answer some of them first")]
    Full(u64),
    /// The store could not do it.
    #[error("{0}")]
    Store(String),
}

/// What every approval queue can do for those who look at it and answer.
///
/// Whoever asks does so as an [`Approver`](crate::Approver): it queues the question, waits, and
/// takes the answer once. INVARIANT: states change as [`QuestionState::after`] says, and not
/// otherwise; each answer is on record in the same transaction.
pub trait Questions: Send + Sync {
    /// The name of the queue, which no other queue has: see [`Statement`](crate::Statement).
    fn queue(&self) -> QueueFuture<'_, String>;

    /// Pending questions, oldest first.
    fn list(&self, page: QuestionPage) -> QueueFuture<'_, Vec<QueuedQuestion>>;

    /// How many are pending.
    fn pending(&self) -> QueueFuture<'_, u64>;

    /// One question, however it stands.
    fn get(&self, id: u64) -> QueueFuture<'_, QueuedQuestion>;

    /// The numbers of pending questions that are identical to this one, itself included.
    fn identical(&self, id: u64) -> QueueFuture<'_, Vec<u64>>;

    /// Who said yes to a question so far, in order.
    fn votes(&self, id: u64) -> QueueFuture<'_, Vec<GivenVote>>;

    /// Notifications about pending questions that could not be sent yet.
    fn failed_notifications(&self) -> QueueFuture<'_, Vec<FailedNotification>>;

    /// What a signed request from elsewhere with this id was answered before: a status and a text.
    fn answered_request<'a>(&'a self, id: &'a str) -> QueueFuture<'a, Option<(u16, String)>>;

    /// Keeps what such a request was answered, for a day.
    fn keep_request<'a>(&'a self, id: &'a str, answer: (u16, String)) -> QueueFuture<'a, ()>;

    /// Answers questions, for good. The same answer by the same person may be given again.
    fn answer(&self, given: GivenAnswer) -> QueueFuture<'_, ()>;

    /// Takes the yes to a question whose asker has gone away: nobody else gets it. The error says how
    /// it stands instead.
    fn take(&self, id: u64) -> QueueFuture<'_, AnswerGiven>;

    /// The latest question with this binding about the changes of this call.
    fn of_pending<'a>(
        &'a self,
        binding: &'a str,
        call: u64,
    ) -> QueueFuture<'a, Option<QueuedQuestion>>;

    /// Takes back a yes that nobody has used yet.
    fn revoke<'a>(&'a self, id: u64, by: &'a str) -> QueueFuture<'a, ()>;

    /// Refuses everything that a session waits for, takes back every yes that it has not used,
    /// and says how many that were.
    fn end_session<'a>(&'a self, session: &'a str, by: &'a str) -> QueueFuture<'a, u64>;

    /// Numbers of the questions that changed after this point, and the new point.
    fn changes(&self, after: u64) -> QueueFuture<'_, (Vec<u64>, u64)>;

    /// Lets a question of this call be found by a name that nobody can guess, also after a
    /// restart. `false`: the call has no open question here.
    fn set_ticket<'a>(&'a self, call: &'a str, ticket: &'a str) -> QueueFuture<'a, bool>;

    /// The question with this ticket.
    fn find_ticket<'a>(&'a self, ticket: &'a str) -> QueueFuture<'a, Option<QueuedQuestion>>;
}
