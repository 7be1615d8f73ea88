//! Notifications about questions: written down together with the question, sent by whatever process
//! is there to send them, and tried again until they arrive or the question is over.

use std::time::Duration;

use super::questions::{QueueFuture, QueuedQuestion};
use crate::words;

/// Where notifications go, as far as a queue needs to know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotificationTarget {
    /// Its name in the configuration.
    pub name: String,
    /// It is told only of questions that still wait after this time.
    pub after: Duration,
    /// Whether it is told of answers, too.
    pub answers: bool,
}

/// What a notification is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotificationEvent {
    /// A question waits.
    Asked,
    /// It has waited so long that others may answer, too.
    Escalated,
    /// It was answered.
    Answered,
}

words! {
    NotificationEvent, "an event of a question": Asked = "asked", Escalated = "escalated",
    Answered = "answered",
}

/// A notification that is to be sent now.
#[derive(Debug, Clone)]
pub struct DueNotification {
    /// Its number in the queue; the same at every attempt.
    pub id: u64,
    /// Where it goes.
    pub target: String,
    /// What it is about.
    pub event: NotificationEvent,
    /// The question, which still waits unless it was answered.
    pub question: QueuedQuestion,
}

/// A notification that could not be sent yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedNotification {
    /// Where it goes.
    pub target: String,
    /// Why it did not get there.
    pub error: String,
    /// How often it was tried.
    pub attempts: u64,
}

/// Notifications that are yet to be sent. They outlive whoever asked.
///
/// A notification never answers, and nothing here can: it says that somebody should look.
pub trait Outbox: Send + Sync {
    /// The name of the queue, which no other queue has.
    fn name(&self) -> QueueFuture<'_, String>;

    /// When the next notification is due, in milliseconds since 1970.
    fn next_due(&self) -> QueueFuture<'_, Option<u64>>;

    /// Some that are due. Nobody else gets them for a minute; those of questions that are over are
    /// forgotten.
    fn claim(&self) -> QueueFuture<'_, Vec<DueNotification>>;

    /// Notes what came of sending one. A failed one is due again after [`retry_after`].
    fn note_attempt(&self, id: u64, outcome: Result<(), String>) -> QueueFuture<'_, ()>;
}

/// How long to wait after so many failed attempts: a second, twice that, and so on to ten minutes.
pub fn retry_after(attempts: u64) -> Duration {
    let doubled = u32::try_from(attempts.saturating_sub(1)).unwrap_or(u32::MAX).min(10);
    Duration::from_secs(1 << doubled).min(Duration::from_secs(600))
}

#[cfg(test)]
mod tests;
