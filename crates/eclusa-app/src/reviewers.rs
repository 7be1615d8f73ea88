//! Reviewers from configuration: a program or a service that reads calls and outputs.
//!
//! Both get the same JSON and answer in the same words. What they cannot say clearly is a no,
//! unless the configuration says otherwise for this one reviewer.

use std::time::Duration;

use eclusa::{
    Output, Policy as _, Review, Reviewer, Rules, Source, Validated, review::ReviewError,
};
use eclusa_config::ReviewerSettings;
use futures::future::BoxFuture;
use serde_json::{Value, json};

use crate::spawn::{Program, Streams};
use answer::ReviewerAnswer;
use service::Service;

pub mod answer;
mod configured;
mod model_thinker;
pub mod preflight;
pub mod service;

pub use configured::{checkpoint, configured, reverse_thinker};

/// A reviewer outside this process.
pub struct ExternalReviewer {
    /// What was configured of it.
    pub settings: ReviewerSettings,
    /// How long it may think.
    pub time: Duration,
    /// Where it is.
    pub at: ReviewerEndpoint,
    /// What applies to the calls that it reads, where it reads those about some files alone.
    pub about: Option<Rules>,
}

/// Where a reviewer is.
pub enum ReviewerEndpoint {
    /// A program: JSON on stdin, exit code and JSON back.
    Command(Program),
    /// A service: JSON posted, JSON back.
    Http(Service),
}

/// How much longer the gate waits than we do, so that it is we who say what a time-out means.
const SLACK: Duration = Duration::from_secs(2);

impl ExternalReviewer {
    /// Puts something to the reviewer. An error, or silence, is a no unless configured otherwise.
    async fn consult(&self, about: Value) -> Result<ReviewerAnswer, ReviewError> {
        let asking = async {
            match &self.at {
                ReviewerEndpoint::Command(program) => by_program(program, &about).await,
                ReviewerEndpoint::Http(service) => service.consult(&about).await,
            }
        };
        let said = tokio::time::timeout(self.time, asking)
            .await
            .unwrap_or_else(|_elapsed| Err(format!("no answer within {:?}", self.time)));
        match said {
            Ok(said) => Ok(said),
            Err(what) if self.settings.allow_on_error => {
                tracing::warn!(
                    reviewer = self.settings.name,
                    "let pass although it failed: {what}"
                );
                Ok(ReviewerAnswer::Note(format!("let pass although it failed: {what}")))
            }
            Err(what) => Err(ReviewError(what)),
        }
    }

    /// What is said without asking it: it only observes, or the call is not about its files.
    fn without_asking<T>(
        &self,
        call: &Validated,
        about: impl FnOnce() -> Value,
    ) -> Option<Review<T>> {
        let applies =
            |it: &Rules| it.judge(&call.view()).because.iter().any(|it| it.source == Source::Rule);
        if !self.about.as_ref().is_none_or(applies) {
            return Some(Review::Note("it is not about its files".to_owned()));
        }
        let (true, ReviewerEndpoint::Command(program)) = (self.settings.observes, &self.at) else {
            return None;
        };
        let started = program.start_beside(format!("{}\n", about()).as_bytes());
        let said = started.map_or_else(
            |err| format!("it does not observe: {err}"),
            |()| "it observes".to_owned(),
        );
        Some(Review::Note(said))
    }

    fn about(call: &Validated, on: &str) -> Value {
        let mut about = json!({
            "v": 1,
            "on": on,
            "id": call.id(),
            "tool": call.name(),
            "class": call.class().as_str(),
            "args": call.args(),
        });
        if let (Some(reason), Some(fields)) = (call.reason(), about.as_object_mut()) {
            fields.insert("reason".to_owned(), reason.into());
        }
        about
    }
}

impl Reviewer for ExternalReviewer {
    fn name(&self) -> &str {
        &self.settings.name
    }

    fn reads(&self, tool: &str) -> bool {
        self.settings.covers(tool)
    }

    fn time(&self) -> Option<Duration> {
        Some(self.time + SLACK)
    }

    fn is_administrators(&self) -> bool {
        self.settings.administrators
    }

    fn input<'a>(
        &'a self,
        call: &'a Validated,
    ) -> BoxFuture<'a, Result<Review<Value>, ReviewError>> {
        Box::pin(async move {
            if !self.settings.on.input() {
                return Ok(Review::Approve);
            }
            let about = || ExternalReviewer::about(call, "input");
            match self.without_asking(call, about) {
                Some(said) => Ok(said),
                None => self.consult(about()).await?.about_input(),
            }
        })
    }

    fn output<'a>(
        &'a self,
        call: &'a Validated,
        output: &'a Output,
    ) -> BoxFuture<'a, Result<Review<Output>, ReviewError>> {
        Box::pin(async move {
            if !self.settings.on.output() {
                return Ok(Review::Approve);
            }
            let about = || {
                let mut about = ExternalReviewer::about(call, "output");
                if let Some(fields) = about.as_object_mut() {
                    let output = json!({
                        "text": output.text,
                        "data": output.data,
                        "error": output.error,
                    });
                    fields.insert("output".to_owned(), output);
                }
                about
            };
            match self.without_asking(call, about) {
                Some(said) => Ok(said),
                None => self.consult(about()).await?.about_output(),
            }
        })
    }
}

/// The exit code comes first: 0 has something to say, 2 says no, anything else is a failure.
async fn by_program(program: &Program, about: &Value) -> Result<ReviewerAnswer, String> {
    match said_by(program, about).await? {
        ReviewerOutput::Text(text) => answer::read(&text),
        ReviewerOutput::No(why) => Ok(ReviewerAnswer::Deny(why)),
    }
}

/// What a program said.
enum ReviewerOutput {
    /// This, on its output.
    Text(String),
    /// No, by its exit code.
    No(String),
}

async fn said_by(program: &Program, about: &Value) -> Result<ReviewerOutput, String> {
    let input = format!("{about}\n").into_bytes();
    let ended = program.run(input, Streams::Apart).await.map_err(|err| err.to_string())?;
    match ended.code {
        Some(0) => Ok(ReviewerOutput::Text(ended.out)),
        Some(2) => Ok(ReviewerOutput::No(match ended.err.trim() {
            "" => "not approved".to_owned(),
            why => shortened(why),
        })),
        _ => Err(match ended.err.trim() {
            "" => format!("it ended with {}", ended.how()),
            what => format!("it ended with {}: {}", ended.how(), shortened(what)),
        }),
    }
}

/// A reason that a model and a log can bear.
fn shortened(text: &str) -> String {
    const MAX_REASON: usize = 2_000;
    let end = text.floor_char_boundary(MAX_REASON);
    match text.get(..end) {
        Some(start) if end < text.len() => format!("{start}…"),
        _ => text.to_owned(),
    }
}
