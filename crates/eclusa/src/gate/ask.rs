//! The person's turn: who is asked, what the answer means, and what is remembered of it.

use std::panic::AssertUnwindSafe;

use futures::FutureExt;
use serde_json::Value;
use tokio::sync::MutexGuard;

use crate::{
    Answer, Decision, Event, Grant, NotAsked, OnNoApprover, Preview, Question, Reason, ReasonId,
    Run, Source, Stop, Validated, Verdict,
    audit::{body::Approval, trail::Trail},
    gate::{GateSetup, judge::judge},
    stop::Decider,
};

/// What came of asking.
pub(crate) enum Approved {
    /// Go ahead.
    Yes,
    /// Do this instead.
    Edited(Value),
}

/// How the question was answered, and by whom.
struct Answered {
    answer: Answer,
    by: String,
}

/// Gets a person's answer: a remembered one, or that of the first approver who can reach anybody.
///
/// One question at a time, however many calls wait; waiting is nobody's run time.
pub(crate) async fn ask(
    setup: &GateSetup,
    run: &Run,
    call: &Validated,
    trail: &mut Trail,
) -> Result<Approved, Stop> {
    let grant = grant_for(setup, call, trail.verdict.as_ref());
    let covered = |grant: &Grant| setup.live.memory.covers(&run.conversation, grant);
    if let Some(by) = grant.as_ref().and_then(covered) {
        note(trail, call, "remembered", by);
        return Ok(Approved::Yes);
    }
    let _turn = turn(setup, run, call).await?;
    // While this call waited for its turn, another answer may have covered it.
    if let Some(by) = grant.as_ref().and_then(covered) {
        note(trail, call, "remembered", by);
        return Ok(Approved::Yes);
    }
    let question = question(setup, run, call, trail, grant);
    let answered = match ask_someone(setup, run, call, &question, trail).await {
        Err(stop) => {
            note(trail, call, stop.code(), "nobody".to_owned());
            emit_approval_event(setup, call, false, stop.code());
            return Err(stop);
        }
        Ok(answered) => answered,
    };
    apply_answer(setup, run, call, question, answered, trail)
}

/// Gets a person's answer about what a call would change. The answer is bound to exactly these
/// changes, and there is nothing to edit: the call has run.
///
/// An earlier answer for the tool covers them where only the defaults ask. What a rule over
/// effects asks about was not seen when that answer was given.
pub(crate) async fn ask_about_changes(
    setup: &GateSetup,
    run: &Run,
    call: &Validated,
    verdict: Verdict,
    preview: Preview,
    trail: &mut Trail,
) -> Result<(), Stop> {
    let by_default = |it: &Reason| it.decision < Decision::Ask || it.source == Source::Default;
    let plain = verdict.because.iter().all(by_default);
    let grant = plain.then(|| grant_for(setup, call, Some(&verdict))).flatten();
    let covered = |grant: &Grant| setup.live.memory.covers(&run.conversation, grant);
    let digest = trail.changes.as_ref().map_or_else(String::new, |it| it.digest.to_string());
    let binding = format!("{} {digest}", call.binding());
    let noted = |trail: &mut Trail, answer, by| {
        let binding = binding.clone();
        if let Some(changes) = &mut trail.changes {
            changes.approval = Some(Approval { answer, binding, by });
        }
    };
    if let Some(by) = grant.as_ref().and_then(covered) {
        noted(trail, "remembered", by);
        return Ok(());
    }
    let _turn = turn(setup, run, call).await?;
    if let Some(by) = grant.as_ref().and_then(covered) {
        noted(trail, "remembered", by);
        return Ok(());
    }
    // What a person has not seen in full is not allowed for good.
    let whole = preview.whole;
    let question = Question {
        can_always: whole
            && setup.live.memory.can_always()
            && grant.as_ref().is_some_and(Grant::can_last),
        verdict,
        preview: Some(preview),
        binding: binding.clone(),
        ..question(setup, run, call, trail, grant.clone())
    };
    let answered = match ask_someone(setup, run, call, &question, trail).await {
        Err(stop) => {
            noted(trail, stop.code(), "nobody".to_owned());
            emit_approval_event(setup, call, false, stop.code());
            return Err(stop);
        }
        Ok(answered) => answered,
    };
    noted(trail, word(&answered.answer), answered.by.clone());
    let yes = matches!(answered.answer, Answer::Once | Answer::Session | Answer::Always);
    emit_approval_event(setup, call, yes, &answered.by);
    match answered.answer {
        Answer::Edit(_) => {
            let why = "the changes are made already, and cannot be edited";
            Err(Stop::denied(Decider::Approver(answered.by), why))
        }
        answer => remember_answer(setup, run, answer, grant, trail),
    }
}

