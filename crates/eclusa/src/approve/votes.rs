//! A yes as a queue hands it over, and what it takes to know whose it is.

use std::time::Duration;

use serde_json::Value;

use crate::{Answer, Proof, SignedAnswer, Statement};

/// A yes as a queue hands it over: nobody has checked the signature yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenVote {
    /// Who is said to have given it.
    pub by: String,
    /// The signature, where there is one.
    pub signed: Option<SignedAnswer>,
    /// How long after the question was asked.
    pub waited: Duration,
}

/// The people whose keys are known where calls run.
pub trait SignerDirectory: Send + Sync {
    /// How sure it is that this person signed exactly [`SignedAnswer::statement`]; `None` where no
    /// key that counts did.
    fn verify(&self, person: &str, signed: &SignedAnswer) -> Option<Proof>;

    /// The groups that a person is in.
    fn groups(&self, person: &str) -> Vec<String>;
}

/// Whether this text is what this person signs to give this answer to this question of this queue,
/// alone or together with identical ones.
///
/// One that was too old before `since`, in milliseconds since 1970, is none: whatever kept it, it was
/// not given to a question that still waits.
pub(crate) fn is_statement_of(text: &str, said: &Statement<'_>, since: u64) -> bool {
    let body = text.split_once('\n').map_or("", |it| it.1);
    let Ok(body) = serde_json::from_str::<Value>(body) else { return false };
    let questions = body.get("questions").and_then(Value::as_array);
    let questions: Vec<u64> = questions.into_iter().flatten().filter_map(Value::as_u64).collect();
    let expires = body.get("expires").and_then(Value::as_u64).unwrap_or_default();
    // Written anew from what we know, and compared: nothing else can be in it.
    expires >= since
        && said.questions.iter().all(|it| questions.contains(it))
        && Statement { questions: &questions, expires, ..said.clone() }.text() == text
}

/// Whether an answer lets the call run as it is, so that it must meet what rules require.
pub(crate) fn opens(answer: &Answer) -> bool {
    answer.is_yes() && !matches!(answer, Answer::Edit(_))
}

#[cfg(test)]
mod tests;
