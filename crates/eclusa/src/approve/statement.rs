//! What whoever answers a question signs: one text that says everything the answer opens.

use serde_json::{Value, json};

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
        let (edit, reason) = self.digests();
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
        format!("{FIRST}\n{body}")
    }

    /// The text that is signed for identical questions of several queues, each named by its queue and its number. It
    /// says nothing of [`Statement::queue`] and [`Statement::questions`].
    pub fn text_of_several(&self, questions: &[(String, u64)]) -> String {
        let (edit, reason) = self.digests();
        let body = json!({
            "answer": self.answer.word(),
            "binding": self.binding,
            "edit_sha256": edit,
            "expires": self.expires,
            "person": self.person,
            "questions": questions,
            "reason_sha256": reason,
        });
        format!("{SEVERAL}\n{body}")
    }

    /// Whether this text is what this person signs to give this answer to these questions of this queue, alone or
    /// together with identical ones. [`Statement::expires`] is taken from the text.
    ///
    /// One that was too old before `since`, in milliseconds since 1970, is none: whatever kept it, it was not given to a
    /// question that still waits.
    pub fn is_in(&self, text: &str, since: u64) -> bool {
        let (headline, body) = text.split_once('\n').unwrap_or_default();
        let Ok(body) = serde_json::from_str::<Value>(body) else { return false };
        let expires = body.get("expires").and_then(Value::as_u64).unwrap_or_default();
        let questions = body.get("questions").and_then(Value::as_array).into_iter().flatten();
        let said = Statement { expires, ..self.clone() };
        // Written anew from what we know, and compared: nothing else can be in it.
        let written = if headline == SEVERAL {
            let named = |it: &Value| serde_json::from_value::<(String, u64)>(it.clone()).ok();
            let named: Vec<(String, u64)> = questions.filter_map(named).collect();
            let is_named = |id: &u64| named.iter().any(|it| it.0 == self.queue && it.1 == *id);
            let all = named.len() <= MAX_SEVERAL && self.questions.iter().all(is_named);
            all.then(|| said.text_of_several(&named))
        } else {
            let named: Vec<u64> = questions.filter_map(Value::as_u64).collect();
            let all = self.questions.iter().all(|it| named.contains(it));
            all.then(|| Statement { questions: &named, ..said }.text())
        };
        expires >= since && written.as_deref() == Some(text)
    }

    /// The digests of what the answer says besides its word: what is run or applied instead, and a person's words.
    fn digests(&self) -> (Option<String>, Option<String>) {
        match self.answer {
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
        }
    }
}

/// How the text for questions of one queue begins, and the text for those of several.
const FIRST: &str = "eclusa answer v1";
const SEVERAL: &str = "eclusa answer v2";

/// So many questions of several queues are answered at once at most.
const MAX_SEVERAL: usize = 200;

/// What whoever takes a yes back signs.
pub fn revoke_statement(queue: &str, question: u64, person: &str, expires: u64) -> String {
    let body = json!({"expires": expires, "person": person, "question": question, "queue": queue});
    format!("eclusa revoke v1\n{body}")
}

/// What whoever ends a session signs.
pub fn end_statement(queue: &str, session: &str, person: &str, expires: u64) -> String {
    let body = json!({
        "conversation": session, "expires": expires, "person": person, "queue": queue,
    });
    format!("eclusa end v1\n{body}")
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

#[cfg(test)]
mod tests;
