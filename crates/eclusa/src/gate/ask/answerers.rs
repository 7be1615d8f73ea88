//! Who answers a question, in the order in which they are tried: one list and one loop, whatever
//! the question is about. Modes have had their say in the verdict, before anybody is asked.

use std::{borrow::Cow, panic::AssertUnwindSafe, sync::Arc};

use futures::FutureExt;
use tokio::sync::MutexGuard;

use super::{required, tainted, waiting};
use crate::{
    Answer, AnswerGiven, Approver, CallUses, Event, Hash, NotAsked, OnNoApprover, Question, Reason,
    Rules, Run, Source, Stop, Validated,
    audit::body::Approval,
    gate::{Setup, allowance, pending::Keeping, sessions},
    stop::Decider,
};

/// What is said of a call that runs because nobody could be asked.
pub(super) const UNAPPROVED: &str =
    "this call needed approval and nobody could be asked: it ran without approval";

/// Who can answer.
enum Answerer<'a> {
    /// What people answered before, for the session or for always.
    EarlierAnswer,
    /// What people agreed on beforehand.
    Allowance,
    /// Somebody who can be asked now.
    Approver(&'a Arc<dyn Approver>),
    /// The queue that questions wait in, also for people who are away.
    Queue(&'a Arc<dyn Approver>),
    /// The settings, where they let pass what nobody can be asked about.
    Settings,
}

/// What came of asking.
pub(super) enum AskOutcome {
    /// Somebody was asked, and answered.
    Answered(AnswerGiven),
    /// An earlier answer, this one, covers it.
    Remembered(String),
    /// An allowance, this one, covers it.
    Allowance(String),
    /// Nobody could be asked, and the settings let it pass.
    NotAskedAllowed,
}

/// A question on its way to an answer.
pub(super) struct Inquiry<'a> {
    pub(super) setup: &'a Setup,
    pub(super) run: &'a Run,
    pub(super) call: &'a Validated,
    /// What is asked. An earlier answer that granted the same covers it.
    pub(super) question: Question,
    /// Whether the rule of an allowance alone allows what is asked; `None` where only a person
    /// who is asked now can.
    pub(super) covers: Option<&'a (dyn Fn(&Rules) -> bool + Sync)>,
    /// What an answer for files of the session would have to cover.
    pub(super) edits: &'a [Hash],
    /// Keeps the run whose changes it is about, before it waits for somebody who may be away.
    pub(super) keeping: Option<&'a Keeping<'a>>,
    /// True while the call runs: nobody comes back for the answer then.
    pub(super) running: bool,
}

/// How far the asking has come.
#[derive(Default)]
struct AskProgress {
    /// Whether listeners know that somebody is asked.
    emitted: bool,
    /// The refusal of an approver that may have shown the question to somebody.
    unread: Option<Stop>,
}

