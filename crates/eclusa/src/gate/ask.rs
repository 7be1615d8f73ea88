//! The person's turn: what is asked, what the answer means, and what is remembered of it.
//!
//! Three things are asked, and each has an answer of its own type: may a call run, may its changes
//! be applied, may it reach these hosts. Who answers is one list for all of them ([`answerers`]).

use std::path::PathBuf;

use serde_json::Value;

use crate::{
    Answer, AnswerGiven, Decision, Grant, Hash, Policy as _, Preview, Question, Reason, ReasonId,
    Rules, Run, Source, Stop, Validated, Verdict,
    approve::{QuestionAbout, STAGING, votes::opens},
    audit::trail::{ChangesOutcome, Trail},
    gate::{
        Setup, allowance,
        judge::{can_stage, judge},
        pending::Keeping,
        picked,
        question::{binding, question},
        sessions,
    },
    policy::STALE_RULE,
    stop::Decider,
};

use answerers::{AskOutcome, Inquiry, UNAPPROVED};

mod answerers;
pub(in crate::gate) mod hosts;
pub(in crate::gate) mod required;
pub(in crate::gate) mod signature;
mod tainted;
mod waiting;

/// What came of asking whether a call may run.
pub(crate) enum Approved {
    /// Go ahead.
    Yes,
    /// Do this instead.
    Edited(Value),
}

/// What came of asking whether changes may be applied.
#[derive(Debug, Clone)]
pub(crate) enum ApprovedChanges {
    /// An earlier answer, an allowance or the settings apply all of them: nobody has seen them.
    Unseen,
    /// A person has seen them and applies all of them.
    All,
    /// A person has seen them and applies those of these paths.
    Picked(Vec<PathBuf>),
}

/// Asks whether a call may run.
///
/// Waiting is nobody's run time.
pub(crate) async fn ask(
    setup: &Setup,
    run: &Run,
    call: &Validated,
    trail: &mut Trail,
) -> Result<Approved, Stop> {
    let grant = grant_for(setup, call, trail.verdict.as_ref());
    let question = told_of_staging(setup, run, call, question(setup, run, call, trail, grant));
    let covers = |rules: &Rules| allowance::is_by_rule(&rules.judge(&call.view()));
    let inquiry = Inquiry {
        setup,
        run,
        call,
        question,
        covers: Some(&covers),
        edits: &[],
        keeping: None,
        running: false,
    };
    let outcome = inquiry.answer(&mut trail.uses).await;
    trail.approval = Some(inquiry.conclude(&outcome, runs));
    trail.uses.files = inquiry.question.bound_files().map(str::to_owned);
    let said = match outcome? {
        AskOutcome::Remembered(_) | AskOutcome::Allowance(_) => {
            trail.uses.approved = true;
            return Ok(Approved::Yes);
        }
        AskOutcome::NotAskedAllowed => {
            trail.uses.approved = false;
            trail.warnings.push(UNAPPROVED.to_owned());
            return still_bound(setup, run, call, &inquiry.question).map(|()| Approved::Yes);
        }
        AskOutcome::Answered(said) => said,
    };
    trail.uses.approved = runs(&said.answer);
    trail.approval.iter_mut().for_each(|it| it.opens = runs(&said.answer));
    match said.answer {
        Answer::Edit(args) => return Ok(Approved::Edited(args)),
        Answer::Review => trail.review_changes = true,
        Answer::Instead(text) => return Err(instead(setup, said.by, &text)),
        Answer::Only(_) | Answer::Edits => {
            let why = "it has not run, so there are no changes to pick from";
            return Err(Stop::denied(Decider::Approver(said.by), why));
        }
        answer => remember_answer(setup, run, &inquiry.question, answer, trail)?,
    }
    still_bound(setup, run, call, &inquiry.question)?;
    Ok(Approved::Yes)
}

/// The question, which says that the call is staged where it is: then one yes is enough, and what it
/// does can be taken back.
fn told_of_staging(setup: &Setup, run: &Run, call: &Validated, mut question: Question) -> Question {
    if can_stage(setup, call) && setup.delegate.is_none() && !run.review_changes {
        question.destructive = false;
        question.verdict.because.push(Reason {
            decision: Decision::Stage,
            source: Source::Default,
            origin: STAGING.into(),
            text: "runs in the sandbox; its changes are then applied, and can be undone".into(),
        });
    }
    question
}

