//! Taking a pending run: its changes are applied exactly as they were shown, once, by whoever has the
//! yes. Nothing is run again; its output is the call's output.

use std::panic::AssertUnwindSafe;

use futures::FutureExt;

use super::{
    ask::{ApprovedChanges, ask_about_kept, instead, remember_answer, remember_edits, required},
    execute,
    pending::{PendingCall, SameCall, claim, note_refused, replace, same_call},
    permit::decide_again,
    picked, release, review, sessions, settle, validate,
};
use crate::{
    Answer, AnswerGiven, Gate, Permit, Question, Released, Reply, Reviewed, Stage, Stop, ToolCall,
    approve::{PendingRef, QuestionState, QueueError, QueuedQuestion},
    audit::{body::Approval, calls::UNASKED},
    gate::ledger::Entry,
    stop::Decider,
    workspace::{PendingError, PendingRun},
};

/// Whose yes applies a pending run.
#[derive(Debug, Clone)]
pub enum TakeYes {
    /// The one that the queue has for this question.
    Queued(Box<QueuedQuestion>),
    /// That of a person who names the run on the command line. Where a rule says who must answer, it
    /// is not enough.
    Typed(String),
    /// That of whoever sits in front of an agent that had it run ahead ([`Run::ahead`](crate::Run)),
    /// and how they were asked; `None` where nobody had to be.
    Ahead(Option<String>),
    /// Nobody's: the part of it that rules over paths and effects let pass unasked, in every mode.
    Unasked,
}

/// A run that is taken, with the yes to it.
pub(crate) struct TakenRun {
    pub(super) run: PendingRun,
    pub(super) part: ApprovedChanges,
    pub(super) approval: Approval,
    /// Whether nobody said it, so that only what rules let pass unasked is applied.
    pub(super) unasked: bool,
    /// Whether a rule may still want somebody else's answer.
    pub(super) typed: bool,
    /// Whether a person has seen it.
    pub(super) seen: bool,
    /// Whether the answer is for these files, for the rest of the session.
    pub(super) lasts: bool,
}

/// A call that may go on.
pub(super) enum Admitted {
    /// It runs.
    ToRun(Permit),
    /// It ran before, and that is applied.
    Taken(Permit, Box<(PendingCall, TakenRun)>),
}

/// What a look for an earlier run of the same call gives.
pub(super) enum NotTaken {
    /// None that counts: it runs.
    Run(Reviewed),
    /// One that is taken.
    Taken(Admitted),
}

impl Gate {
    /// The same call made again takes what it did before, once somebody has said yes; until then it
    /// waits for the same answer. Where something was applied in the workspace since, it runs anew,
    /// and its new question stands for the old one.
    pub(super) async fn take_same_call(
        &self,
        entry: &mut Entry<'_>,
        call: Reviewed,
    ) -> Result<NotTaken, Stop> {
        if self.run.dry_run || self.run.watched {
            return Ok(NotTaken::Run(call));
        }
        let Some(same) = same_call(&self.setup, &self.run, call.call()).await else {
            return Ok(NotTaken::Run(call));
        };
        let answered = same.queued.state == QuestionState::Approved;
        if !answered && !same.current {
            replace(&self.setup, same, &mut entry.trail);
            return Ok(NotTaken::Run(call));
        }
        Box::pin(self.take_same(entry, call, same)).await.map(NotTaken::Taken)
    }

    async fn take_same(
        &self,
        entry: &mut Entry<'_>,
        call: Reviewed,
        same: SameCall,
    ) -> Result<Admitted, Stop> {
        let SameCall { call: number, mut queued, .. } = same;
        if let Some(workspace) = &self.setup.workspace {
            workspace.note_told(number);
        }
        let not_applied = |stop| Stop::Discarded(Box::new(stop));
        let mut said = None;
        if queued.state == QuestionState::Pending {
            let (question, trail) = (queued.question.clone(), &mut entry.trail);
            let asking = ask_about_kept(&self.setup, &self.run, call.call(), question, trail);
            said = Some(asking.await.map_err(not_applied)?);
            if let Some(questions) = &self.setup.questions {
                queued = questions.get(queued.id).await.unwrap_or(queued);
            }
        }
        let refused =
            |err: PendingError| Stop::NotCommitted { conflict: false, why: err.to_string() };
        let Some(workspace) = &self.setup.workspace else {
            return Err(refused(PendingError::Unknown(number)));
        };
        let run = claim(workspace, number).await.map_err(refused)?;
        let about = PendingCall::read(&run).map_err(refused)?;
        let permit = decide_again(&self.setup, &self.run, call, &mut entry.trail);
        let permit = permit.map_err(not_applied)?;
        entry.reached(Stage::Permitted);
        let said = match said {
            Some(said) => said,
            None => self.answer_of(&run, &queued).await?,
        };
        let part = self.accept(&queued.question, &said, entry).await.map_err(not_applied)?;
        let lasts = said.answer == Answer::Session && queued.question.offers_edits();
        let (word, binding) = (said.answer.word(), queued.question.binding.clone());
        let approval = approval(word, binding, &said.by, said.question);
        let (unasked, typed, seen) = (false, false, true);
        let taken = TakenRun { run, part, approval, unasked, typed, seen, lasts };
        Ok(Admitted::Taken(permit, Box::new((about, taken))))
    }

