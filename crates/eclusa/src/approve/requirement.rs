//! Who must say yes to a question, and whether the answers so far are enough. Pure, so that the
//! queue that collects answers and the gate that runs the call come to the same.

use std::{collections::BTreeSet, fmt, time::Duration};

use serde_json::Value;

use crate::{Answer, Proof, SignedAnswer, Statement};

/// What a rule requires of the answers to its questions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    /// The people or groups whose yes counts; empty: everybody's.
    pub of: Vec<String>,
    /// So many different people must say yes.
    pub need: usize,
    /// How sure it must be who they are.
    pub with: Proof,
    /// Whoever asks does not count: the principal of the conversation.
    pub separate: bool,
    /// How long they may take.
    pub within: Option<Duration>,
    /// Who else may answer after a while.
    pub then: Vec<Escalation>,
}

/// Who else may answer once nobody has for a while. It widens who may answer and nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Escalation {
    /// So long after the question was asked.
    pub after: Duration,
    /// These people or groups.
    pub of: Vec<String>,
}

/// A yes, once it is known how sure it is whose it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vote {
    /// Who says it.
    pub person: String,
    /// The groups that they are in.
    pub groups: Vec<String>,
    /// How sure that is.
    pub proof: Proof,
    /// How long after the question was asked.
    pub waited: Duration,
}

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

impl Requirement {
    /// Whether these answers are enough.
    pub fn is_met(&self, votes: &[Vote], principal: &str) -> bool {
        let counting = votes.iter().filter(|it| self.refusal(it, principal).is_none());
        let people: BTreeSet<&str> = counting.map(|it| it.person.as_str()).collect();
        people.len() >= self.need.max(1)
    }

    /// Why the yes of this person does not count; `None` where it does.
    pub fn refusal(&self, vote: &Vote, principal: &str) -> Option<String> {
        let named = |it: &String| *it == vote.person || vote.groups.contains(it);
        let escalated = self.then.iter().filter(|it| it.after <= vote.waited);
        let mut may = self.of.iter().chain(escalated.flat_map(|it| &it.of));
        if !self.of.is_empty() && !may.any(named) {
            let later = self.then.iter().find(|it| it.of.iter().any(named));
            let later =
                later.map(|it| format!("; you can {} s after it was asked", it.after.as_secs()));
            let only = self.of.join(", ");
            return Some(format!("only {only} can answer this{}", later.unwrap_or_default()));
        }
        if self.separate && vote.person == principal {
            return Some("whoever asks cannot answer this".to_owned());
        }
        let (has, needs) = (vote.proof, self.with);
        (has < needs).then(|| match needs {
            Proof::Word => "this must be answered by a person".to_owned(),
            Proof::Key => "this must be answered with a key: on the page of `eclusa approvals \
                           serve`, or with `--key`"
                .to_owned(),
            Proof::Passkey => "this must be answered with a passkey: on the page of `eclusa \
                               approvals serve`"
                .to_owned(),
        })
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = if self.of.is_empty() { "anybody".to_owned() } else { self.of.join(", ") };
        write!(f, "{} of {of}", self.need.max(1))?;
        if self.with > Proof::Word {
            write!(f, ", with a {}", self.with.as_str())?;
        }
        if self.separate {
            f.write_str(", not whoever asks")?;
        }
        if let Some(within) = self.within {
            write!(f, ", within {} s", within.as_secs())?;
        }
        for it in &self.then {
            write!(f, ", after {} s also {}", it.after.as_secs(), it.of.join(", "))?;
        }
        Ok(())
    }
}

/// Whether this text is what this person signs to give this answer to this question of this queue,
/// alone or together with identical ones.
pub(crate) fn is_statement_of(text: &str, said: &Statement<'_>) -> bool {
    let body = text.split_once('\n').map_or("", |it| it.1);
    let Ok(body) = serde_json::from_str::<Value>(body) else { return false };
    let questions = body.get("questions").and_then(Value::as_array);
    let questions: Vec<u64> = questions.into_iter().flatten().filter_map(Value::as_u64).collect();
    let expires = body.get("expires").and_then(Value::as_u64).unwrap_or_default();
    // Written anew from what we know, and compared: nothing else can be in it.
    said.questions.iter().all(|it| questions.contains(it))
        && Statement { questions: &questions, expires, ..said.clone() }.text() == text
}

/// Whether an answer lets the call run as it is, so that it must meet what rules require.
pub(crate) fn opens(answer: &Answer) -> bool {
    answer.is_yes() && !matches!(answer, Answer::Edit(_))
}

#[cfg(test)]
mod tests;
