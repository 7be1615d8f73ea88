//! A yes as a queue hands it over, and what it takes to know whose it is.

use std::time::Duration;

use crate::{Answer, Proof, SignedAnswer};

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

/// Whether an answer lets the call run as it is, so that it must meet what rules require.
pub(crate) fn opens(answer: &Answer) -> bool {
    answer.is_yes() && !matches!(answer, Answer::Edit(_))
}
