//! Making what the model is shown smaller: first long outputs that are old, then a summary. Nothing
//! leaves the archive.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::{Conversation, RequestBody, TurnFailure};
use crate::{
    context::LONG_OUTPUT,
    events::{AgentEvent, TurnEnd},
    item::ItemBody,
    model::ViewMessage,
};

mod leave_out;

/// In one turn it is made smaller no more often than this.
const MAX_COMPACTIONS: u32 = 3;

/// Outputs of so many turns stay whole.
const WHOLE_TURNS: u64 = 2;

const SUMMARY_PROMPT: &str = "\
Sum up this conversation for yourself, so that you can go on with the work without seeing it: the task in \
the person's words; decisions and why; files that were changed, with the numbers of the calls; what failed \
and why; the next steps. Plain text, no calls, at most a page.";

impl Conversation {
    /// How full the window would be now, in percent of what can be used.
    fn percent(&self) -> u64 {
        self.percent_of(self.tokens_now())
    }

    fn percent_of(&self, tokens: u64) -> u64 {
        let profile = self.model.profile();
        let room = profile.window.saturating_sub(profile.output).max(1);
        tokens.saturating_mul(100) / room
    }

    pub(super) fn tokens_now(&self) -> u64 {
        self.measure.tokens(self.body().bytes.len())
    }

    /// Makes room where the next request would fill more than 80 % of the window. True when it had to.
    pub(super) async fn make_room(&mut self, next: &RequestBody) -> Result<bool, TurnFailure> {
        if self.percent_of(self.measure.tokens(next.bytes.len())) < 80 {
            return Ok(false);
        }
        let cancel = self.gate.run().cancel.clone();
        self.make_room_or_end(&cancel).await?;
        Ok(true)
    }

    /// Makes room, or ends the turn because there is none to be had.
    pub(super) async fn make_room_or_end(
        &mut self,
        cancel: &CancellationToken,
    ) -> Result<(), TurnFailure> {
        let before = self.tokens_now();
        if self.shorten_outputs().await? && self.percent() <= 50 {
            let after = self.tokens_now();
            self.tell(AgentEvent::Compacted { before, after, summary: None });
            return Ok(());
        }
        let full = || TurnFailure::Ended(TurnEnd::Limit("the model's window is full".to_owned()));
        if self.compactions >= MAX_COMPACTIONS {
            return Err(full());
        }
        self.compactions += 1;
        let summary = self.summarize(cancel).await?;
        let after = self.tokens_now();
        self.tell(AgentEvent::Compacted { before, after, summary: Some(summary) });
        if self.percent() > 60 {
            self.compactions = MAX_COMPACTIONS;
            if self.percent() >= 100 {
                return Err(full());
            }
        }
        Ok(())
    }

    /// On a person's word: whatever the window, outside of a turn.
    pub(super) async fn compact_now(&mut self) {
        let cancel = self.begin_turn();
        let before = self.tokens_now();
        let noted = self.note_unread().await;
        let done = match noted.and(self.shorten_outputs().await) {
            Ok(_) => self.summarize(&cancel).await,
            Err(err) => Err(err.into()),
        };
        match done {
            Ok(summary) => {
                let after = self.tokens_now();
                self.tell(AgentEvent::Compacted { before, after, summary: Some(summary) });
            }
            Err(TurnFailure::Archive(err)) => self.tell(AgentEvent::Notice(err.to_string())),
            Err(TurnFailure::Other(what) | TurnFailure::TooLong(what)) => {
                self.tell(AgentEvent::Notice(what));
            }
            Err(TurnFailure::Ended(TurnEnd::Limit(what))) => {
                self.tell(AgentEvent::Notice(format!("there is no summary: {what}")));
            }
            Err(TurnFailure::Ended(_)) => {
                self.tell(AgentEvent::Notice("the summary was interrupted".to_owned()));
            }
        }
    }

    /// Free and exact: long outputs that are older than two turns are shown as references. False
    /// when there is none.
    async fn shorten_outputs(&mut self) -> Result<bool, crate::transcript::TranscriptError> {
        let recent = self.turn.saturating_sub(WHOLE_TURNS);
        let cut = self.items.iter().find(|it| it.turn > recent).map_or(0, |it| it.seq);
        let known = self.items.iter().rev().find_map(|it| match it.body {
            ItemBody::Summary { text: None, cut } => Some(cut),
            _ => None,
        });
        let from = known.unwrap_or(0);
        let long = self.items.iter().any(|it| {
            it.seq >= from
                && it.seq < cut
                && matches!(&it.body, ItemBody::Answer(it) | ItemBody::LateAnswer(it) if it.output.len() > LONG_OUTPUT)
        });
        if long {
            self.keep(vec![(ItemBody::Summary { text: None, cut }, None)]).await?;
        }
        Ok(long)
    }

    /// One request without tools; what it says stands for everything before it.
    async fn summarize(&mut self, cancel: &CancellationToken) -> Result<String, TurnFailure> {
        // Calls and answers are told in words: providers refuse them where no tools are declared.
        let mut request = eclusa_models::in_words(&self.plain_request());
        let said = loop {
            let text = SUMMARY_PROMPT.to_owned();
            request.messages.push(Arc::new(ViewMessage::User { text, pictures: Vec::new() }));
            let body = RequestBody { bytes: self.model.body(&request), summary: true };
            match self.ask_boxed(body, cancel).await {
                Err(TurnFailure::TooLong(what)) => {
                    request.messages.pop();
                    if !leave_out::half(&mut request.messages) {
                        return Err(TurnFailure::TooLong(what));
                    }
                }
                other => break other?,
            }
        };
        let text = self.redacted(&said.text).0;
        if text.trim().is_empty() {
            return Err(TurnFailure::Other("the model gave no summary of the session".to_owned()));
        }
        // Everything is answered by now, so the cut lies where no call waits. What the person said
        // last is shown as it was.
        let last = self.items.last().map_or(0, |it| it.seq);
        let words = self.items.iter().rev().find(|it| matches!(it.body, ItemBody::Person { .. }));
        let cut = match words {
            Some(words) if words.seq == last => words.seq,
            _ => last + 1,
        };
        self.keep(vec![(ItemBody::Summary { text: Some(text.clone()), cut }, None)]).await?;
        Ok(text)
    }
}
