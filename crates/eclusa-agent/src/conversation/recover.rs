//! Resuming runs nothing: a call without an answer is answered by what the log knows of it.

use super::Conversation;
use crate::{
    item::{AnswerItem, ItemBody, TranscriptItem},
    transcript::{ArchiveError, CallFate, TranscriptStore},
};

/// Calls that were kept and not answered, with the end of the log when they were kept.
fn unanswered(items: &[TranscriptItem]) -> Vec<(String, String, u64)> {
    let mut open: Vec<(String, String, u64)> = Vec::new();
    for item in items {
        match &item.body {
            ItemBody::Call { id, name, .. } => {
                open.push((id.clone(), name.clone(), item.log_at.unwrap_or_default()));
            }
            ItemBody::Answer(answer) => open.retain(|(id, ..)| *id != answer.id),
            _ => {}
        }
    }
    open
}

/// Answers for calls of this conversation that have none: what the log knows, and nothing is run.
pub(super) fn lost_answers(
    store: &dyn TranscriptStore,
    conversation: &str,
    items: &[TranscriptItem],
) -> Result<Vec<ItemBody>, ArchiveError> {
    let mut answers = Vec::new();
    for (id, tool, log_at) in unanswered(items) {
        let (code, number, error) = match store.fate(conversation, &id, log_at)? {
            CallFate::NotRun => (
                "interrupted",
                None,
                "the session ended before this call: it was not run".to_owned(),
            ),
            CallFate::Ended { code, number } => (
                "output_lost",
                Some(number),
                format!(
                    "the session ended before this answer: the call ran and ended with `{code}`, its changes are call {number} of the log, its output is lost; do not repeat it"
                ),
            ),
            CallFate::Started { number } => (
                "may_have_run",
                Some(number),
                format!(
                    "the session ended while this call ran (call {number} of the log): it may have happened; look first, and do not simply repeat it"
                ),
            ),
        };
        answers.push(ItemBody::Answer(AnswerItem {
            id,
            tool,
            error: Some(error),
            code: code.to_owned(),
            number,
            ..AnswerItem::default()
        }));
    }
    Ok(answers)
}

impl Conversation {
    /// Answers what was left open, before anything else happens. True when something was.
    pub(super) async fn recover(&mut self) -> Result<bool, ArchiveError> {
        let answers = lost_answers(&*self.store, &self.head.id, &self.items)?;
        let any = !answers.is_empty();
        if any {
            self.keep(answers.into_iter().map(|it| (it, None)).collect()).await?;
        }
        Ok(any)
    }
}
