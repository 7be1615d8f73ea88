//! Resuming runs nothing: a call without an answer is answered by what the log knows of it.

use super::{
    Conversation,
    approvals::{not_applied_yet, not_run_yet},
};
use crate::{
    item::{AnswerItem, ItemBody, TaskOrigin, TranscriptItem},
    transcript::{CallFate, TranscriptError, TranscriptStore},
};

/// A call that was kept and not answered.
struct OpenCall<'a> {
    id: &'a str,
    tool: &'a str,
    /// The end of the log when it was kept.
    log_at: u64,
    /// Where it is on record, if that is another conversation.
    task: Option<&'a TaskOrigin>,
    /// It had waited for a person before.
    resumed: bool,
}

fn unanswered(items: &[TranscriptItem]) -> Vec<OpenCall<'_>> {
    let mut open: Vec<OpenCall<'_>> = Vec::new();
    let mut origin = None;
    for item in items {
        match &item.body {
            ItemBody::Opened { task, .. } => origin = task.as_ref(),
            ItemBody::Call { id, name, .. } | ItemBody::Resumed { id, name, .. } => {
                open.push(OpenCall {
                    id,
                    tool: name,
                    log_at: item.log_at.unwrap_or_default(),
                    task: origin,
                    resumed: matches!(item.body, ItemBody::Resumed { .. }),
                });
            }
            ItemBody::Answer(answer) | ItemBody::LateAnswer(answer) => {
                open.retain(|it| it.id != answer.id);
            }
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
) -> Result<Vec<ItemBody>, TranscriptError> {
    let mut answers = Vec::new();
    for call in unanswered(items) {
        let fate = match call.task {
            Some(task) => {
                let recorded = format!("{}{}", task.prefix, call.id);
                store.fate(&task.conversation, &recorded, call.log_at)?
            }
            None => store.fate(conversation, call.id, call.log_at)?,
        };
        let mut waits_for = None;
        let (code, number, error) = match fate {
            CallFate::NotRun => (
                "interrupted",
                None,
                "the session ended before this call: it was not run".to_owned(),
            ),
            CallFate::Parked { approval, number, ran } => {
                waits_for = Some(approval);
                let told = if ran { not_applied_yet } else { not_run_yet };
                ("parked", Some(number), told(approval))
            }
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
        let answer = AnswerItem {
            id: call.id.to_owned(),
            tool: call.tool.to_owned(),
            error: Some(error),
            code: code.to_owned(),
            number,
            approval: waits_for,
            ..AnswerItem::default()
        };
        answers.push(match call.resumed {
            true => ItemBody::LateAnswer(answer),
            false => ItemBody::Answer(answer),
        });
    }
    Ok(answers)
}

impl Conversation {
    /// Answers what was left open, before anything else happens. True when something was.
    pub(super) async fn recover(&mut self) -> Result<bool, TranscriptError> {
        let answers = lost_answers(&*self.store, &self.head.id, &self.items)?;
        let any = !answers.is_empty();
        if any {
            self.keep(answers.into_iter().map(|it| (it, None)).collect()).await?;
        }
        Ok(any)
    }
}
