//! A rehearsal: calls pass as they would, settle into a scratch layer, and what each of them would have come
//! to is noted. Nobody is asked, no host is opened, and what cannot be staged is not made.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use serde_json::{Value, json};

use crate::{
    Decision, Gate, Reason, Released, Reply, Source, Stop, ToolCall, Validated, Verdict,
    audit::trail::Trail,
    gate::{Setup, judge::can_stage},
    stop::Decider,
    workspace::ScratchWorkspace,
};

/// What the calls of a rehearsal would have come to, in order. Clones are the same.
#[derive(Debug, Clone, Default)]
pub struct RehearsalPlan(Arc<Mutex<PlannedCalls>>);

/// The calls that have begun, and those that have ended with their place among them: several may be on
/// their way at once.
#[derive(Debug, Default)]
struct PlannedCalls {
    begun: usize,
    ended: BTreeMap<usize, PlannedCall>,
}

/// One call of a rehearsal.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedCall {
    /// The tool, as the call names it.
    pub tool: String,
    /// Its arguments, as they were judged.
    pub args: Value,
    /// What would have become of it.
    pub would: Would,
    /// Whether it was made, in the scratch layer. What cannot be staged was not.
    pub made: bool,
    /// Why it would be asked about or denied, and by which rule.
    pub because: Vec<String>,
    /// Who would have to say yes, where a rule says so.
    pub asks: Vec<String>,
    /// The first of the paths that it changes.
    pub paths: Vec<String>,
    /// Whether a rule asks about what it changes: that question is about this call alone.
    pub ruled: bool,
    /// Whether a rule lets it pass that is good for so many calls only.
    pub counted: bool,
}

/// What would become of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Would {
    /// It would run, and what it does would be applied.
    Run,
    /// Somebody would be asked.
    Ask,
    /// It, or what it does, would be refused.
    Deny,
    /// It would fail.
    Fail,
}

impl Would {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Would::Run => "run",
            Would::Ask => "ask",
            Would::Deny => "deny",
            Would::Fail => "fail",
        }
    }
}

impl PlannedCall {
    /// For programs.
    pub fn as_json(&self) -> Value {
        json!({
            "tool": self.tool,
            "args": self.args,
            "would": self.would.as_str(),
            "made": self.made,
            "because": self.because,
            "asks": self.asks,
            "paths": self.paths,
            "ruled": self.ruled,
            "counted": self.counted,
        })
    }
}

impl RehearsalPlan {
    /// The calls so far.
    pub fn calls(&self) -> Vec<PlannedCall> {
        let calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        calls.ended.values().cloned().collect()
    }
}

/// A rehearsal that is on: there is none without a scratch layer that its permits settle into.
pub(crate) struct Rehearsal {
    scratch: ScratchWorkspace,
    plan: RehearsalPlan,
}

impl Rehearsal {
    pub(super) fn new(scratch: ScratchWorkspace, plan: RehearsalPlan) -> Rehearsal {
        Rehearsal { scratch, plan }
    }

    /// Where what its calls change is applied.
    pub(super) fn scratch(&self) -> &ScratchWorkspace {
        &self.scratch
    }

    /// A call begins: its place in the plan.
    pub(super) fn begin(&self) -> usize {
        let mut calls = self.plan.0.lock().unwrap_or_else(PoisonError::into_inner);
        calls.begun += 1;
        calls.begun
    }

