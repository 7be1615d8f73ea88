//! Calls that wait for a person who is not here: the model is told, and when somebody has answered
//! they pass the whole gate again and what came of them enters the conversation.

use std::time::Duration;

use eclusa::{
    Run, ToolCall,
    approve::{QuestionState, QueueError, QueuedQuestion},
    workspace::PendingOutcome,
};
use tokio_util::sync::CancellationToken;

use super::{Conversation, TurnFailure};
use crate::{
    events::{AgentEvent, CallOutcome, TurnEnd},
    item::{AnswerItem, ItemBody, TranscriptItem},
    task_parent,
};

/// How often an idle conversation looks for answers, while something waits for one.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// What the model is told of a call that waits.
pub(super) fn not_run_yet(approval: u64) -> String {
    format!(
        "this call waits for a person (approval {approval}) and has not run; its result will come here \
        once it is answered: do not repeat it, continue with work that does not need it, or end the turn"
    )
}

/// What the model is told of a call that ran, and whose changes wait.
pub(super) fn not_applied_yet(approval: u64) -> String {
    format!(
        "ran; its changes wait for approval {approval} and are not applied; the outcome will come here \
        once it is answered: do not repeat the call, continue with work that does not need it, or end \
        the turn"
    )
}

/// A call that waits for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitingCall {
    /// The id that it passed under.
    pub id: String,
    /// The tool.
    pub tool: String,
    /// The pending approval.
    pub approval: u64,
}

/// The calls that wait, oldest first.
pub(super) fn waiting(items: &[TranscriptItem]) -> Vec<WaitingCall> {
    let mut waiting: Vec<WaitingCall> = Vec::new();
    for item in items {
        match &item.body {
            ItemBody::Answer(it) | ItemBody::LateAnswer(it) => {
                let (id, tool) = (it.id.clone(), it.tool.clone());
                waiting.extend(it.approval.map(|approval| WaitingCall { id, tool, approval }));
            }
            ItemBody::Resumed { approval, .. } => waiting.retain(|it| it.approval != *approval),
            _ => {}
        }
    }
    waiting
}

/// How it stands with a call that waits.
enum Standing {
    /// Nobody has answered.
    Waits,
    /// Somebody said yes, and nobody has used it.
    Approved(Box<QueuedQuestion>),
    /// Its changes are applied by now.
    Applied(String),
    /// A person answered in place of the tool.
    Answered(String),
    /// It will not run: code and why.
    Over(&'static str, String),
}

impl Conversation {
    /// The calls that wait for a person, oldest first.
    pub fn waiting(&self) -> Vec<WaitingCall> {
        waiting(&self.items)
    }

    /// Whether somebody has answered one of the calls that wait.
    pub async fn is_answered(&self) -> bool {
        for call in self.waiting() {
            if !matches!(self.standing(&call).await, Standing::Waits) {
                return true;
            }
        }
        false
    }