    /// Applies what call `call` did in the sandbox, which waits for this yes. Taken once: of two who
    /// try, one is told what became of it.
    pub async fn take(&self, call: u64, yes: TakeYes) -> Reply {
        let claimed = match &self.setup.workspace {
            Some(workspace) => claim(workspace, call).await,
            None => Err(PendingError::Unknown(call)),
        };
        let read = claimed.and_then(|run| PendingCall::read(&run).map(|about| (run, about)));
        let read = read.map_err(|err| err.to_string());
        let read = read.and_then(|(run, about)| Ok((about.call()?, run, about)));
        match read {
            Ok((call, run, about)) => {
                let gate = self.for_run(about.run(&self.run));
                gate.take_claimed(call, run, &about, yes).await
            }
            Err(why) => self.refuse_take(call, &yes, why).await,
        }
    }

    /// A run that cannot be had, on record under the tool that its question names.
    async fn refuse_take(&self, number: u64, yes: &TakeYes, why: String) -> Reply {
        let (id, tool) = match yes {
            TakeYes::Queued(queued) => (queued.question.call.clone(), queued.question.tool.clone()),
            TakeYes::Typed(_) | TakeYes::Ahead(_) | TakeYes::Unasked => {
                (format!("take-{number}"), "apply".to_owned())
            }
        };
        let call = ToolCall::new(id, tool, serde_json::json!({"pending": number}));
        let (entry, _) = self.ledger.open(&self.run, call.into());
        entry.close(Err(Stop::NotCommitted { conflict: false, why })).await
    }

    async fn take_claimed(
        &self,
        call: ToolCall,
        run: PendingRun,
        about: &PendingCall,
        yes: TakeYes,
    ) -> Reply {
        let (mut entry, _) = self.ledger.open(&self.run, call.into());
        let number = run.call;
        let taking = AssertUnwindSafe(self.try_take(&mut entry, run, about, yes)).catch_unwind();
        let outcome = taking.await.unwrap_or_else(|_panic| {
            Err(Stop::denied(Decider::Gate, "a check crashed while the changes were taken"))
        });
        if let (Err(stop), Some(workspace)) = (&outcome, &self.setup.workspace) {
            note_refused(workspace, number, stop);
        }
        entry.close(outcome).await
    }

    async fn try_take(
        &self,
        entry: &mut Entry<'_>,
        run: PendingRun,
        about: &PendingCall,
        yes: TakeYes,
    ) -> Result<Released, Stop> {
        let tool = self.find(&entry.trail.call.tool)?;
        let call = validate::validate(tool, &mut entry.trail)?;
        let call = call.with_context(sessions::moment(&self.setup, &self.run));
        let call = review::reviewed_before(call);
        let permit = decide_again(&self.setup, &self.run, call, &mut entry.trail);
        let permit = permit.map_err(|stop| Stop::Discarded(Box::new(stop)))?;
        entry.reached(Stage::Permitted);
        let (part, approval, lasts) = self.the_yes(&run, about, &yes, entry).await?;
        let typed = matches!(yes, TakeYes::Typed(_) | TakeYes::Ahead(Some(_)));
        let seen = !matches!(yes, TakeYes::Ahead(None) | TakeYes::Unasked);
        let unasked = matches!(yes, TakeYes::Unasked);
        let taken = TakenRun { run, part, approval, unasked, typed, seen, lasts };
        self.carry_out_taken(entry, permit, about, taken).await
    }

    /// The same for a call that was made again, and whose earlier run was answered by now.
    pub(super) async fn carry_out_taken(
        &self,
        entry: &mut Entry<'_>,
        permit: Permit,
        about: &PendingCall,
        mut taken: TakenRun,
    ) -> Result<Released, Stop> {
        let started = entry.start(&permit).await?;
        let changes = std::mem::take(&mut taken.run.changes);
        let (output, time) = about.output(changes);
        let raw = execute::take_up(permit, output, time, started);
        entry.reached(Stage::Ran);
        let (number, trail) = (entry.number(), &mut entry.trail);
        let settled = settle::settle(&self.setup, &self.run, raw, number, Some(taken), trail).await;
        entry.reached(Stage::Settled);
        let released = release::release(&self.setup, settled, &mut entry.trail).await?;
        entry.reached(Stage::Released);
        Ok(released)
    }

