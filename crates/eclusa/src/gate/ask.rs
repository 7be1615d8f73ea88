//! The person's turn: who is asked, what the answer means, and what is remembered of it.

use std::{panic::AssertUnwindSafe, path::PathBuf};

use futures::FutureExt;
use serde_json::Value;
use tokio::sync::MutexGuard;

use crate::{
    Answer, AnswerGiven, Decision, Event, Grant, NotAsked, OnNoApprover, Policy as _, Preview,
    Question, Reason, ReasonId, Rules, Run, Source, Stop, Validated, Verdict,
    audit::{body::Approval, trail::Trail},
    gate::{Setup, allowance, judge::judge, picked, question::question, sessions},
    stop::Decider,
};

pub(in crate::gate) mod required;
mod tainted;
mod waiting;

/// What came of asking.
pub(crate) enum Approved {
    /// Go ahead.
    Yes,
    /// Do this instead.
    Edited(Value),
}

/// What asking brought.
pub(super) enum AskOutcome {
    /// Somebody answered.
    Answered(AnswerGiven),
    /// Nobody was there, and the settings say that the call runs anyway.
    NotAskedAllowed(AnswerGiven),
    /// While the call waited, another answer came to cover it.
    Remembered(String),
}

/// Gets a person's answer: a remembered one, or that of the first approver who can reach anybody.
///
/// Waiting is nobody's run time.
pub(crate) async fn ask(
    setup: &Setup,
    run: &Run,
    call: &Validated,
    trail: &mut Trail,
) -> Result<Approved, Stop> {
    let grant = grant_for(setup, call, trail.verdict.as_ref());
    let covered = || sessions::covering(setup, run, grant.as_ref());
    let remembered = |trail: &mut Trail, by| {
        trail.uses.approved = true;
        note(trail, call, "remembered", by, None);
    };
    if let Some(by) = covered() {
        remembered(trail, by);
        return Ok(Approved::Yes);
    }
    let covers = |rules: &Rules| allowance::is_by_rule(&rules.judge(&call.view()));
    if let Some(verdict) = trail.verdict.clone()
        && let Some(by) = allowance::take(setup, run, &verdict, trail, covers).await
    {
        trail.uses.approved = true;
        note(trail, call, "allowance", by, None);
        return Ok(Approved::Yes);
    }
    let question = question(setup, run, call, trail, grant.clone());
    match ask_someone(setup, run, call, &question, &covered, trail).await {
        Err(stop) => {
            note(trail, call, stop.code(), "nobody".to_owned(), parked(&stop));
            emit_approval_event(setup, call, false, stop.code());
            Err(stop)
        }
        Ok(AskOutcome::Remembered(by)) => {
            remembered(trail, by);
            Ok(Approved::Yes)
        }
        Ok(AskOutcome::Answered(said)) => {
            apply_answer(setup, run, call, question.grant, said, trail)
        }
        Ok(AskOutcome::NotAskedAllowed(said)) => {
            let applied = apply_answer(setup, run, call, question.grant, said, trail);
            trail.uses.approved = false;
            applied
        }
    }
}

/// The number under which a question waits that nobody waits for.
fn parked(stop: &Stop) -> Option<u64> {
    match stop {
        Stop::Parked(id) => Some(*id),
        _ => None,
    }
}

/// Gets a person's answer about what a call would change. The answer is bound to exactly these
/// changes, and there is nothing to edit: the call has run.
///
/// An earlier answer for the tool covers them where only the defaults ask. What a rule over
/// effects asks about was not seen when that answer was given.
///
/// The paths that are to be applied, where the person picked some; `None`: all of them.
pub(crate) async fn ask_about_changes(
    setup: &Setup,
    run: &Run,
    call: &Validated,
    verdict: Verdict,
    preview: Preview,
    trail: &mut Trail,
) -> Result<Option<Vec<PathBuf>>, Stop> {
    let by_default = |it: &Reason| it.decision < Decision::Ask || it.source == Source::Default;
    let plain = verdict.because.iter().all(by_default);
    let grant = plain.then(|| grant_for(setup, call, Some(&verdict))).flatten();
    let covered = || sessions::covering(setup, run, grant.as_ref());
    let digest = trail.changes.as_ref().map_or_else(String::new, |it| it.digest.to_string());
    let binding = format!("{} {digest}", call.binding());
    let noted = |trail: &mut Trail, answer, by, question| {
        let binding = binding.clone();
        if let Some(changes) = &mut trail.changes {
            changes.approval = Some(Approval { answer, binding, by, question, opens: false });
        }
    };
    if let Some(by) = covered() {
        noted(trail, "remembered", by, None);
        return Ok(None);
    }
    // What a person has not seen in full is not allowed for good.
    let whole = preview.whole;
    let time = required::time(setup, &verdict);
    let question = Question {
        can_always: whole
            && setup.state.memory.can_always()
            && grant.as_ref().is_some_and(Grant::can_last),
        verdict,
        preview: Some(preview),
        binding: binding.clone(),
        time,
        ..question(setup, run, call, trail, grant.clone())
    };
    let said = match ask_someone(setup, run, call, &question, &covered, trail).await {
        Err(stop) => {
            noted(trail, stop.code(), "nobody".to_owned(), parked(&stop));
            emit_approval_event(setup, call, false, stop.code());
            return Err(stop);
        }
        Ok(AskOutcome::Remembered(by)) => {
            noted(trail, "remembered", by, None);
            return Ok(None);
        }
        Ok(AskOutcome::Answered(said) | AskOutcome::NotAskedAllowed(said)) => said,
    };
    noted(trail, said.answer.word(), said.by.clone(), said.question);
    let yes = said.answer.is_yes() && !matches!(said.answer, Answer::Edit(_));
    emit_approval_event(setup, call, yes, &said.by);
    match said.answer {
        Answer::Edit(_) => {
            let why = "the changes are made already, and cannot be edited";
            Err(Stop::denied(Decider::Approver(said.by), why))
        }
        Answer::Only(paths) => picked::offered(question.preview, paths)
            .map(Some)
            .map_err(|why| Stop::denied(Decider::Approver(said.by), why)),
        answer => remember_answer(setup, run, answer, grant, trail).map(|()| None),
    }
}

