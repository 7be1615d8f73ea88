//! A shell command of an agent in front of which a person sits: run ahead of its question, so that they
//! are shown what it changes, and a yes applies exactly that.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use eclusa::{
    Answer, Approver, Decision, Mode, NotAsked, Question, TakeYes, ToolCall,
    approve::{Preview, QuestionAbout},
};
use futures::future::BoxFuture;
use serde_json::Value;

use super::{AgentCall, AgentCallOutcome, delegated, one_line, ticketed::TicketedCommand};
use crate::commands::{
    exec::ahead::{AheadOrder, AheadRun},
    gates::GateParts,
    surface::Surface,
    tickets::{ExecTicket, TicketAhead},
};

/// What the record says of how a person was asked.
const ASKED_BY: &str = "agent-prompt";

/// How commands run ahead in front of this person.
#[derive(Debug, Clone, Copy)]
pub(in crate::commands) struct AheadTerms {
    /// How long a command is waited for.
    pub(in crate::commands) time: Duration,
    /// What the agent's prompt has room for.
    pub(in crate::commands) room: PromptRoom,
    /// What proves that a person has said yes.
    pub(in crate::commands) proof: AheadProof,
}

/// What proves that a person has said yes to what ran ahead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::commands) enum AheadProof {
    /// That its ticket runs.
    Ticket,
    /// The same, once the question was seen to go out.
    Mark,
    /// That the question was seen to go out and the call has ended: the hook after it takes the changes.
    AfterCall,
}

/// What a prompt has room for.
#[derive(Debug, Clone, Copy)]
pub(in crate::commands) struct PromptRoom {
    /// Lines.
    pub(in crate::commands) rows: usize,
    /// Characters on each.
    pub(in crate::commands) columns: usize,
}

/// What the person is asked about a command that has run.
#[derive(Debug)]
pub(in crate::commands) struct AheadQuestion {
    /// The call that ran.
    pub(in crate::commands) call: u64,
    /// In a sentence.
    pub(in crate::commands) summary: String,
    /// What it changes, line by line.
    pub(in crate::commands) lines: Vec<String>,
}

impl PromptRoom {
    /// Whether all of a text is seen at once.
    fn fits(self, text: &str) -> bool {
        let rows = |line: &str| line.chars().count().div_ceil(self.columns.max(1)).max(1);
        text.lines().map(rows).sum::<usize>() <= self.rows
    }
}

impl AgentCall<'_> {
    /// Runs the command ahead, where its verdict is that it is staged; `None`: it runs by its ticket.
    pub(super) async fn run_ahead(
        &self,
        terms: &(dyn Fn() -> Option<AheadTerms> + Sync),
        args: &Value,
        directory: &str,
    ) -> Result<Option<AgentCallOutcome>, String> {
        let session = self.session;
        let gate = self.gate(Some(delegated::shell(true)))?;
        let judged = gate.check(self.call("bash".to_owned(), args.clone()));
        let staged = judged.is_ok_and(|it| it.1.decision == Decision::Stage);
        let mode = gate.run().mode_in_force();
        if !staged || mode == Mode::Yolo {
            return Ok(None);
        }
        let Some(terms) = terms() else { return Ok(None) };
        let command = args.get("command").and_then(Value::as_str).unwrap_or_default();
        let asks = Arc::new(NotedQuestion { room: terms.room, noted: Mutex::default() });
        let order = AheadOrder {
            command,
            directory,
            call: &self.id,
            run: gate.run().clone(),
            time: terms.time,
            asks: asks.clone(),
        };
        let ran = session.ctx.run_ahead(&session.store, order).await.map_err(one_line)?;
        let noted = asks.noted.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (ahead, asks) = match ran {
            None => return Ok(None),
            Some(AheadRun::Anew(number)) => {
                if let Some(number) = number {
                    session.not_taken(number).await?;
                }
                return Ok(None);
            }
            Some(AheadRun::Unapplied(told)) => return Ok(Some(AgentCallOutcome::Denied(told))),
            Some(AheadRun::Unchanged(printed)) => (TicketAhead::Unchanged(printed), None),
            Some(AheadRun::Kept(call, code, told)) => {
                let asks = noted.map(|it| AheadQuestion::new(call, code, &it));
                let by = || ASKED_BY.to_owned();
                let ahead = match (&asks, terms.proof) {
                    (None, _) => TicketAhead::Kept { call, by: None, marked: false },
                    (Some(_), AheadProof::AfterCall) => TicketAhead::Told(told),
                    (Some(_), proof) => {
                        let marked = proof == AheadProof::Mark;
                        TicketAhead::Kept { call, by: Some(by()), marked }
                    }
                };
                (ahead, asks)
            }
        };
        let ticket = ExecTicket { ahead: Some(ahead), ..self.ticket(args, directory, mode) };
        let command = TicketedCommand::new(session, &ticket, None, asks)?;
        Ok(Some(AgentCallOutcome::Ticketed(command)))
    }
}

