//! A reverse thinker and a checkpoint outside this process. They get what reviewers get; what they
//! cannot say clearly keeps the call from running.

use std::time::Duration;

use eclusa::{
    Validated, Verdict,
    preflight::{Checkpoint, PreflightError, ReverseThinker, ReverseThinkingReport},
};
use eclusa_models::read_report;
use futures::future::BoxFuture;
use serde_json::{Value, json};

use super::{
    ExternalReviewer, ReviewerEndpoint, ReviewerOutput,
    answer::{self, ReviewerAnswer},
    said_by,
};

/// Somebody outside this process who is asked before a tool runs that demands it.
pub struct ExternalPreflight {
    /// Where they are.
    pub at: ReviewerEndpoint,
    /// How long they may take.
    pub time: Duration,
    /// Whether whoever runs the machine set them up.
    pub administrators: bool,
}

impl ExternalPreflight {
    async fn ask(&self, about: &Value) -> Result<ReviewerOutput, String> {
        let asking = async {
            match &self.at {
                ReviewerEndpoint::Command(program) => said_by(program, about).await,
                ReviewerEndpoint::Http(service) => {
                    service.post(about).await.map(ReviewerOutput::Text)
                }
            }
        };
        let said = tokio::time::timeout(self.time, asking).await;
        said.unwrap_or_else(|_elapsed| Err(format!("no answer within {:?}", self.time)))
    }
}

impl Checkpoint for ExternalPreflight {
    fn open<'a>(&'a self, call: &'a Validated) -> BoxFuture<'a, Result<(), PreflightError>> {
        Box::pin(async move {
            let said = self.ask(&ExternalReviewer::about(call, "checkpoint")).await?;
            let answer = match said {
                ReviewerOutput::Text(text) => answer::read(&text)?,
                ReviewerOutput::No(why) => return Err(why.into()),
            };
            match answer {
                ReviewerAnswer::Approve => Ok(()),
                ReviewerAnswer::Deny(why) => Err(why.into()),
                ReviewerAnswer::Note(_)
                | ReviewerAnswer::Ask(_)
                | ReviewerAnswer::Modify(_)
                | ReviewerAnswer::Merge(_) => {
                    Err("it neither approved nor denied, and a checkpoint does nothing else".into())
                }
            }
        })
    }
}

impl ReverseThinker for ExternalPreflight {
    fn is_administrators(&self) -> bool {
        self.administrators
    }

    fn think<'a>(
        &'a self,
        call: &'a Validated,
        verdict: &'a Verdict,
    ) -> BoxFuture<'a, Result<ReverseThinkingReport, PreflightError>> {
        Box::pin(async move {
            let mut about = ExternalReviewer::about(call, "reverse-thinking");
            if let Some(fields) = about.as_object_mut() {
                fields.insert("decision".to_owned(), verdict.decision.as_str().into());
                fields.insert("because".to_owned(), json!(verdict.why()));
            }
            match self.ask(&about).await? {
                ReviewerOutput::Text(text) => Ok(read_report(&text)?),
                ReviewerOutput::No(why) => Err(why.into()),
            }
        })
    }
}