/// Whether an answer lets a call run as it is.
fn runs(answer: &Answer) -> bool {
    matches!(answer, Answer::Once | Answer::Session | Answer::Review | Answer::Always)
}

/// Asks whether what a call would change may be applied. The answer is bound to exactly these
/// changes, and there is nothing to edit: the call has run. `covers` says whether the rule of an
/// allowance alone allows them. `keeping` keeps them before anybody is asked who may be away.
///
/// An earlier answer for the tool covers them where only the defaults ask. What a rule over
/// effects asks about was not seen when that answer was given.
pub(crate) async fn ask_about_changes(
    setup: &Setup,
    run: &Run,
    call: &Validated,
    (verdict, preview, edits): (Verdict, Preview, &[Hash]),
    covers: &(dyn Fn(&Rules) -> bool + Sync),
    keeping: Option<&Keeping<'_>>,
    trail: &mut Trail,
) -> Result<ApprovedChanges, Stop> {
    let by_default = |it: &Reason| it.decision < Decision::Ask || it.source == Source::Default;
    let plain = verdict.because.iter().all(by_default);
    let grant = plain.then(|| grant_for(setup, call, Some(&verdict))).flatten();
    let digest = trail.changes.as_ref().map_or_else(String::new, |it| it.digest.to_string());
    let general = question(setup, run, call, trail, grant);
    let question = Question {
        // What a person has not seen in full is not allowed for good.
        can_always: preview.whole && general.can_always,
        time: required::time(setup, &verdict),
        verdict,
        about: QuestionAbout::Changes(preview),
        binding: format!("{} changes {digest}", call.binding()),
        ..general
    };
    let covers = Some(covers);
    let inquiry = Inquiry { setup, run, call, question, covers, edits, keeping, running: false };
    let outcome = inquiry.answer(&mut trail.uses).await;
    let approval = inquiry.conclude(&outcome, opens);
    trail.changes.iter_mut().for_each(|it| it.approval = Some(approval.clone()));
    if let (Err(Stop::Parked(_)), Some(keeping)) = (&outcome, keeping) {
        trail.changes.iter_mut().for_each(|it| it.outcome = ChangesOutcome::Pending);
        trail.warnings.extend(keeping.behind().await);
    }
    let said = match outcome? {
        AskOutcome::Remembered(_) | AskOutcome::Allowance(_) => return Ok(ApprovedChanges::Unseen),
        AskOutcome::NotAskedAllowed => {
            trail.warnings.push(UNAPPROVED.to_owned());
            return Ok(ApprovedChanges::Unseen);
        }
        AskOutcome::Answered(said) => said,
    };
    match said.answer {
        Answer::Edit(_) | Answer::Review => {
            let why = "the changes are made already, and cannot be edited";
            Err(Stop::denied(Decider::Approver(said.by), why))
        }
        Answer::Instead(text) => Err(instead(setup, said.by, &text)),
        Answer::Only(paths) => picked::offered(inquiry.question.preview(), paths)
            .map(ApprovedChanges::Picked)
            .map_err(|why| Stop::denied(Decider::Approver(said.by), why)),
        answer => {
            remember_edits(setup, run, &inquiry.question, &answer, edits, trail);
            remember_answer(setup, run, &inquiry.question, answer, trail)?;
            Ok(ApprovedChanges::All)
        }
    }
}

/// A person's words in place of the tool's, as the model gets them. Where another program would do the
/// work, it can only be told not to.
pub(super) fn instead(setup: &Setup, by: String, text: &str) -> Stop {
    let text = setup.redactor.text(text).0.into_owned();
    let most = setup.limits.output;
    if text.len() > most {
        let why = format!("an answer in place of the tool has at most {most} bytes");
        return Stop::denied(Decider::Approver(by), why);
    }
    match setup.delegate.is_some() {
        true => Stop::denied(Decider::Person, format!("`{by}` answers in its place: {text}")),
        false => Stop::Instead { by, text },
    }
}