/// One question at a time, unless whoever is asked first can take several.
async fn turn<'a>(
    setup: &'a GateSetup,
    run: &Run,
    call: &Validated,
) -> Result<Option<MutexGuard<'a, ()>>, Stop> {
    if setup.approvers.first().is_some_and(|it| it.takes_several()) {
        return Ok(None);
    }
    if let Ok(turn) = setup.live.asking.try_lock() {
        return Ok(Some(turn));
    }
    // Whoever waits for the call can be told that it stands still.
    let (id, tool) = (call.id(), call.name());
    setup.events.send(|| Event::Queued {
        conversation: run.conversation.clone(),
        call: id.to_owned(),
        tool: tool.to_owned(),
    });
    tokio::select! {
        turn = setup.live.asking.lock() => Ok(Some(turn)),
        () = run.cancel.cancelled() => Err(Stop::Cancelled { ran: false }),
    }
}

/// Puts the question to whoever can be reached. Where nobody can, the configuration may say that
/// the answer is yes, with a warning.
async fn ask_someone(
    setup: &GateSetup,
    run: &Run,
    call: &Validated,
    question: &Question,
    trail: &mut Trail,
) -> Result<Answered, Stop> {
    setup.events.send(|| Event::Asked {
        conversation: run.conversation.clone(),
        call: question.call.clone(),
        tool: question.tool.clone(),
    });
    let answered = tokio::select! {
        answered = ask_approvers(setup, question) => answered,
        () = run.cancel.cancelled() => Err(Stop::Cancelled { ran: false }),
    };
    match answered {
        Err(Stop::NoApprover) if setup.on_no_approver == OnNoApprover::AllowWithWarning => {
            let warning = "a person should have approved this call, and nobody could be asked: it ran without approval";
            trail.warnings.push(warning.to_owned());
            setup.events.send(|| Event::Warning {
                call: Some(call.id().to_owned()),
                text: warning.to_owned(),
            });
            tracing::warn!(tool = call.name(), "{warning}");
            Ok(Answered { answer: Answer::Once, by: "no_handler".to_owned() })
        }
        answered => answered,
    }
}

/// What the person's answer means.
fn apply_answer(
    setup: &GateSetup,
    run: &Run,
    call: &Validated,
    question: Question,
    answered: Answered,
    trail: &mut Trail,
) -> Result<Approved, Stop> {
    let Answered { answer, by } = answered;
    note(trail, call, word(&answer), by.clone());
    let yes = matches!(answer, Answer::Once | Answer::Session | Answer::Always);
    emit_approval_event(setup, call, yes, &by);
    match answer {
        Answer::Edit(args) => return Ok(Approved::Edited(args)),
        answer => remember_answer(setup, run, answer, question.grant, trail)?,
    }
    still_bound(setup, run, call)?;
    Ok(Approved::Yes)
}

/// Keeps what an answer says beyond this call; a no is a stop.
fn remember_answer(
    setup: &GateSetup,
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
        (Answer::Session, Some(grant)) => setup.live.memory.session(&run.conversation, grant),
        (Answer::Always, Some(grant)) => {
            if let Err(why) = setup.live.memory.always(grant) {
                trail
                    .warnings
                    .push(format!("approved this once, but `always` could not be kept: {why}"));
            }
        }
        (Answer::Once | Answer::Session | Answer::Always | Answer::Edit(_), _) => {}
    }
    Ok(())
}

