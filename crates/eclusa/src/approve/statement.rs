//! What whoever answers a question signs: one text that says everything the answer opens.

use serde_json::json;

use crate::{Answer, Hash, Proof};

/// What an answer says, as it is signed.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement<'a> {
    /// The queue that the questions wait in: an answer for one queue is none for another.
    pub queue: &'a str,
    /// The questions, by number. All have the same binding.
    pub questions: &'a [u64],
    /// What the call is bound to.
    pub binding: &'a str,
    /// The answer.
    pub answer: &'a Answer,
    /// Who gives it.
    pub person: &'a str,
    /// When it is too late to use it, in milliseconds since 1970.
    pub expires: u64,
}

impl Statement<'_> {
    /// The text that is signed: a headline, and canonical JSON (RFC 8785).
    pub fn text(&self) -> String {
        let (edit, reason) = match self.answer {
            Answer::Edit(args) => (Some(crate::digest(args).to_string()), None),
            Answer::Only(paths) => (Some(crate::digest(&json!(paths)).to_string()), None),
            Answer::No(why) | Answer::Instead(why) => {
                (None, Some(Hash::sha256(why.as_bytes()).to_string()))
            }
            Answer::Once
            | Answer::Session
            | Answer::Edits
            | Answer::Review
            | Answer::Always
            | Answer::Abort => (None, None),
        };
        // In alphabetical order; numbers are integers below 2^53.
        let body = json!({
            "answer": self.answer.word(),
            "binding": self.binding,
            "edit_sha256": edit,
            "expires": self.expires,
            "person": self.person,
            "questions": self.questions,
            "queue": self.queue,
            "reason_sha256": reason,
        });
        format!("eclusa answer v1\n{body}")
    }
}

/// An answer with the signature of whoever gave it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedAnswer {
    /// How sure it is who gave it.
    pub proof: Proof,
    /// Which of the person's keys.
    pub key: String,
    /// The text that was signed: see [`Statement::text`].
    pub statement: String,
    /// The signature, and what a passkey says besides.
    pub signature: String,
}
