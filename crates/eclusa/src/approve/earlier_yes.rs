//! Somebody who said yes to running a call before it came to this gate.

use futures::future::BoxFuture;

use super::{Answer, Approver, NotAsked, Question, QuestionAbout};

/// A yes to running a call, given elsewhere: by a ticket, or by typing the command. It answers
/// questions about running, once, and none about changes or hosts, which nobody had seen then.
pub struct EarlierYes<F> {
    name: &'static str,
    covers: F,
}

impl<F: Fn(&Question) -> bool + Send + Sync> EarlierYes<F> {
    /// A yes under this name in records, for those questions about running that it covers.
    pub fn to_running(name: &'static str, covers: F) -> EarlierYes<F> {
        EarlierYes { name, covers }
    }
}

impl<F: Fn(&Question) -> bool + Send + Sync> Approver for EarlierYes<F> {
    fn name(&self) -> &str {
        self.name
    }

    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Result<Answer, NotAsked>> {
        Box::pin(async move {
            let covered = match question.about {
                QuestionAbout::Running => (self.covers)(question),
                QuestionAbout::Changes(_)
                | QuestionAbout::Hosts(_)
                | QuestionAbout::Signature(..) => false,
            };
            match covered {
                true => Ok(Answer::Once),
                false => Err(NotAsked::Unavailable("the earlier yes does not cover it".to_owned())),
            }
        })
    }
}