/// Asks again about a run that is kept, on behalf of the same call: the question that waits is
/// adopted. `None`: nobody could be asked.
pub(super) async fn ask_about_kept(
    setup: &Setup,
    run: &Run,
    call: &Validated,
    question: Question,
    trail: &mut Trail,
) -> Result<AnswerGiven, Stop> {
    let (covers, keeping) = (None, None);
    let inquiry =
        Inquiry { setup, run, call, question, covers, edits: &[], keeping, running: false };
    let outcome = inquiry.answer(&mut trail.uses).await;
    let by =
        |by: String| AnswerGiven { answer: Answer::Once, by, question: None, votes: Vec::new() };
    Ok(match outcome? {
        AskOutcome::Answered(said) => said,
        AskOutcome::Remembered(who) | AskOutcome::Allowance(who) => by(who),
        AskOutcome::NotAskedAllowed => by("no_handler".to_owned()),
    })
}

/// Keeps that edits need no answer for the rest of the session: all of them, or these of these files.
pub(super) fn remember_edits(
    setup: &Setup,
    run: &Run,
    question: &Question,
    answer: &Answer,
    edits: &[Hash],
    trail: &mut Trail,
) {
    let kept = match answer {
        Answer::Edits if question.offers_edits() => sessions::grant_edits(setup, run, None),
        Answer::Session if question.offers_edits() => {
            sessions::grant_edits(setup, run, Some(edits))
        }
        _ => return,
    };
    if let Err(why) = kept {
        let text = "approved this once, but the answer for this session could not be kept";
        trail.warnings.push(format!("{text}: {why}"));
    }
}

/// Keeps what an answer says beyond this call; a no is a stop.
pub(super) fn remember_answer(
    setup: &Setup,
    run: &Run,
    question: &Question,
    answer: Answer,
    trail: &mut Trail,
) -> Result<(), Stop> {
    match (answer, &question.grant) {
        (Answer::No(why), _) => {
            let why = if why.is_empty() { "no".to_owned() } else { why };
            return Err(Stop::denied(Decider::Person, why));
        }
        (Answer::Abort, _) => return Err(Stop::Aborted { ran: false }),
        (Answer::Session, Some(grant)) => {
            if let Err(why) = sessions::grant(setup, run, grant) {
                trail.warnings.push(format!(
                    "approved this once, but the answer for this session could not be kept: {why}"
                ));
            }
        }
        (Answer::Always, Some(grant)) => {
            if let Err(why) = setup.state.memory.always(grant.clone()) {
                trail
                    .warnings
                    .push(format!("approved this once, but `always` could not be kept: {why}"));
            }
        }
        (
            Answer::Once
            | Answer::Session
            | Answer::Edits
            | Answer::Review
            | Answer::Always
            | Answer::Only(_)
            | Answer::Instead(_)
            | Answer::Edit(_),
            _,
        ) => {}
    }
    Ok(())
}

/// While a person thought, the rules or the tool may have changed: then the yes is to something
/// else.
fn still_bound(
    setup: &Setup,
    run: &Run,
    call: &Validated,
    question: &Question,
) -> Result<(), Stop> {
    if binding(setup, call) != question.binding {
        let why = "a file that the command names changed while a person was asked";
        return Err(Stop::denied(Decider::Policy, why));
    }
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

/// What a yes would cover beyond this call. While there is text from outside in the session, each
/// call that could do harm with it is looked at on its own; so is each call of a stale machine.
fn grant_for(setup: &Setup, call: &Validated, verdict: Option<&Verdict>) -> Option<Grant> {
    let each_time = |it: &Reason| {
        let stale = it.origin.rule_id() == Some(STALE_RULE);
        it.decision == Decision::Ask && (it.origin == ReasonId::Taint || stale)
    };
    let workspace = setup.workspace.as_ref().map(|it| it.root());
    let required = |it: &Verdict| it.requirements().next().is_some();
    let plain = verdict.is_none_or(|it| !it.because.iter().any(each_time) && !required(it));
    plain.then(|| Grant::covering(call, workspace))
}
