//! The one place where an answer that a server carried becomes one that counts: its signature is that of a key which
//! counts here, over this question of this store, and it came in time. Whoever carried it is believed nothing.

use std::time::Duration;

use eclusa::{
    Answer,
    approve::{
        GivenAnswer, Requirement, SignedAnswer, SignerDirectory, Statement, Vote, end_statement,
        revoke_statement,
    },
};
use serde_json::Value;

use crate::mirror::CarriedAnswer;

/// A question as whoever checks an answer to it knows it: the machine from its queue, the server from its mirror.
#[derive(Debug, Clone)]
pub struct AskedQuestion<'a> {
    /// What the store calls itself.
    pub queue: &'a str,
    /// Its number there.
    pub id: u64,
    /// What an answer is bound to.
    pub binding: &'a str,
    /// Who asks.
    pub principal: &'a str,
    /// When it was asked, in milliseconds since 1970.
    pub created: u64,
    /// Who must answer.
    pub requirements: Vec<Requirement>,
    /// Whether all of it can be shown elsewhere.
    pub whole: bool,
}

/// An answer that counts. INVARIANT: it is made here alone, from a signature that was checked.
#[derive(Debug)]
pub struct FleetVote(GivenAnswer);

/// That a yes is taken back, or that a session ends, signed by somebody who may say so. INVARIANT: as above.
#[derive(Debug)]
pub struct FleetOrder {
    person: String,
}

impl FleetVote {
    /// Checks an answer. The error says in one sentence why it does not count.
    pub fn check(
        carried: &CarriedAnswer,
        asked: &AskedQuestion<'_>,
        people: &dyn SignerDirectory,
        now: u64,
    ) -> Result<FleetVote, String> {
        let answer = match carried.answer.as_str() {
            "once" => Answer::Once,
            "no" => Answer::No(carried.reason.clone()),
            other => {
                let other = other.escape_debug();
                return Err(format!("only a yes or a no comes through the fleet, not `{other}`"));
            }
        };
        let said = Statement {
            queue: asked.queue,
            questions: &[asked.id],
            binding: asked.binding,
            answer: &answer,
            person: &carried.person,
            expires: 0,
        };
        if !said.is_in(&carried.statement, 0) {
            return Err(other_statement(carried, asked));
        }
        in_time(&carried.statement, now)?;
        let signed = signed(carried, people)?;
        if answer.is_yes() {
            let waited = Duration::from_millis(now.saturating_sub(asked.created));
            let (person, groups) = (carried.person.clone(), people.groups(&carried.person));
            let vote = Vote { person, groups, proof: signed.proof, waited };
            let refusal = |it: &Requirement| it.refusal(&vote, asked.principal);
            if let Some(why) = asked.requirements.iter().find_map(refusal) {
                return Err(why);
            }
            if !asked.whole {
                return Err(
                    "not all of it could be shown elsewhere: a yes is given where it was asked"
                        .to_owned(),
                );
            }
        }
        Ok(FleetVote(GivenAnswer {
            questions: vec![asked.id],
            answer,
            by: carried.person.clone(),
            binding: Some(asked.binding.to_owned()),
            signed: Some(signed),
        }))
    }

    /// The answer, for the queue of the question.
    pub fn into_answer(self) -> GivenAnswer {
        self.0
    }

    /// The same, to be looked at.
    pub fn answer(&self) -> &GivenAnswer {
        &self.0
    }
}

impl FleetOrder {
    /// Checks that a yes to this question of this store is taken back by the person who is named.
    pub fn check_revoke(
        carried: &CarriedAnswer,
        (queue, question): (&str, u64),
        people: &dyn SignerDirectory,
        now: u64,
    ) -> Result<FleetOrder, String> {
        let text = revoke_statement(queue, question, &carried.person, carried.expires);
        FleetOrder::check(carried, &text, people, now)
    }

    /// Checks that the person who is named ends this session of this store.
    pub fn check_end(
        carried: &CarriedAnswer,
        (queue, session): (&str, &str),
        people: &dyn SignerDirectory,
        now: u64,
    ) -> Result<FleetOrder, String> {
        let text = end_statement(queue, session, &carried.person, carried.expires);
        FleetOrder::check(carried, &text, people, now)
    }

    fn check(
        carried: &CarriedAnswer,
        text: &str,
        people: &dyn SignerDirectory,
        now: u64,
    ) -> Result<FleetOrder, String> {
        if carried.statement != text {
            return Err("what was signed says something else".to_owned());
        }
        in_time(&carried.statement, now)?;
        signed(carried, people)?;
        Ok(FleetOrder { person: carried.person.clone() })
    }

    /// Who says so.
    pub fn person(&self) -> &str {
        &self.person
    }
}

/// What a key that counts here signed, and how sure it is whose key it is. What the answer says of that counts for nothing.
fn signed(carried: &CarriedAnswer, people: &dyn SignerDirectory) -> Result<SignedAnswer, String> {
    let signed = carried.signed();
    let proof = people.verify(&carried.person, &signed).ok_or_else(|| {
        let person = carried.person.escape_debug();
        format!("no key of `{person}` in the people document in force signed it")
    })?;
    Ok(SignedAnswer { proof, ..signed })
}

fn field(statement: &str, name: &str) -> Option<Value> {
    let body = statement.split_once('\n')?.1;
    serde_json::from_str::<Value>(body).ok()?.get(name).cloned()
}

fn in_time(statement: &str, now: u64) -> Result<(), String> {
    let expires = field(statement, "expires").and_then(|it| it.as_u64()).unwrap_or(0);
    match expires > now {
        true => Ok(()),
        false => Err("it came too late: what was signed has expired".to_owned()),
    }
}

/// In which way what was signed is not about this question. It is refused whatever is found here.
fn other_statement(carried: &CarriedAnswer, asked: &AskedQuestion<'_>) -> String {
    let is = |name: &str, value: Value| field(&carried.statement, name) == Some(value);
    let several = field(&carried.statement, "queue").is_none();
    let what = if !several && !is("queue", asked.queue.into()) {
        "it was signed for another store"
    } else if !is("binding", asked.binding.into()) {
        "it was signed for another binding: what would run is not what was shown"
    } else if !is("person", carried.person.as_str().into()) {
        "somebody else signed it"
    } else if !is("answer", carried.answer.as_str().into()) {
        "another answer was signed"
    } else {
        "it was signed for another question, or with other words"
    };
    what.to_owned()
}

#[cfg(test)]
mod tests;
