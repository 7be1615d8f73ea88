//! Asking the model: on record before it is sent, streamed, sent again where that may help.

use eclusa::{Redactor, audit::SentRequest, redact::RedactedStream};
use futures::future::BoxFuture;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{Conversation, RequestBody, TurnFailure};
use crate::{
    events::{AgentEvent, TurnEnd},
    item::ItemBody,
    model::{Delta, ModelError, ModelErrorKind, ModelReply},
    retry::Retries,
};

impl Conversation {
    /// Asks for the next message: it comes whole or not at all. What was said until an
    /// interruption is kept; a call or a thought that was cut off is not.
    pub(super) async fn ask(
        &mut self,
        request: RequestBody,
        cancel: &CancellationToken,
    ) -> Result<ModelReply, TurnFailure> {
        match self.ask_heard(request, cancel).await? {
            Ok(reply) => Ok(reply),
            Err(heard) => {
                if !heard.trim().is_empty() {
                    let text = self.redacted(&heard).0;
                    self.last_text.clone_from(&text);
                    self.keep(vec![(ItemBody::Partial { text }, None)]).await?;
                }
                Err(TurnFailure::Ended(TurnEnd::Interrupted))
            }
        }
    }

    /// The same, for whoever is asked to sum up while something else is asked.
    pub(super) fn ask_boxed<'a>(
        &'a mut self,
        request: RequestBody,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<ModelReply, TurnFailure>> {
        Box::pin(self.ask(request, cancel))
    }

    /// The reply, or what had come of it when the turn was interrupted.
    async fn ask_heard(
        &mut self,
        mut request: RequestBody,
        cancel: &CancellationToken,
    ) -> Result<Result<ModelReply, String>, TurnFailure> {
        let mut retries = Retries::default();
        let mut shortened = false;
        loop {
            let bytes = request.bytes.len();
            // The first request of a turn's step was counted where its limits were looked at.
            if !std::mem::take(&mut self.reserved)
                && let Some(limit) = self.reserve(&request)
            {
                return Err(TurnFailure::Ended(TurnEnd::Limit(limit)));
            }
            self.reserved = false;
            self.record_sent(&request.bytes).await?;
            let mut words = WordsShown::new(self);
            let model = self.model.clone();
            let asked = {
                let mut hear = |delta: Delta| words.take(delta);
                tokio::select! {
                    biased;
                    () = cancel.cancelled() => None,
                    asked = model.ask(request.bytes.clone(), &mut hear) => Some(asked),
                }
            };
            let heard = words.finish();
            let err = match asked {
                None => return Ok(Err(heard)),
                Some(Ok(reply)) => {
                    self.measure.learn(bytes, &reply.usage);
                    self.count(&reply.usage);
                    return Ok(Ok(reply));
                }
                Some(Err(err)) => err,
            };
            let why = self.redacted(&err.what).0;
            match err.kind {
                // Whoever wants the summary knows what can be left out of it.
                ModelErrorKind::TooLong if request.summary => {
                    return Err(TurnFailure::TooLong(why));
                }
                ModelErrorKind::TooLong if !shortened => {
                    shortened = true;
                    self.make_room_or_end(cancel).await?;
                    request = self.body();
                    continue;
                }
                _ => {}
            }
            let failed = |err: ModelError| TurnFailure::Other(err.what);
            let wait = retries.after(ModelError { what: why.clone(), ..err }).map_err(failed)?;
            self.tell(AgentEvent::Retry { why, wait });
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = cancel.cancelled() => return Ok(Err(String::new())),
            }
        }
    }

    /// What leaves the machine is an effect: it is on record first.
    async fn record_sent(&mut self, body: &[u8]) -> Result<(), TurnFailure> {
        let sha256 = self.sent.sha256(body);
        let profile = self.model.profile();
        let sent =
            SentRequest { model: &profile.model, host: &profile.host, bytes: body.len(), sha256 };
        let recorded = self.gate.record_sent(&sent).await;
        recorded.map(drop).map_err(|err| {
            TurnFailure::Other(format!("the log cannot be written ({err}), so nothing was sent"))
        })
    }
}

/// The model's words while they come: whoever watches sees them without secrets.
struct WordsShown {
    events: mpsc::UnboundedSender<AgentEvent>,
    heard: String,
    text: RedactedStream,
    thoughts: RedactedStream,
}

impl WordsShown {
    fn new(conversation: &Conversation) -> WordsShown {
        let stream = || RedactedStream::new(Redactor::clone(conversation.gate.redactor()));
        WordsShown {
            events: conversation.events.clone(),
            heard: String::new(),
            text: stream(),
            thoughts: stream(),
        }
    }

    fn take(&mut self, delta: Delta) {
        match delta {
            Delta::Text(text) => {
                self.heard.push_str(&text);
                let shown = self.text.push(&text);
                self.show(AgentEvent::Text, shown);
            }
            Delta::Thought(text) => {
                let shown = self.thoughts.push(&text);
                self.show(AgentEvent::Thought, shown);
            }
        }
    }

    fn show(&self, event: fn(String) -> AgentEvent, shown: String) {
        if !shown.is_empty() {
            // An error means that nobody watches.
            drop(self.events.send(event(shown)));
        }
    }

    /// Shows what was held back, and returns all that was heard of the answer.
    fn finish(mut self) -> String {
        let (thoughts, text) = (self.thoughts.finish(), self.text.finish());
        self.show(AgentEvent::Thought, thoughts);
        self.show(AgentEvent::Text, text);
        self.heard
    }
}