impl super::AgentSession {
    /// Applies what a command did when it ran ahead, as its agent's person was asked. Gives why it is not applied.
    pub(in crate::commands) async fn take_ahead(
        &self,
        call: u64,
    ) -> Result<Option<String>, String> {
        let gate = self.ctx.gate(Surface::Ticket, GateParts::new(&self.store)).map_err(one_line)?;
        let reply = gate.take(call, TakeYes::Ahead(Some(ASKED_BY.to_owned()))).await;
        Ok(reply.stop().map(|it| it.message().into_owned()))
    }

    /// Puts it on record that nobody took what a command did when it ran ahead.
    pub(in crate::commands) async fn not_taken(&self, call: u64) -> Result<(), String> {
        let participants = super::Participants::default();
        let gate = self.gate(Some(delegated::result(String::new())), participants)?;
        if let Some(workspace) = gate.workspace() {
            workspace.refuse_pending(call, "it ran ahead of its question, and was not taken");
        }
        let args = serde_json::json!({
            "tool": "bash", "outcome": "not_taken", "failed": false, "of": call,
        });
        let call = ToolCall::new("ahead", "agent_result", args).from(eclusa::Origin::Hook);
        let reply = gate.pass(call).await;
        match reply.is_error() {
            true => Err(reply.content().into_owned()),
            false => Ok(()),
        }
    }
}

impl AheadQuestion {
    fn new(call: u64, code: Option<i64>, preview: &Preview) -> AheadQuestion {
        let code = code.map_or_else(|| "a signal".to_owned(), |it| format!("exit {it}"));
        let summary = format!(
            "eclusa: ran in the sandbox ({code}); {}. Yes applies exactly what is shown; nothing runs again",
            preview.summary
        );
        let lines = preview.diff.lines().map(eclusa::one_line).collect();
        AheadQuestion { call, summary, lines }
    }
}

/// Notes what has to be asked, for the agent's own prompt: it asks its person after we have answered.
/// What it has no room for is asked in the queue.
struct NotedQuestion {
    room: PromptRoom,
    noted: Mutex<Option<Preview>>,
}

impl Approver for NotedQuestion {
    fn name(&self) -> &str {
        ASKED_BY
    }

    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Result<Answer, NotAsked>> {
        Box::pin(async move {
            match &question.about {
                QuestionAbout::Changes(it) if it.whole && self.room.fits(&it.diff) => {
                    *self.noted.lock().unwrap_or_else(PoisonError::into_inner) = Some(it.clone());
                    Ok(Answer::Once)
                }
                QuestionAbout::Changes(_) => {
                    Err(NotAsked::Unavailable("the agent's prompt is too small".to_owned()))
                }
                QuestionAbout::Running | QuestionAbout::Hosts(_) | QuestionAbout::Signature(..) => {
                    Err(NotAsked::Failed("it has to be asked about before it runs".to_owned()))
                }
            }
        })
    }
}
