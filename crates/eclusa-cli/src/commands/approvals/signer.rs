//! Who says yes on the command line, and with which key.

use std::{path::PathBuf, time::Duration};

use eclusa::{
    Answer,
    approve::{
        Allowance, GivenAnswer, GivenVote, Proof, SignedAnswer, SignerDirectory as _, Statement,
        Vote,
    },
    audit::{Clock as _, SystemClock},
    store::ApprovalQueue,
};
use eclusa_app::signers::Signers;
use eclusa_approvals::KeyFile;

use super::failed;
use crate::{failure::Failure, paths::Paths, person};

/// How long a signed answer may take to reach the queue, in milliseconds.
const SIGNED_FOR: u64 = 60_000;

/// Whoever answers.
pub(in crate::commands) struct Signer {
    people: Signers,
    person: String,
    key: Option<(KeyFile, String)>,
}

impl Signer {
    /// The owner of the key, or whoever runs the command.
    pub(in crate::commands) fn open(
        paths: &Paths,
        file: Option<PathBuf>,
    ) -> Result<Signer, Failure> {
        let people = Signers::new(paths);
        let Some(file) = file else {
            return Ok(Signer { people, person: person::name(), key: None });
        };
        let key = KeyFile::open(&file).map_err(Failure::failed)?;
        let id = key.public(String::new(), 0).id;
        let person = people.owner(&id).ok_or_else(|| {
            Failure::refused(format!("key `{id}` is not registered"))
                .hint("`eclusa people add NAME --public ...` registers it")
        })?;
        Ok(Signer { people, person, key: Some((key, id)) })
    }

    /// A yes to these identical questions, if the yes of this person counts for them.
    pub(in crate::commands) async fn yes(
        &self,
        queue: &dyn ApprovalQueue,
        questions: Vec<u64>,
        answer: Answer,
    ) -> Result<GivenAnswer, Failure> {
        let proof = if self.key.is_some() { Proof::Key } else { Proof::Word };
        let (person, groups) = (self.person.clone(), self.people.groups(&self.person));
        let mut vote = Vote { person, groups, proof, waited: Duration::ZERO };
        let mut binding = None;
        for &id in &questions {
            let queued = queue.get(id).await.map_err(failed)?;
            let waited = SystemClock.unix_ms().saturating_sub(queued.created);
            vote.waited = Duration::from_millis(waited);
            let question = queued.question;
            if let Some(why) = question.refusal(&vote) {
                return Err(Failure::refused(format!("approval {id}: {why}")));
            }
            binding.get_or_insert(question.binding);
        }
        let mut signed = None;
        if let (Some((key, id)), Some(binding)) = (&self.key, &binding) {
            let name = queue.queue().await.map_err(failed)?;
            let statement = Statement {
                queue: &name,
                questions: &questions,
                binding,
                answer: &answer,
                person: &self.person,
                expires: SystemClock.unix_ms().saturating_add(SIGNED_FOR),
            };
            let statement = statement.text();
            let signature = key.sign(&statement);
            signed = Some(SignedAnswer { proof, key: id.clone(), statement, signature });
        }
        Ok(GivenAnswer { questions, answer, by: self.person.clone(), binding, signed })
    }

    /// Whose answers these are.
    pub(in crate::commands) fn person(&self) -> &str {
        &self.person
    }

    /// Agrees to an allowance.
    pub(in crate::commands) async fn agreement(
        &self,
        queue: &dyn ApprovalQueue,
        allowance: &Allowance,
    ) -> Result<GivenVote, Failure> {
        let mut signed = None;
        if let Some((key, id)) = &self.key {
            let name = queue.queue().await.map_err(failed)?;
            let statement = allowance.statement(&name, &self.person);
            let signature = key.sign(&statement);
            let (proof, key) = (Proof::Key, id.clone());
            signed = Some(SignedAnswer { proof, key, statement, signature });
        }
        Ok(GivenVote { by: self.person.clone(), signed, waited: Duration::ZERO })
    }
}
