//! Third gate: may this call run? The only file that makes a [`Permit`].

use std::{borrow::Cow, panic::AssertUnwindSafe, time::Duration};

use futures::FutureExt;

use crate::{
    Advice, Decision, Event, Facts, PreflightError, PreflightStep, Reason, Reviewed, Run, Source,
    Stop, Validated, Verdict,
    audit::trail::Trail,
    gate::{
        Setup,
        ask::{Approved, ask},
        judge::judge,
        question::bound_files,
        rehearsal::may_be_made,
        review::{asker, review},
        sessions::consume_uses,
    },
    stop::{Decider, HumanDuration},
};

/// Leave to run one call once, with exactly the arguments inside.
///
/// Not `Clone`, no setters, no public constructor: whoever holds one got it from `decide`.
#[must_use = "a permit that is not run should be recorded as such"]
pub struct Permit {
    call: Reviewed,
    /// Whether a person said yes to it, now or before.
    approved: bool,
    /// The digest of the files that the yes is bound to.
    files: Option<String>,
}

impl Permit {
    /// The call this permit is for.
    pub fn call(&self) -> &Validated {
        self.call.call()
    }

    /// Whether a person said yes to exactly this call, now or before.
    pub(crate) fn is_approved(&self) -> bool {
        self.approved
    }

    /// The digest of the files that the yes is bound to, where the call names some.
    pub(crate) fn bound_files(&self) -> Option<&str> {
        self.files.as_deref()
    }

    /// Spends the permit. Visible to the crate, called by `execute.rs` alone (tidy holds that).
    pub(crate) fn into_call(self) -> Validated {
        self.call.into_call()
    }
}

/// How often one call may be edited before it counts as denied.
const MAX_EDITS: usize = 8;

/// Decides. This function is the whole of "may it run?"; there is no other way to a [`Permit`].
///
/// Policy first, so that nobody is asked about a call that it denies; a dry run ends there. Then
/// the passes in their configured order. Arguments that a person edits are a new call: reviewed
/// and judged from the start.
pub(crate) async fn decide(
    setup: &Setup,
    run: &Run,
    mut call: Reviewed,
    trail: &mut Trail,
) -> Result<Permit, Stop> {
    let mut written = false;
    for _ in 0..=MAX_EDITS {
        let verdict = judge(setup, run, call.call());
        (trail.uses.approved, trail.uses.files) = (false, None);
        let verdict =
            trail.verdict.insert(asked_by_reviewers(&trail.review_questions, run, verdict));
        if run.dry_run || run.watched {
            let verdict = verdict.clone();
            return Err(Stop::DryRun { verdict, would: described(call.call()) });
        }
        if verdict.decision == Decision::Deny {
            return Err(Stop::denied(Decider::Policy, verdict.why()));
        }
        if !consume_uses(setup, run, verdict, &mut trail.uses) {
            let why = "the rule that allows it was used up by another call meanwhile";
            return Err(Stop::denied(Decider::Policy, why));
        }
        if setup.rehearsal.is_some() {
            may_be_made(setup, call.call(), verdict)?;
            return Ok(Permit { call, approved: false, files: None });
        }
        // Whoever wrote these arguments has said yes to them, unless a rule says who must.
        let answered = written && verdict.requirements().next().is_none();
        trail.uses.approved = answered && verdict.decision == Decision::Ask;
        if trail.uses.approved {
            trail.uses.files = bound_files(setup, call.call());
        }
        match run_preflight(setup, run, call.call(), answered, trail).await? {
            Approved::Yes => {
                remark(setup, call.call(), trail);
                let (approved, files) = (trail.uses.approved, trail.uses.files.clone());
                return Ok(Permit { call, approved, files: files.filter(|_| approved) });
            }
            Approved::Edited(args) => {
                let required =
                    trail.verdict.as_ref().is_some_and(|it| it.requirements().next().is_some());
                written = !required;
                let edited = call.with_args(args, trail)?;
                call = Box::pin(review(setup, edited, trail)).await?;
                trail.edited = true;
            }
        }
    }
    Err(Stop::denied(Decider::Person, format!("edited more than {MAX_EDITS} times")))
}

/// Decides about a call that has run and waits to be applied: what it did was shown to somebody, so
/// only a rule that denies it by now stands in its way.
pub(crate) fn decide_again(
    setup: &Setup,
    run: &Run,
    call: Reviewed,
    trail: &mut Trail,
) -> Result<Permit, Stop> {
    let verdict = trail.verdict.insert(judge(setup, run, call.call()));
    match verdict.decision {
        Decision::Deny => Err(Stop::denied(Decider::Policy, verdict.why())),
        Decision::Allow | Decision::Stage | Decision::Ask => {
            Ok(Permit { call, approved: true, files: None })
        }
    }
}

/// The verdict after reviewers who want a person to look first.
fn asked_by_reviewers(questions: &[Reason], run: &Run, mut verdict: Verdict) -> Verdict {
    if questions.is_empty() || verdict.decision == Decision::Deny {
        return verdict;
    }
    verdict.because.splice(0..0, questions.iter().cloned());
    run.mode_in_force().apply(Verdict { decision: Decision::Ask, ..verdict })
}

/// What rules have to say of a call without deciding it. One that panics has said nothing.
fn remark(setup: &Setup, call: &Validated, trail: &mut Trail) {
    let policy = setup.state.policy.load();
    let remarks = std::panic::catch_unwind(AssertUnwindSafe(|| policy.remarks(&call.view())));
    for text in remarks.unwrap_or_default() {
        let call = Some(call.id().to_owned());
        setup.events.send(|| Event::Warning { call, text: text.clone() });
        trail.warnings.push(text);
    }
}

