//! Everything that a program keeps between its calls, behind one trait: it names the kind of store
//! where it opens it, and nowhere else.

use std::sync::Arc;

use crate::{
    Approver, AuditSink, GivenVote, Questions, Spool,
    approve::{Allowance, NotificationTarget, Outbox, QueueFuture, QueuedQuestion},
    audit::{AuditError, Log},
    session::SessionState,
};

mod transcripts;

pub use transcripts::{
    ItemRow, ItemSize, TranscriptError, TranscriptFuture, TranscriptHead, TranscriptRows,
};

/// A store: the log, long outputs, what is known of sessions, transcripts, and the approval queue.
/// Another kind of store is another implementation of this, and one line where it is opened.
pub trait Store: AuditSink + Log + Spool + SessionState + TranscriptRows {
    /// The workspace whose calls are recorded here, if that was noted.
    fn workspace(&self) -> Result<Option<String>, AuditError>;

    /// The questions that wait here. Notifications of new ones are kept for `targets`, until
    /// somebody sends them.
    fn approval_queue(&self, targets: Vec<NotificationTarget>) -> Arc<dyn ApprovalQueue>;
}

/// The approval queue of a store, for whoever asks, looks, answers and notifies, and the allowances
/// that spare questions.
pub trait ApprovalQueue: Approver + Questions + Outbox {
    /// Open questions whose asker has gone away: those that can be taken up again.
    fn left(&self) -> QueueFuture<'_, Vec<QueuedQuestion>>;

    /// The number of the pending question of this call with this binding, once it is queued.
    fn pending_number<'a>(
        &'a self,
        call: &'a str,
        binding: &'a str,
    ) -> QueueFuture<'a, Option<u64>>;

    /// The latest allowances, newest first.
    fn allowances(&self) -> QueueFuture<'_, Vec<Allowance>>;

    /// Allowances that can let calls pass now, oldest first.
    fn live_allowances(&self) -> QueueFuture<'_, Vec<Allowance>>;

    /// Writes down an allowance that nobody has agreed to yet: a rule, for so many calls, until this
    /// time. Gives its number.
    fn propose<'a>(
        &'a self,
        rule: &'a str,
        times: u64,
        until: u64,
        by: &'a str,
    ) -> QueueFuture<'a, u64>;

    /// Notes that somebody agrees to an allowance. `false`: it is not there, used up, over or taken
    /// back.
    fn agree(&self, id: u64, vote: GivenVote) -> QueueFuture<'_, bool>;

    /// Takes an allowance back, from this moment.
    fn revoke_allowance<'a>(&'a self, id: u64, by: &'a str) -> QueueFuture<'a, bool>;

    /// Counts one more use of an allowance, unless it is used up, over or taken back.
    fn take_allowance(&self, id: u64) -> QueueFuture<'_, bool>;
}