    /// What the yes says, once it is this run's and nobody else has it.
    async fn the_yes(
        &self,
        run: &PendingRun,
        about: &PendingCall,
        yes: &TakeYes,
        entry: &mut Entry<'_>,
    ) -> Result<(ApprovedChanges, Approval, bool), Stop> {
        let queued = match yes {
            TakeYes::Typed(by) => {
                let approval = approval(Answer::Once.word(), about.question.clone(), by, None);
                return Ok((ApprovedChanges::All, approval, false));
            }
            TakeYes::Ahead(by) => {
                let by = match (about.ran_ahead(), by) {
                    (Some(_), Some(by)) => by,
                    (Some(false), None) => "rules",
                    _ => {
                        let why = "it needs approval, and nobody was asked".to_owned();
                        return Err(Stop::NotCommitted { conflict: false, why });
                    }
                };
                let approval = approval(Answer::Once.word(), about.question.clone(), by, None);
                return Ok((ApprovedChanges::All, approval, false));
            }
            TakeYes::Unasked => {
                let approval = approval(UNASKED, about.question.clone(), "rules", None);
                return Ok((ApprovedChanges::Unseen, approval, false));
            }
            TakeYes::Queued(queued) => queued,
        };
        let said = self.answer_of(run, queued).await?;
        let part = self.accept(&queued.question, &said, entry).await?;
        let (word, binding) = (said.answer.word(), queued.question.binding.clone());
        let lasts = said.answer == Answer::Session && queued.question.offers_edits();
        Ok((part, approval(word, binding, &said.by, said.question), lasts))
    }

    /// What an answer to the question about a kept run says.
    pub(super) async fn accept(
        &self,
        question: &Question,
        said: &AnswerGiven,
        entry: &mut Entry<'_>,
    ) -> Result<ApprovedChanges, Stop> {
        required::check(&self.setup, question, said).await?;
        let by = || Decider::Approver(said.by.clone());
        match said.answer.clone() {
            Answer::Edit(_) | Answer::Review => {
                Err(Stop::denied(by(), "the changes are made already, and cannot be edited"))
            }
            Answer::Instead(text) => Err(instead(&self.setup, said.by.clone(), &text)),
            Answer::Only(paths) => picked::offered(question.preview(), paths)
                .map(ApprovedChanges::Picked)
                .map_err(|why| Stop::denied(by(), why)),
            answer => {
                let trail = &mut entry.trail;
                remember_edits(&self.setup, &self.run, question, &answer, &[], trail);
                remember_answer(&self.setup, &self.run, question, answer, &mut entry.trail)?;
                Ok(ApprovedChanges::All)
            }
        }
    }

    /// The answer that the queue has. One that was handed over to somebody who died before the
    /// changes were applied is used now: whoever holds the run is alone with it.
    async fn answer_of(
        &self,
        run: &PendingRun,
        queued: &QueuedQuestion,
    ) -> Result<AnswerGiven, Stop> {
        let not_taken = |why: String| Stop::NotCommitted { conflict: false, why };
        let reference = PendingRef { call: run.call, sha256: run.sha256 };
        if queued.question.pending != Some(reference) {
            let why = format!(
                "the kept changes of call {} are not those of approval {}; nothing was applied",
                run.call, queued.id
            );
            return Err(not_taken(why));
        }
        let Some(questions) = &self.setup.questions else {
            return Err(not_taken("there is no approval queue here".to_owned()));
        };
        let refused = |err: QueueError| not_taken(err.to_string());
        match questions.take(queued.id).await {
            Err(QueueError::WrongState { state: QuestionState::Taken, .. }) => {
                let (word, by) = (queued.answer.as_deref(), queued.decided_by.clone());
                let votes = questions.votes(queued.id).await.map_err(refused)?;
                match (word, by) {
                    (Some("once" | "session" | "edits" | "always"), Some(by)) => {
                        let question = Some(queued.id);
                        Ok(AnswerGiven { answer: Answer::Once, by, question, votes })
                    }
                    _ => Err(not_taken(format!(
                        "the program that used approval {} ended before the changes were applied; make the call again",
                        queued.id
                    ))),
                }
            }
            said => said.map_err(refused),
        }
    }
}

/// What the record says of the yes.
pub(super) fn approval(
    answer: &'static str,
    binding: String,
    by: &str,
    question: Option<u64>,
) -> Approval {
    Approval { answer, binding, by: by.to_owned(), question, opens: false }
}