    /// Notes what a call came to.
    pub(super) fn note(&self, place: usize, trail: &Trail, outcome: &Result<Released, Stop>) {
        let on_changes = trail.changes.as_ref().and_then(|it| it.verdict.as_ref());
        let verdicts = [trail.verdict.as_ref(), on_changes];
        let strictest = verdicts.iter().flatten().map(|it| it.decision).max();
        let needs = trail.tool.as_ref().map(|it| it.facts());
        let step = |needed: bool, text: &str| needed.then(|| text.to_owned());
        let steps = [
            step(needs.is_some_and(|it| it.needs_checkpoint), "a checkpoint must open"),
            step(
                needs.is_some_and(|it| it.needs_reverse_thinking),
                "somebody argues the other side",
            ),
        ];
        let message =
            |it: &Result<Released, Stop>| it.as_ref().err().map(|it| it.message().into_owned());
        let refused = matches!(outcome, Err(Stop::Denied { .. } | Stop::Discarded(_)));
        let made = !matches!(outcome, Err(Stop::DryRun { .. })) && !refused;
        let would = match (strictest, outcome) {
            (Some(Decision::Deny), _) => Would::Deny,
            _ if refused => Would::Deny,
            (None, Err(_)) => Would::Fail,
            (Some(Decision::Ask), _) => Would::Ask,
            _ if steps.iter().any(Option::is_some) => Would::Ask,
            (_, Err(stop)) if !matches!(stop, Stop::DryRun { .. }) => Would::Fail,
            _ => Would::Run,
        };
        let carries = |it: &&Reason| it.decision == strictest.unwrap_or(Decision::Allow);
        let mut because: Vec<String> = match would {
            Would::Run => Vec::new(),
            Would::Fail => message(outcome).into_iter().collect(),
            Would::Ask | Would::Deny => {
                let reasons = verdicts.iter().flatten().flat_map(|it| &it.because);
                reasons.filter(carries).map(Reason::to_string).collect()
            }
        };
        if because.is_empty() && refused {
            because.extend(message(outcome));
        }
        because.extend(steps.into_iter().flatten());
        let asks = verdicts.iter().flatten().flat_map(|it| it.requirements());
        let planned = PlannedCall {
            tool: trail.name().to_owned(),
            args: trail.args().clone(),
            would,
            made: made && would != Would::Deny,
            because,
            asks: asks.map(ToString::to_string).collect(),
            ruled: on_changes.is_some_and(|it| {
                let ruled = |it: &Reason| {
                    !matches!(it.source, Source::Default | Source::Floor | Source::Mode)
                };
                it.decision == Decision::Ask
                    && it.because.iter().filter(|it| it.decision == Decision::Ask).any(ruled)
            }),
            counted: !trail.uses.rules.is_empty(),
            paths: trail.changes.as_ref().map(|it| it.paths.clone()).unwrap_or_default(),
        };
        let mut calls = self.plan.0.lock().unwrap_or_else(PoisonError::into_inner);
        calls.ended.insert(place, planned);
    }
}

/// What a rehearsal does with a call that rules do not deny: makes it, where its effects are a value first
/// or it only looks, and says otherwise what would happen.
pub(super) fn may_be_made(setup: &Setup, call: &Validated, verdict: &Verdict) -> Result<(), Stop> {
    let delegates = call.facts().only_delegates && call.server().is_none();
    match can_stage(setup, call) || call.is_read_only_call() || delegates {
        true => Ok(()),
        false => {
            let would = format!("{}({})", call.name(), call.args());
            Err(Stop::DryRun { verdict: verdict.clone(), would })
        }
    }
}

impl Gate {
    /// Asks whoever the rules name whether this call may run, and does not make it: for a plan whose changes
    /// were made in a rehearsal. The code of the reply is `dry_run` where nobody said no.
    pub async fn consent(&self, call: ToolCall) -> Reply {
        let (mut entry, readable) = self.ledger.open(&self.run, call.into());
        let outcome = match readable {
            Ok(()) => self.admit(&mut entry).await.map(drop),
            Err(stop) => Err(stop),
        };
        let stop = match (outcome, entry.trail.verdict.clone()) {
            (Err(stop), _) => stop,
            // The plan holds what was done with the others.
            (Ok(()), _) if entry.trail.edited => {
                Stop::denied(Decider::Person, "a call of a plan cannot be edited")
            }
            (Ok(()), verdict) => {
                let verdict = verdict.unwrap_or_else(|| Verdict::from_reasons(Vec::new()));
                let would = format!("{}({})", entry.trail.name(), entry.trail.args());
                Stop::DryRun { verdict, would }
            }
        };
        entry.close(Err(stop)).await
    }
}
