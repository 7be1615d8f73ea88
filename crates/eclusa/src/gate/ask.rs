//! The person's turn: who is asked, what the answer means, and what is remembered of it.

use std::panic::AssertUnwindSafe;

use futures::FutureExt;
use serde_json::Value;

use crate::{
    Answer, Approver, Decision, Event, Grant, NotAsked, OnNoApprover, Question, Run, Stop,
    Validated, Verdict,
    audit::{body::Approval, trail::Trail},
    gate::{House, judge::judge},
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
    house: &House,
    run: &Run,
    call: &Validated,
    trail: &mut Trail,
) -> Result<Approved, Stop> {
    let grant = Grant::covering(call);
    if let Some(by) = house.memory.covers(&run.conversation, &grant) {
        note(trail, call, "remembered", by);
        return Ok(Approved::Yes);
    }
    let _turn = tokio::select! {
        turn = house.asking.lock() => turn,
        () = run.cancel.cancelled() => return Err(Stop::Cancelled { ran: false }),
    };
    // While this call waited for its turn, another answer may have covered it.
    if let Some(by) = house.memory.covers(&run.conversation, &grant) {
        note(trail, call, "remembered", by);
        return Ok(Approved::Yes);
    }
    let question = question(house, run, call, trail, grant);
    house.events.send(|| Event::Asked { call: question.call.clone(), tool: question.tool.clone() });
    let answered = tokio::select! {
        answered = reach(house, &question) => answered,
        () = run.cancel.cancelled() => Err(Stop::Cancelled { ran: false }),
    };
    let answered = match answered {
        Err(Stop::NoApprover) if house.on_no_approver == OnNoApprover::AllowWithWarning => {
            let warning = "a person should have approved this call, and nobody could be asked: it ran without approval";
            trail.warnings.push(warning.to_owned());
            house.events.send(|| Event::Warning {
                call: Some(call.id().to_owned()),
                text: warning.to_owned(),
            });
            tracing::warn!(tool = call.name(), "{warning}");
            Answered { answer: Answer::Once, by: "no_handler".to_owned() }
        }
        Err(stop) => {
            note(trail, call, stop.code(), "nobody".to_owned());
            tell(house, call, false, stop.code());
            return Err(stop);
        }
        Ok(answered) => answered,
    };
    understood(house, run, call, question, answered, trail)
}

/// What the person's answer means.
fn understood(
    house: &House,
    run: &Run,
    call: &Validated,
    question: Question,
    answered: Answered,
    trail: &mut Trail,
) -> Result<Approved, Stop> {
    let Answered { answer, by } = answered;
    let word = match &answer {
        Answer::Once => "once",
        Answer::Session => "session",
        Answer::Always => "always",
        Answer::Edit(_) => "edit",
        Answer::No(_) => "no",
        Answer::Abort => "abort",
    };
    note(trail, call, word, by.clone());
    let yes = matches!(answer, Answer::Once | Answer::Session | Answer::Always);
    tell(house, call, yes, &by);
    match (answer, question.grant) {
        (Answer::No(why), _) => {
            let why = if why.is_empty() { "no".to_owned() } else { why };
            return Err(Stop::denied(Decider::Person, why));
        }
        (Answer::Abort, _) => return Err(Stop::Aborted { ran: false }),
        (Answer::Edit(args), _) => return Ok(Approved::Edited(args)),
        (Answer::Session, Some(grant)) => house.memory.session(&run.conversation, grant),
        (Answer::Always, Some(grant)) => {
            if let Err(why) = house.memory.always(grant) {
                trail
                    .warnings
                    .push(format!("approved this once, but `always` could not be kept: {why}"));
            }
        }
        (Answer::Once | Answer::Session | Answer::Always, _) => {}
    }
    still_bound(house, run, call)?;
    Ok(Approved::Yes)
}

/// While a person thought, the rules or the tool may have changed: then the yes is to something
/// else.
fn still_bound(house: &House, run: &Run, call: &Validated) -> Result<(), Stop> {
    let now = house.registry.get(call.name());
    if now.is_none_or(|tool| tool.revision() != call.revision()) {
        return Err(Stop::denied(Decider::Policy, "the tool changed while a person was asked"));
    }
    let verdict = judge(house, run, call);
    match verdict.decision {
        Decision::Deny => Err(Stop::denied(Decider::Policy, verdict.why())),
        Decision::Allow | Decision::Stage | Decision::Ask => Ok(()),
    }
}

/// Everything that a person is shown.
fn question(house: &House, run: &Run, call: &Validated, trail: &Trail, grant: Grant) -> Question {
    Question {
        call: call.id().to_owned(),
        tool: call.name().to_owned(),
        server: call.server().map(str::to_owned),
        class: call.class(),
        args: call.args().clone(),
        touches: call.touches().to_vec(),
        verdict: trail.verdict.clone().unwrap_or_else(|| Verdict::of(Vec::new())),
        reason: call.reason().map(str::to_owned),
        destructive: call.facts().destructive,
        deliverable: trail.deliverable.clone(),
        binding: call.binding().to_string(),
        can_always: house.memory.can_always() && grant.can_last(),
        grant: Some(grant),
        principal: run.principal.to_string(),
        conversation: run.conversation.to_string(),
        time: house.limits.approval,
    }
}

/// Puts the question to each approver in turn, until one can reach somebody.
async fn reach(house: &House, question: &Question) -> Result<Answered, Stop> {
    let desk = match house.on_no_approver {
        OnNoApprover::Queue => house.desk.as_ref(),
        OnNoApprover::Deny | OnNoApprover::AllowWithWarning => None,
    };
    for approver in house.approvers.iter().chain(desk) {
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
fn tell(house: &House, call: &Validated, approved: bool, source: &str) {
    house.events.send(|| Event::ToolApproval {
        call: call.id().to_owned(),
        tool: call.name().to_owned(),
        params: house.redactor.value(call.args()).0.into_owned(),
        digest: call.digest(),
        approved,
        source: source.to_owned(),
    });
}

/// Anyone who can be asked.
pub(crate) type Approvers = Vec<std::sync::Arc<dyn Approver>>;