/// The call in one line, for a dry run.
fn described(call: &Validated) -> String {
    format!("{}({})", call.name(), call.args())
}

/// Takes the call through the preflight steps that its verdict needs; `answered`: a person wrote its
/// arguments. INVARIANT: `trail.verdict` is the verdict on this call.
///
/// Most calls need none of them, so each is boxed: what is not needed takes no room.
async fn run_preflight(
    setup: &Setup,
    run: &Run,
    call: &Validated,
    answered: bool,
    trail: &mut Trail,
) -> Result<Approved, Stop> {
    // What is staged is asked about once its changes are known, if at all.
    let must_ask =
        |trail: &Trail| trail.verdict.as_ref().is_none_or(|it| it.decision >= Decision::Ask);
    let mut asked = answered;
    for pass in steps(&setup.order, call.facts()).iter() {
        match pass {
            PreflightStep::ReverseThinking if call.facts().needs_reverse_thinking => {
                if Box::pin(think(setup, call, trail)).await? == Advice::Ask && !asked {
                    let thinker = setup.reverse_thinker.as_ref();
                    let source = asker(thinker.is_some_and(|it| it.is_administrators()));
                    trail.verdict = trail
                        .verdict
                        .take()
                        .map(|it| run.mode_in_force().apply(raised(it, source)));
                }
            }
            PreflightStep::Approval if must_ask(trail) && !asked => {
                if let Approved::Edited(args) = Box::pin(ask(setup, run, call, trail)).await? {
                    return Ok(Approved::Edited(args));
                }
                asked = true;
            }
            PreflightStep::Checkpoint if call.facts().needs_checkpoint => {
                Box::pin(open_checkpoint(setup, call, trail)).await?;
            }
            PreflightStep::ReverseThinking
            | PreflightStep::Approval
            | PreflightStep::Checkpoint => {}
        }
    }
    // Reverse thinking may have raised the verdict after the person's turn in the order.
    if must_ask(trail) && !asked {
        return Box::pin(ask(setup, run, call, trail)).await;
    }
    Ok(Approved::Yes)
}

/// The steps that a call takes, in order. One that the order leaves out is stood for by the other,
/// where a tool asks for both; where it asks for that one alone, it is taken all the same.
fn steps<'a>(order: &'a [PreflightStep], facts: &Facts) -> Cow<'a, [PreflightStep]> {
    let (thinking, checkpoint) = (PreflightStep::ReverseThinking, PreflightStep::Checkpoint);
    let has = |it: PreflightStep| order.contains(&it);
    let mut steps = Cow::Borrowed(order);
    let stood_for = facts.needs_checkpoint && has(checkpoint);
    if facts.needs_reverse_thinking && !has(thinking) && !stood_for {
        steps.to_mut().insert(0, thinking);
    }
    let stood_for = facts.needs_reverse_thinking && has(thinking);
    if facts.needs_checkpoint && !has(checkpoint) && !stood_for {
        steps.to_mut().push(checkpoint);
    }
    steps
}

/// The verdict after someone who argued the other side wants a person to look.
fn raised(mut verdict: Verdict, source: Source) -> Verdict {
    verdict.because.insert(
        0,
        Reason {
            decision: Decision::Ask,
            source,
            origin: "reverse thinking".into(),
            text: "a person should look first".into(),
        },
    );
    Verdict { decision: Decision::Ask, ..verdict }
}

/// Reverse thinking, for tools that ask for it and for no others.
async fn think(setup: &Setup, call: &Validated, trail: &mut Trail) -> Result<Advice, Stop> {
    let no = |why: PreflightError| Stop::denied(Decider::ReverseThinking, why.0);
    let (Some(thinker), Some(verdict)) = (&setup.reverse_thinker, &trail.verdict) else {
        return Err(no("the tool needs it, and none is configured".into()));
    };
    let thinking = async { thinker.think(call, verdict).await };
    let reverse_thinking = decided_within(setup.limits.checkpoint, thinking).await.map_err(no)?;
    let (advice, why) = (reverse_thinking.verdict, reverse_thinking.verdict_reason.clone());
    trail.reverse_thinking = Some(reverse_thinking);
    match advice {
        Advice::Stop => Err(no(why.into())),
        advice => Ok(advice),
    }
}

/// The checkpoint, for tools that ask for it and for no others.
async fn open_checkpoint(setup: &Setup, call: &Validated, trail: &mut Trail) -> Result<(), Stop> {
    let opened = match &setup.checkpoint {
        Some(checkpoint) => {
            decided_within(setup.limits.checkpoint, async { checkpoint.open(call).await }).await
        }
        None => Err("the tool needs one, and none is set up".into()),
    };
    trail.checkpoint = Some(match &opened {
        Ok(()) => "open".to_owned(),
        Err(why) => format!("closed: {}", setup.redactor.text(&why.0).0),
    });
    opened.map_err(|why| Stop::denied(Decider::Checkpoint, why.0))
}

/// Waits for someone who decides. What errs, hangs or panics has said no.
async fn decided_within<T>(
    limit: Duration,
    deciding: impl Future<Output = Result<T, PreflightError>>,
) -> Result<T, PreflightError> {
    match tokio::time::timeout(limit, AssertUnwindSafe(deciding).catch_unwind()).await {
        Ok(Ok(decided)) => decided,
        Ok(Err(_panic)) => Err("it crashed".into()),
        Err(_elapsed) => Err(format!("it said nothing within {}", HumanDuration(limit)).into()),
    }
}