    /// Resolves when somebody has answered one of the calls that wait; never, where none does.
    pub(super) async fn answered(&self) {
        if self.waiting().is_empty() {
            return std::future::pending().await;
        }
        while !self.is_answered().await {
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    async fn standing(&self, call: &WaitingCall) -> Standing {
        let Some(questions) = self.gate.questions() else { return Standing::Waits };
        let queued = match questions.get(call.approval).await {
            Ok(queued) => queued,
            Err(QueueError::Unknown(_)) => {
                return Standing::Over("approval_expired", "its question is gone".to_owned());
            }
            // What cannot be read now may be read later.
            Err(_) => return Standing::Waits,
        };
        // An answer is for whoever asked: nobody else goes on with the call.
        if queued.question.principal != *self.gate.run().principal {
            return Standing::Waits;
        }
        if !self.asked_as(&queued.question.session) {
            let why = "its question belongs to another session".to_owned();
            return Standing::Over("approval_expired", why);
        }
        let by = queued.decided_by.as_deref().unwrap_or("somebody");
        if let Some(became) = self.became(&queued, by) {
            return became;
        }
        match queued.state {
            QuestionState::Pending => Standing::Waits,
            QuestionState::Approved => Standing::Approved(Box::new(queued)),
            QuestionState::Rejected if queued.answer.as_deref() == Some("instead") => {
                let text = queued.reason.unwrap_or_default();
                Standing::Answered(format!(
                    "`{by}`, a person, answered in place of the tool; nothing of it was applied:\n{text}"
                ))
            }
            QuestionState::Rejected => {
                let reason = queued.reason.as_deref().filter(|it| !it.is_empty());
                let why = format!("{by} said no: {}", reason.unwrap_or("no reason was given"));
                Standing::Over("denied_by_person", why)
            }
            QuestionState::Expired => {
                Standing::Over("approval_expired", "nobody answered in time".to_owned())
            }
            QuestionState::Revoked => {
                Standing::Over("approval_expired", "the approval was revoked".to_owned())
            }
            QuestionState::Withdrawn => {
                Standing::Over("approval_expired", "its question was withdrawn".to_owned())
            }
            QuestionState::Taken => Standing::Over(
                "output_lost",
                format!("{by} approved it, and it ran elsewhere: look at its effects first"),
            ),
        }
    }

    /// What became of a run whose question somebody answered, where they or another process have
    /// applied it, or could not.
    fn became(&self, queued: &QueuedQuestion, by: &str) -> Option<Standing> {
        let pending = queued.question.pending?;
        match self.gate.workspace()?.pending_outcome(pending.call)? {
            PendingOutcome::Applied { by: call } => Some(Standing::Applied(format!(
                "{by} approved it: its changes are applied, as call {call}"
            ))),
            PendingOutcome::Refused { why } if !queued.state.is_open() => Some(Standing::Over(
                "conflict",
                format!("{by} approved it, but nothing was applied: {why}"),
            )),
            PendingOutcome::Refused { .. } => None,
        }
    }

    /// Whether this conversation asks under this name: its own, or for a task its parent's.
    fn asked_as(&self, conversation: &str) -> bool {
        let parent = |it: &TranscriptItem| match &it.body {
            ItemBody::Opened { task, .. } => task.as_ref().map(|it| it.conversation.clone()),
            _ => None,
        };
        let of_task = || self.items.iter().find_map(parent);
        conversation == self.head.id || of_task().as_deref() == Some(conversation)
    }

    /// Takes up what was answered: each call once, and through every gate. True when there was any.
    pub(super) async fn take_up_answered(
        &mut self,
        cancel: &CancellationToken,
    ) -> Result<bool, TurnFailure> {
        let mut any = false;
        for call in self.waiting() {
            match self.standing(&call).await {
                Standing::Waits => continue,
                Standing::Over(code, why) => self.note_over(&call, code, &why).await?,
                Standing::Applied(told) => self.note_done(&call, "ok", &told).await?,
                Standing::Answered(told) => {
                    self.note_done(&call, "answered_by_person", &told).await?;
                }
                Standing::Approved(queued) => self.pass_again(&call, *queued, cancel).await?,
            }
            any = true;
        }
        Ok(any)
    }

    /// A call that will not run: nothing is passed.
    async fn note_over(
        &mut self,
        call: &WaitingCall,
        code: &str,
        why: &str,
    ) -> Result<(), TurnFailure> {
        let id = next_id(call);
        let why = self.redacted(why).0;
        let ran = match code {
            "output_lost" | "conflict" => "",
            _ => "it was not run: ",
        };
        let answer = AnswerItem {
            id: id.clone(),
            tool: call.tool.clone(),
            error: Some(format!("{ran}{why} (approval {})", call.approval)),
            code: code.to_owned(),
            ..AnswerItem::default()
        };
        let resumed = ItemBody::Resumed {
            id,
            approval: call.approval,
            name: call.tool.clone(),
            args: serde_json::Value::Null,
        };
        self.keep(vec![(resumed, None), (ItemBody::LateAnswer(answer), None)]).await?;
        let text = format!("`{}` that waited for approval {}: {why}", call.tool, call.approval);
        self.tell(AgentEvent::Notice(text));
        Ok(())
    }

    /// A call whose changes somebody else has applied, or that a person answered: nothing is passed.
    async fn note_done(
        &mut self,
        call: &WaitingCall,
        code: &str,
        told: &str,
    ) -> Result<(), TurnFailure> {
        let id = next_id(call);
        let answer = AnswerItem {
            id: id.clone(),
            tool: call.tool.clone(),
            output: self.redacted(told).0,
            code: code.to_owned(),
            ..AnswerItem::default()
        };
        let (approval, name) = (call.approval, call.tool.clone());
        let resumed = ItemBody::Resumed { id, approval, name, args: serde_json::Value::Null };
        self.keep(vec![(resumed, None), (ItemBody::LateAnswer(answer), None)]).await?;
        self.tell(AgentEvent::Notice(format!("`{}`: {told}", call.tool)));
        Ok(())
    }

    /// Passes a call again that somebody said yes to: what is approved is taken from the question.
    async fn pass_again(
        &mut self,
        call: &WaitingCall,
        queued: QueuedQuestion,
        cancel: &CancellationToken,
    ) -> Result<(), TurnFailure> {
        let id = next_id(call);
        let question = queued.question;
        let args = self.gate.redactor().value(&question.args).0.into_owned();
        let resumed = ItemBody::Resumed {
            id: id.clone(),
            approval: call.approval,
            name: question.tool.clone(),
            args: args.clone(),
        };
        let log_at = self.store.log_head()?;
        self.keep_at(vec![(resumed, None)], None, Some(log_at)).await?;
        let reason = question.reason.as_deref().map(|it| self.redacted(it).0);
        let (event_id, tool) = (id.clone(), question.tool.clone());
        self.tell(AgentEvent::Call { id: event_id, tool, args, reason });
        // The yes lies in the queue: nobody is asked anew.
        let run = Run { park: true, cancel: cancel.clone(), ..self.gate.run().clone() };
        let again = ToolCall {
            reason: question.reason,
            ..ToolCall::new(self.recorded_id(&id), question.tool, question.args)
        };
        let (parent, mut ended) = self.task_parent();
        let reply = task_parent::inside(parent, self.gate.for_run(run).pass(again)).await;
        let _ = ended.recv().await;
        let answer = self.answer_item(&id, &reply).await?;
        self.keep(vec![(ItemBody::LateAnswer(answer), None)]).await?;
        self.tell(AgentEvent::Answered(CallOutcome::new(id, &reply)));
        match reply.aborted() {
            true => Err(TurnFailure::Ended(TurnEnd::Aborted)),
            false => Ok(()),
        }
    }
}

/// The id under which a call passes that had waited: no other call has it.
fn next_id(call: &WaitingCall) -> String {
    format!("{}~{}", call.id, call.approval)
}