/// The word for an answer in records.
fn word(answer: &Answer) -> &'static str {
    match answer {
        Answer::Once => "once",
        Answer::Session => "session",
        Answer::Always => "always",
        Answer::Edit(_) => "edit",
        Answer::No(_) => "no",
        Answer::Abort => "abort",
    }
}

/// While a person thought, the rules or the tool may have changed: then the yes is to something
/// else.
fn still_bound(setup: &GateSetup, run: &Run, call: &Validated) -> Result<(), Stop> {
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

/// What a yes would cover beyond this call. While there is text from outside in the conversation,
/// each call that could do harm with it is looked at on its own.
fn grant_for(setup: &GateSetup, call: &Validated, verdict: Option<&Verdict>) -> Option<Grant> {
    let tainted = |it: &Reason| it.decision == Decision::Ask && it.origin == ReasonId::Taint;
    let workspace = setup.workspace.as_ref().map(|it| it.root());
    let plain = verdict.is_none_or(|it| !it.because.iter().any(tainted));
    plain.then(|| Grant::covering(call, workspace))
}

/// Everything that a person is shown.
fn question(
    setup: &GateSetup,
    run: &Run,
    call: &Validated,
    trail: &Trail,
    grant: Option<Grant>,
) -> Question {
    Question {
        call: call.id().to_owned(),
        tool: call.name().to_owned(),
        server: call.server().map(str::to_owned),
        class: call.class(),
        args: call.args().clone(),
        touches: call.touches().to_vec(),
        verdict: trail.verdict.clone().unwrap_or_else(|| Verdict::from_reasons(Vec::new())),
        reason: call.reason().map(str::to_owned),
        destructive: call.facts().destructive,
        reverse_thinking: trail.reverse_thinking.clone(),
        preview: None,
        binding: call.binding().to_string(),
        can_always: setup.live.memory.can_always() && grant.as_ref().is_some_and(Grant::can_last),
        grant,
        principal: run.principal.to_string(),
        conversation: run.conversation.to_string(),
        time: setup.limits.approval,
    }
}

/// Puts the question to each approver in turn, until one can reach somebody.
async fn ask_approvers(setup: &GateSetup, question: &Question) -> Result<Answered, Stop> {
    let desk = match setup.on_no_approver {
        OnNoApprover::Queue => setup.approval_queue.as_ref(),
        OnNoApprover::Deny | OnNoApprover::AllowWithWarning => None,
    };
    for approver in setup.approvers.iter().chain(desk) {
        let asking = AssertUnwindSafe(async { approver.ask(question).await }).catch_unwind();
        let failed =
            |what: String| Stop::denied(Decider::Approver(approver.name().to_owned()), what);
        match tokio::time::timeout(question.time, asking).await {
            Ok(Ok(Ok(answer))) => {
                return Ok(Answered { answer, by: approver.name().to_owned() });
            }
            Ok(Ok(Err(NotAsked::Unavailable(_)))) => {}
            Ok(Ok(Err(NotAsked::Failed(what)))) => return Err(failed(what)),
            Ok(Err(_panic)) => return Err(failed("it crashed".to_owned())),
            Err(_elapsed) => return Err(Stop::ApprovalExpired),
        }
    }
    Err(Stop::NoApprover)
}

fn note(trail: &mut Trail, call: &Validated, answer: &'static str, by: String) {
    trail.approval = Some(Approval { answer, binding: call.binding().to_string(), by });
}

/// Tells whoever is listening how the question ended.
fn emit_approval_event(setup: &GateSetup, call: &Validated, approved: bool, source: &str) {
    setup.events.send(|| Event::ToolApproval {
        conversation: call.context().conversation.clone().unwrap_or_default(),
        call: call.id().to_owned(),
        tool: call.name().to_owned(),
        params: setup.redactor.value(call.args()).0.into_owned(),
        digest: call.digest(),
        approved,
        source: source.to_owned(),
    });
}