/// One question at a time, for an approver who cannot take several.
async fn turn<'a>(setup: &'a Setup, run: &Run, call: &Validated) -> MutexGuard<'a, ()> {
    if let Ok(turn) = setup.state.asking.try_lock() {
        return turn;
    }
    // Whoever waits for the call can be told that it stands still.
    let (id, tool) = (call.id(), call.name());
    setup.events.send(|| Event::Queued {
        session: run.session.clone(),
        call: id.to_owned(),
        tool: tool.to_owned(),
    });
    setup.state.asking.lock().await
}

/// Puts the question to whoever can be reached. Where nobody can, the configuration may say that
/// the answer is yes, with a warning.
async fn ask_someone(
    setup: &Setup,
    run: &Run,
    call: &Validated,
    question: &Question,
    covered: &(dyn Fn() -> Option<String> + Sync),
    trail: &mut Trail,
) -> Result<AskOutcome, Stop> {
    let answered = tokio::select! {
        answered = ask_approvers(setup, run, call, question, covered) => answered,
        () = run.cancel.cancelled() => {
            // Whoever goes away may come back for the answer; whoever cancels does not want it.
            if !run.leave.is_cancelled() {
                setup.approval_queue.iter().for_each(|it| it.withdraw(question));
            }
            Err(Stop::Cancelled { ran: false })
        }
    };
    match answered {
        Err(Stop::NoApprover { .. })
            if setup.on_no_approver == OnNoApprover::AllowWithWarning
                && !required::is_required(question) =>
        {
            let warning = "a person should have approved this call, and nobody could be asked: it ran without approval";
            trail.warnings.push(warning.to_owned());
            setup.events.send(|| Event::Warning {
                call: Some(call.id().to_owned()),
                text: warning.to_owned(),
            });
            tracing::warn!(tool = call.name(), "{warning}");
            let by = "no_handler".to_owned();
            Ok(AskOutcome::NotAskedAllowed(AnswerGiven {
                answer: Answer::Once,
                by,
                question: None,
                votes: Vec::new(),
            }))
        }
        Err(no @ Stop::NoApprover { .. }) => Err(tainted::refusal(question).unwrap_or(no)),
        answered => answered,
    }
}

/// What the person's answer means.
fn apply_answer(
    setup: &Setup,
    run: &Run,
    call: &Validated,
    grant: Option<Grant>,
    said: AnswerGiven,
    trail: &mut Trail,
) -> Result<Approved, Stop> {
    let AnswerGiven { answer, by, question, .. } = said;
    note(trail, call, answer.word(), by.clone(), question);
    let yes = matches!(answer, Answer::Once | Answer::Session | Answer::Always);
    trail.approval.iter_mut().for_each(|it| it.opens = yes);
    trail.uses.approved = yes;
    emit_approval_event(setup, call, yes, &by);
    match answer {
        Answer::Edit(args) => return Ok(Approved::Edited(args)),
        Answer::Only(_) => {
            let why = "it has not run, so there are no changes to pick from";
            return Err(Stop::denied(Decider::Approver(by), why));
        }
        answer => remember_answer(setup, run, answer, grant, trail)?,
    }
    still_bound(setup, run, call)?;
    Ok(Approved::Yes)
}