impl Inquiry<'_> {
    /// Everybody who can answer, in order.
    fn answerers(&self) -> Vec<Answerer<'_>> {
        let (setup, run) = (self.setup, self.run);
        // Who must answer is proven in the queue, and nowhere else.
        let required = required::is_required(&self.question);
        let queued =
            run.park || run.ahead || required || setup.on_no_approver == OnNoApprover::Queue;
        let queue = setup.approval_queue.as_ref().filter(|_| queued);
        // Whoever never waits asks nobody who would have to be waited for.
        let present = if run.park || required { &[][..] } else { &setup.approvers[..] };
        let allows = setup.on_no_approver == OnNoApprover::AllowWithWarning;
        // What an administrator asks, no setting of a person answers.
        let settings =
            allows && !required && !self.running && !self.question.verdict.is_administrators();
        let mut answerers = vec![Answerer::EarlierAnswer, Answerer::Allowance];
        answerers.extend(present.iter().map(Answerer::Approver));
        answerers.extend(queue.map(Answerer::Queue));
        answerers.extend(settings.then_some(Answerer::Settings));
        answerers
    }

    /// The first answer that anybody gives. [`Stop::NoApprover`] where nobody could.
    pub(super) async fn answer(&self, uses: &mut CallUses) -> Result<AskOutcome, Stop> {
        let mut progress = AskProgress::default();
        for answerer in self.answerers() {
            let outcome = match answerer {
                Answerer::EarlierAnswer => self.earlier_answer(),
                Answerer::Allowance => self.allowance(uses).await,
                Answerer::Approver(approver) => {
                    // Git may write its files while a person thinks: what it was is noted before.
                    // What ran ahead is taken by another process.
                    let ahead = self.run.ahead;
                    if let Some(keeping) = self.keeping.filter(|it| ahead || it.changes_git()) {
                        keeping.keep(&self.question.binding).await?;
                    }
                    self.ask(approver, &self.question, &mut progress).await?
                }
                Answerer::Queue(queue) => {
                    let question = self.kept_question().await?;
                    self.ask(queue, &question, &mut progress).await?
                }
                // Whoever may have said no is not overruled by what holds where nobody is there.
                Answerer::Settings if progress.unread.is_some() => None,
                Answerer::Settings => {
                    self.emit_asked(&mut progress);
                    self.warn_unapproved();
                    Some(AskOutcome::NotAskedAllowed)
                }
            };
            if let Some(outcome) = outcome {
                return Ok(outcome);
            }
        }
        self.emit_asked(&mut progress);
        let verdict = &self.question.verdict;
        let rules = |it: &&Reason| matches!(it.source, Source::Rule | Source::Administrator);
        let by_rule =
            verdict.because.iter().filter(rules).any(|it| it.decision == verdict.decision);
        let no_approver = || Stop::NoApprover { why: verdict.why().into_owned(), by_rule };
        let refusal = progress.unread.or_else(|| tainted::refusal(&self.question));
        Err(refusal.unwrap_or_else(no_approver))
    }

    /// The question as the queue is asked it: it names the run that is kept.
    async fn kept_question(&self) -> Result<Cow<'_, Question>, Stop> {
        let Some(keeping) = self.keeping else { return Ok(Cow::Borrowed(&self.question)) };
        let pending = Some(keeping.keep(&self.question.binding).await?);
        Ok(Cow::Owned(Question { pending, ..self.question.clone() }))
    }

    fn earlier_answer(&self) -> Option<AskOutcome> {
        self.covered_by().map(AskOutcome::Remembered)
    }

    fn covered_by(&self) -> Option<String> {
        let grant = self.question.grant.as_ref();
        let edits = || sessions::covering_edits(self.setup, self.run, self.edits);
        let covered = sessions::covering(self.setup, self.run, grant);
        covered.or_else(|| self.question.offers_edits().then(edits).flatten())
    }

    async fn allowance(&self, uses: &mut CallUses) -> Option<AskOutcome> {
        let verdict = &self.question.verdict;
        let by = allowance::take(self.setup, self.run, verdict, uses, self.covers?).await;
        by.map(AskOutcome::Allowance)
    }

    /// Puts the question to an approver. `None` when it reaches nobody.
    async fn ask(
        &self,
        approver: &Arc<dyn Approver>,
        question: &Question,
        progress: &mut AskProgress,
    ) -> Result<Option<AskOutcome>, Stop> {
        tokio::select! {
            answered = self.submit(approver, question, progress) => answered,
            () = self.run.cancel.cancelled() => {
                // Whoever goes away may come back for the answer; whoever cancels does not want it.
                if self.running || !self.run.leave.is_cancelled() {
                    self.setup.approval_queue.iter().for_each(|it| it.withdraw(&self.question));
                }
                Err(Stop::Cancelled { ran: self.running })
            }
        }
    }

    async fn submit(
        &self,
        approver: &Arc<dyn Approver>,
        question: &Question,
        progress: &mut AskProgress,
    ) -> Result<Option<AskOutcome>, Stop> {
        let several = approver.takes_several();
        let _turn = if several { None } else { Some(self.turn().await) };
        // While this call waited for its turn, another answer may have covered it.
        if let Some(covered) = self.earlier_answer() {
            return Ok(Some(covered));
        }
        self.emit_asked(progress);
        // Only the queue can do without waiting.
        let wait = !(self.run.park || self.run.park_absent || self.run.ahead);
        let asking = async { approver.submit(question, wait).await };
        let asking = tokio::time::timeout(question.time, AssertUnwindSafe(asking).catch_unwind());
        let answered = tokio::select! {
            biased;
            answered = asking => answered,
            by = waiting::covered_meanwhile(self.setup, || self.covered_by()), if several => {
                approver.withdraw(question);
                return Ok(Some(AskOutcome::Remembered(by)));
            }
        };
        if answered.is_err() {
            // Nobody should say yes to what is refused already.
            approver.withdraw(question);
        }
        let failed =
            |what: String| Stop::denied(Decider::Approver(approver.name().to_owned()), what);
        match answered {
            Ok(Ok(Ok(said))) => {
                required::check(self.setup, question, &said).await?;
                Ok(Some(AskOutcome::Answered(said)))
            }
            Ok(Ok(Err(NotAsked::Unavailable(_)))) => Ok(None),
            Ok(Ok(Err(NotAsked::Parked(id)))) => Err(Stop::Parked(id)),
            Ok(Ok(Err(NotAsked::Unread(why)))) => {
                progress.unread = Some(failed(why));
                Ok(None)
            }
            Ok(Ok(Err(NotAsked::Failed(what)))) => Err(failed(what)),
            Ok(Err(_panic)) => Err(failed("it crashed".to_owned())),
            Err(_elapsed) => Err(Stop::ApprovalExpired),
        }
    }

    /// One question at a time, for an approver who cannot take several.
    async fn turn(&self) -> MutexGuard<'_, ()> {
        if let Ok(turn) = self.setup.state.asking.try_lock() {
            return turn;
        }
        // Whoever waits for the call can be told that it stands still.
        self.setup.events.send(|| Event::Queued {
            session: self.run.session.clone(),
            call: self.call.id().to_owned(),
            tool: self.call.name().to_owned(),
        });
        self.setup.state.asking.lock().await
    }

    fn warn_unapproved(&self) {
        self.setup.events.send(|| Event::Warning {
            call: Some(self.call.id().to_owned()),
            text: UNAPPROVED.to_owned(),
        });
        tracing::warn!(tool = self.call.name(), "{UNAPPROVED}");
    }

    /// Tells listeners once that somebody is being asked.
    fn emit_asked(&self, progress: &mut AskProgress) {
        if !std::mem::replace(&mut progress.emitted, true) {
            waiting::emit_asked(self.setup, self.run, &self.question);
        }
    }

    /// Tells listeners how the question ended, and gives back what the record says of it. `opens`
    /// says whether an answer is a yes to what was asked.
    pub(super) fn conclude(
        &self,
        outcome: &Result<AskOutcome, Stop>,
        opens: impl Fn(&Answer) -> bool,
    ) -> Approval {
        let (answer, by, question) = match outcome {
            Ok(AskOutcome::Answered(said)) => {
                self.emit_approval(opens(&said.answer), &said.by);
                (said.answer.word(), said.by.clone(), said.question)
            }
            // Nobody was told that this is asked.
            Ok(AskOutcome::Remembered(by)) => ("remembered", by.clone(), None),
            Ok(AskOutcome::Allowance(by)) => {
                self.emit_approval(true, by);
                ("allowance", by.clone(), None)
            }
            Ok(AskOutcome::NotAskedAllowed) => {
                let by = "no_handler".to_owned();
                self.emit_approval(true, &by);
                (Answer::Once.word(), by, None)
            }
            Err(stop) => {
                self.emit_approval(false, stop.code());
                let parked = if let Stop::Parked(id) = stop { Some(*id) } else { None };
                (stop.code(), "nobody".to_owned(), parked)
            }
        };
        let binding = self.question.binding.clone();
        Approval { answer, binding, by, question, opens: false }
    }

    fn emit_approval(&self, approved: bool, source: &str) {
        let (setup, call) = (self.setup, self.call);
        tracing::info!(tool = call.name(), approved, by = source, "tool_approval");
        setup.events.send(|| Event::ToolApproval {
            session: call.context().session.clone().unwrap_or_default(),
            call: call.id().to_owned(),
            tool: call.name().to_owned(),
            params: setup.redactor.value(call.args()).0.into_owned(),
            digest: call.digest(),
            approved,
            source: source.to_owned(),
        });
    }
}
