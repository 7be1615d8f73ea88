//! What a rule requires of the answers to its questions, and whether a yes counts. Pure, so that the
//! queue that collects answers and the gate that runs the call come to the same.

use std::{collections::BTreeSet, fmt, time::Duration};

use crate::words;

/// How sure it is who answered, from weak to strong.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Proof {
    /// Somebody who can write to the queue says so: a terminal, a webhook.
    #[default]
    Word,
    /// A key signed it that was registered for the person before.
    Key,
    /// A passkey signed it, after it had verified its person.
    Passkey,
}

words! {
    Proof, "a proof": Word = "word", Key = "key", Passkey = "passkey",
}

/// What a rule requires of the answers to its questions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    /// The people or groups whose yes counts; empty: everybody's.
    pub of: Vec<String>,
    /// So many different people must say yes.
    pub need: usize,
    /// How sure it must be who they are.
    pub with: Proof,
    /// Whoever asks does not count: the principal of the session.
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
            return Some("the requester cannot approve it".to_owned());
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
            f.write_str(", not the requester")?;
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

#[cfg(test)]
mod tests;