/// Keeps what an answer says beyond this call; a no is a stop.
fn remember_answer(
    setup: &Setup,
    run: &Run,
    answer: Answer,
    grant: Option<Grant>,
    trail: &mut Trail,
) -> Result<(), Stop> {
    match (answer, grant) {
        (Answer::No(why), _) => {
            let why = if why.is_empty() { "no".to_owned() } else { why };
            return Err(Stop::denied(Decider::Person, why));
        }
        (Answer::Abort, _) => return Err(Stop::Aborted { ran: false }),
        (Answer::Session, Some(grant)) => {
            if let Err(why) = sessions::grant(setup, run, &grant) {
                trail.warnings.push(format!(
                    "approved this once, but the answer for this session could not be kept: {why}"
                ));
            }
        }
        (Answer::Always, Some(grant)) => {
            if let Err(why) = setup.state.memory.always(grant) {
                trail
                    .warnings
                    .push(format!("approved this once, but `always` could not be kept: {why}"));
            }
        }
        (
            Answer::Once | Answer::Session | Answer::Always | Answer::Only(_) | Answer::Edit(_),
            _,
        ) => {}
    }
    Ok(())
}

/// While a person thought, the rules or the tool may have changed: then the yes is to something
/// else.
fn still_bound(setup: &Setup, run: &Run, call: &Validated) -> Result<(), Stop> {
    let now = setup.registry.get(call.name());
    if now.is_none_or(|tool| tool.revision() != call.revision()) {
        return Err(Stop::denied(Decider::Policy, "the tool changed while a person was asked"));
    }
    let verdict = judge(setup, run, call);
    match verdict.decision {
        Decision::Deny => Err(Stop::denied(Decider::Policy, verdict.why())),
        Decision::Allow | Decision::Stage | Decision::Ask => Ok(()),
    }
}

/// What a yes would cover beyond this call. While there is text from outside in the session,
/// each call that could do harm with it is looked at on its own.
fn grant_for(setup: &Setup, call: &Validated, verdict: Option<&Verdict>) -> Option<Grant> {
    let tainted = |it: &Reason| it.decision == Decision::Ask && it.origin == ReasonId::Taint;
    let workspace = setup.workspace.as_ref().map(|it| it.root());
    let required = |it: &Verdict| it.requirements().next().is_some();
    let plain = verdict.is_none_or(|it| !it.because.iter().any(tainted) && !required(it));
    plain.then(|| Grant::covering(call, workspace))
}

/// Puts the question to each approver in turn, until one can reach somebody.
pub(super) async fn ask_approvers(
    setup: &Setup,
    run: &Run,
    call: &Validated,
    question: &Question,
    covered: &(dyn Fn() -> Option<String> + Sync),
) -> Result<AskOutcome, Stop> {
    // Who must answer is proven in the queue, and nowhere else.
    let required = required::is_required(question);
    let queued = run.park || required || setup.on_no_approver == OnNoApprover::Queue;
    let queue = setup.approval_queue.as_ref().filter(|_| queued);
    // Whoever never waits asks nobody who would have to be waited for.
    let present = if run.park || required { &[][..] } else { &setup.approvers[..] };
    // Only the queue can do without waiting.
    let wait = !(run.park || run.park_absent);
    let (mut told, mut unread) = (false, None);
    for approver in present.iter().chain(queue) {
        let several = approver.takes_several();
        let _turn = if several { None } else { Some(turn(setup, run, call).await) };
        // While this call waited for its turn, another answer may have covered it.
        if let Some(by) = covered() {
            return Ok(AskOutcome::Remembered(by));
        }
        if !std::mem::replace(&mut told, true) {
            waiting::emit_asked(setup, run, question);
        }
        let asking = async { approver.submit(question, wait).await };
        let asking = tokio::time::timeout(question.time, AssertUnwindSafe(asking).catch_unwind());
        let answered = tokio::select! {
            biased;
            answered = asking => answered,
            by = waiting::covered_meanwhile(setup, covered), if several => {
                approver.withdraw(question);
                return Ok(AskOutcome::Remembered(by));
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
                required::check(setup, question, &said).await?;
                return Ok(AskOutcome::Answered(said));
            }
            Ok(Ok(Err(NotAsked::Unavailable(_)))) => {}
            Ok(Ok(Err(NotAsked::Parked(id)))) => return Err(Stop::Parked(id)),
            Ok(Ok(Err(NotAsked::Unread(why)))) => unread = Some(failed(why)),
            Ok(Ok(Err(NotAsked::Failed(what)))) => return Err(failed(what)),
            Ok(Err(_panic)) => return Err(failed("it crashed".to_owned())),
            Err(_elapsed) => return Err(Stop::ApprovalExpired),
        }
    }
    if !told {
        waiting::emit_asked(setup, run, question);
    }
    // Whoever may have said no is not overruled by what holds where nobody is there.
    Err(unread.unwrap_or_else(|| Stop::NoApprover { why: question.verdict.why().into_owned() }))
}

fn note(
    trail: &mut Trail,
    call: &Validated,
    answer: &'static str,
    by: String,
    question: Option<u64>,
) {
    let binding = call.binding().to_string();
    trail.approval = Some(Approval { answer, binding, by, question, opens: false });
}

/// Tells whoever is listening how the question ended.
pub(super) fn emit_approval_event(setup: &Setup, call: &Validated, approved: bool, source: &str) {
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
