//! The calls of a message: through the gate, each answer kept when it is there.

use std::sync::Arc;

use eclusa::{
    Attachment, Incoming, PermissionClass, Reply, ToolCall, Wire, call::Malformed, one_line,
    registry::WhichTools,
};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{
    Conversation, TurnFailure,
    approvals::{not_applied_yet, not_run_yet},
};
use crate::{
    events::{AgentEvent, CallOutcome, TurnEnd, output},
    item::{AnswerItem, ItemBody},
    task_parent,
    transcript::TranscriptError,
};

/// So many equal calls with equal answers in a row are enough.
const MAX_REPEATS: u32 = 5;

/// So many characters of such a call are told.
const MOST_OF_CALL: usize = 120;

/// How often the same call had the same answer, in a row.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    last: Option<(String, String)>,
    count: u32,
}

impl Repeats {
    fn note(&mut self, call: String, answer: String) {
        let now = Some((call, answer));
        self.count = if self.last == now { self.count + 1 } else { 1 };
        self.last = now;
    }

    /// Which call is made again and again, and what helps; nothing while there is hope.
    pub(super) fn stuck(&self) -> Option<String> {
        let (call, _) = self.last.as_ref().filter(|_| self.count >= MAX_REPEATS)?;
        let call: String = one_line(call).chars().take(MOST_OF_CALL).collect();
        Some(format!(
            "stuck: the model made the same call {MAX_REPEATS} times with the same result (`{call}`); \
            resume with other words, or with another model"
        ))
    }
}

impl Conversation {
    /// Passes the calls of one message. Every one of them is answered, and every answer kept, also
    /// when the turn is interrupted meanwhile: nothing that passes the gate is dropped.
    pub(super) async fn pass(
        &mut self,
        asked: Vec<Incoming>,
        cancel: &CancellationToken,
    ) -> Result<(), TurnFailure> {
        let names: Vec<String> = asked.iter().map(described).collect();
        let ids: Vec<String> = asked.iter().map(|it| it.id().to_owned()).collect();
        let asked = asked.into_iter().map(|it| self.recorded(it)).collect::<Vec<_>>();
        let (tell, mut told) = mpsc::unbounded_channel();
        let gate = self.gate.clone();
        let (parent, mut ended) = self.task_parent();
        let passing =
            gate.pass_all_with(asked, move |place, reply| drop(tell.send((place, reply))));
        let passing = task_parent::inside(parent, passing);
        let keeping = async {
            let (mut aborted, mut failed) = (false, None);
            while let Some((place, reply)) = told.recv().await {
                aborted |= reply.aborted();
                let call = names.get(place).cloned().unwrap_or_default();
                self.repeats.note(call, reply.content().into_owned());
                let id = ids.get(place).cloned().unwrap_or_default();
                if let Err(err) = self.keep_answer(id, &reply).await {
                    // Nothing more happens than what is on its way.
                    cancel.cancel();
                    failed.get_or_insert(err);
                }
            }
            (aborted, failed)
        };
        let ((), (aborted, failed)) = tokio::join!(passing, keeping);
        // A task whose call was cancelled still writes down how its own calls ended.
        let _ = ended.recv().await;
        match failed {
            Some(err) => Err(err.into()),
            None if aborted => Err(TurnFailure::Ended(TurnEnd::Aborted)),
            None => Ok(()),
        }
    }

    async fn keep_answer(&mut self, id: String, reply: &Reply) -> Result<(), TranscriptError> {
        let answer = self.answer_item(&id, reply).await?;
        self.keep(vec![(ItemBody::Answer(answer), None)]).await?;
        self.tell(AgentEvent::Answered(CallOutcome::new(id, reply)));
        Ok(())
    }

    /// The answer to a call, as it is kept.
    pub(super) async fn answer_item(
        &mut self,
        id: &str,
        reply: &Reply,
    ) -> Result<AnswerItem, TranscriptError> {
        let mut pictures = Vec::new();
        for attachment in reply.attachments() {
            if let Attachment::Image(media) = attachment
                && media.bytes.len() <= super::MAX_PICTURE
            {
                let kept = self.keep_picture(media.media_type.clone(), media.bytes.clone());
                pictures.push(kept.await?);
            }
        }
        let error = match reply.parked() {
            Some(approval) if reply.is_unapplied() => Some(not_applied_yet(approval)),
            Some(approval) => Some(not_run_yet(approval)),
            None => reply.error().map(str::to_owned),
        };
        Ok(AnswerItem {
            id: id.to_owned(),
            tool: reply.asked_tool().to_owned(),
            output: output(reply).to_owned(),
            error,
            truncated: reply.truncated(),
            time_ms: u64::try_from(reply.run_time().as_millis()).unwrap_or(u64::MAX),
            code: reply.code().to_owned(),
            number: reply.number(),
            pictures,
            outside: self.outside(reply),
            approval: reply.parked(),
            in_archive: 0,
        })
    }

    /// A call as it passes the gate: those of a task carry their task's name.
    fn recorded(&self, asked: Incoming) -> Incoming {
        match asked {
            Incoming::Call(call) => ToolCall { id: self.recorded_id(&call.id), ..call }.into(),
            Incoming::Malformed(bad) => Malformed { id: self.recorded_id(&bad.id), ..bad }.into(),
        }
    }

    /// The id under which a call is on record.
    pub(super) fn recorded_id(&self, id: &str) -> String {
        match &self.origin {
            Some(origin) => format!("{}{id}", origin.prefix),
            None => id.to_owned(),
        }
    }

    /// Where an output came from, if from outside.
    fn outside(&self, reply: &Reply) -> Option<String> {
        if reply.output().is_none_or(str::is_empty) {
            return None;
        }
        let tool = self.gate.registry().get(reply.tool())?;
        match (tool.server(), tool.class()) {
            (Some(server), _) => Some(format!("the server {server}")),
            (None, PermissionClass::Web) => Some("the web".to_owned()),
            (None, _) => None,
        }
    }

    /// A call as it is kept: its arguments redacted.
    pub(super) fn call_item(&self, asked: &Incoming) -> ItemBody {
        match asked {
            Incoming::Call(call) => ItemBody::Call {
                id: call.id.clone(),
                name: call.tool.clone(),
                args: self.gate.redactor().value(&call.args).0.into_owned(),
                reason: call.reason.as_deref().map(|it| self.redacted(it).0),
            },
            Incoming::Malformed(bad) => ItemBody::Call {
                id: bad.id.clone(),
                name: bad.tool.clone().unwrap_or_default(),
                args: Value::Null,
                reason: None,
            },
        }
    }

    /// The tools there are now, for a model that declares them.
    pub(super) fn declared(&self, wire: Wire) -> Option<Arc<Value>> {
        let registry = self.gate.registry();
        let which = match &self.gate.run().tools {
            Some(names) => {
                WhichTools::Only(names.iter().filter(|it| registry.has(it)).cloned().collect())
            }
            None => WhichTools::All,
        };
        registry.declare(wire, &which, &self.scene).ok()
    }
}

/// A call in one line, to tell whether it is the same again.
fn described(asked: &Incoming) -> String {
    match asked {
        Incoming::Call(call) => format!("{} {}", call.tool, call.args),
        Incoming::Malformed(bad) => bad.problem.clone(),
    }
}
