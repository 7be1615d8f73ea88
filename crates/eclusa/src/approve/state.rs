//! The states of a question in an approval queue, and every way from one to another. Pure, so that
//! every store does the same.

use crate::words;

/// How a question in an approval queue stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum QuestionState {
    /// Nobody has answered yet.
    Pending,
    /// Somebody said yes, and nobody has run the call yet.
    Approved,
    /// Somebody said no.
    Rejected,
    /// Nobody answered in time, or nobody came for the yes in time.
    Expired,
    /// Whoever asked took the question back.
    Withdrawn,
    /// Whoever said yes took it back before it was used.
    Revoked,
    /// The yes was handed to whoever asked: it opens nothing any more.
    Taken,
}

/// What can happen to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum QuestionEvent {
    /// Somebody says yes.
    Yes,
    /// Somebody says no, or ends the turn.
    No,
    /// Whoever asked takes it back.
    Withdraw,
    /// Whoever asked comes for the answer.
    Take {
        /// Whether it is the asker that holds the question now.
        holder: bool,
    },
    /// Somebody takes their yes back.
    Revoke,
}

/// When a question ends by itself, in milliseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuestionTimes {
    /// When it is too late to answer.
    pub expires: u64,
    /// When it was answered.
    pub decided: Option<u64>,
    /// For how many milliseconds a yes can be used.
    pub valid: u64,
}

impl QuestionState {
    /// The state at this moment: what is over is over, whether or not a store has noted it.
    #[must_use]
    pub fn at(self, now: u64, times: QuestionTimes) -> QuestionState {
        let valid_until = times.decided.map(|it| it.saturating_add(times.valid));
        match self {
            QuestionState::Pending if times.expires <= now => QuestionState::Expired,
            QuestionState::Approved if valid_until.is_none_or(|it| it <= now) => {
                QuestionState::Expired
            }
            other => other,
        }
    }

    /// The state after this event; `None` where the event changes nothing, and counts for nothing.
    ///
    /// INVARIANT: `self` is the state at the moment of the event ([`QuestionState::at`]).
    #[must_use]
    pub fn after(self, event: QuestionEvent) -> Option<QuestionState> {
        match (self, event) {
            (QuestionState::Pending, QuestionEvent::Yes) => Some(QuestionState::Approved),
            (QuestionState::Pending, QuestionEvent::No) => Some(QuestionState::Rejected),
            (QuestionState::Pending, QuestionEvent::Withdraw) => Some(QuestionState::Withdrawn),
            (QuestionState::Approved, QuestionEvent::Take { holder: true }) => {
                Some(QuestionState::Taken)
            }
            (QuestionState::Approved, QuestionEvent::Revoke) => Some(QuestionState::Revoked),
            _ => None,
        }
    }

    /// Whether somebody may still come for it: it waits for an answer, or for its asker.
    pub fn is_open(self) -> bool {
        matches!(self, QuestionState::Pending | QuestionState::Approved)
    }
}

words! {
    QuestionState, "a state of a question":
    Pending = "pending",
    Approved = "approved",
    Rejected = "rejected",
    Expired = "expired",
    Withdrawn = "withdrawn",
    Revoked = "revoked",
    Taken = "taken",
}

#[cfg(test)]
mod tests;
