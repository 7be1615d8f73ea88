//! What the rules say of changes that a call would make, after what they said of the call.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
};

use crate::{
    Changes, Decision, Effects, JudgeContext, Mode, Node, PermissionClass, Policy as _, Reason,
    RepositoryFacts, Rules, Run, Source, Touch, Validated, Verdict,
    audit::trail::Trail,
    gate::{Setup, allowance::is_by_rule, ask::required},
};

/// What the rules say of the changes. A policy that panics has denied.
pub(super) fn judged(
    setup: &Setup,
    run: &Run,
    (call, moment): (&Validated, &JudgeContext),
    changes: &Changes,
    (facts, lines): (&RepositoryFacts, Option<u64>),
    trail: &Trail,
) -> Verdict {
    let before = trail.verdict.as_ref();
    let declared = within_declared_writes(setup, call, changes);
    let asked = trail.approval.is_some() && before.is_some_and(|it| it.decision == Decision::Ask);
    let approved = asked && !trail.review_changes;
    let unruled = match approved && !run.review_changes {
        // Whoever let it run wants to see this.
        _ if trail.review_changes => Decision::Ask,
        // One call, one question: whoever let it run was told that what it changes is then applied.
        // Rules over effects, and what no rule can loosen, speak for themselves.
        true => Decision::Allow,
        false => default_for_changes(before, call, declared),
    };
    let author = call.view().into();
    let effects = Effects { author, changes, lines, facts, moment, unruled };
    let judged =
        catch_unwind(AssertUnwindSafe(|| setup.state.policy.load().judge_effects(&effects)));
    let verdict = judged.unwrap_or_else(|_panic| {
        Verdict::from_reasons(vec![Reason {
            decision: Decision::Deny,
            source: Source::Floor,
            origin: "policy".into(),
            text: "the policy crashed".into(),
        }])
    });
    let verdict = if approved && declared { answered(verdict, before) } else { verdict };
    let verdict = match run.mode_in_force() {
        // It has asked about the call already.
        Mode::ConfirmAll => verdict,
        mode => mode.apply(verdict),
    };
    required::with_least_proof(setup, verdict)
}

/// What holds of changes that no rule speaks of, after this verdict on the call.
fn default_for_changes(before: Option<&Verdict>, call: &Validated, declared: bool) -> Decision {
    let by_mode = before.is_some_and(|it| {
        it.because.iter().any(|it| it.source == Source::Mode && it.decision == Decision::Allow)
    });
    // What was permitted before it ran stands, for what the call said it would write. What ran
    // only so that its changes could be seen is not permitted yet.
    match before.map(|it| it.decision) {
        Some(Decision::Allow | Decision::Ask) if declared => Decision::Allow,
        // What a rule allows a command to do is not said path by path.
        // What the mode lets run is judged by what it changes.
        Some(Decision::Allow) if call.class() == PermissionClass::Shell && !by_mode => {
            Decision::Allow
        }
        Some(_) | None => Decision::Ask,
    }
}

/// Whether a rule that people agreed on beforehand allows the changes, alone.
pub(super) fn covers(
    setup: &Setup,
    rules: &Rules,
    call: &Validated,
    changes: &Changes,
    (facts, lines): (&RepositoryFacts, Option<u64>),
) -> bool {
    let before = Some(rules.judge(&call.view())).filter(is_by_rule);
    let unruled =
        default_for_changes(before.as_ref(), call, within_declared_writes(setup, call, changes));
    let (moment, author) = (call.context(), call.view().into());
    let effects = Effects { author, changes, lines, facts, moment, unruled };
    let verdict = rules.judge_effects(&effects);
    is_by_rule(&verdict) || (before.is_some() && verdict.decision < Decision::Ask)
}

/// True when everything that changes is what the call said it would write, lies beneath it, or is
/// a directory made on the way to it.
fn within_declared_writes(setup: &Setup, call: &Validated, changes: &Changes) -> bool {
    let Some(workspace) = &setup.workspace else { return false };
    let said = call.touches().iter().filter_map(|touch| match touch {
        Touch::Write(path) => {
            let path = Path::new(path);
            let path = path.strip_prefix(workspace.root()).unwrap_or(path);
            Some(path.strip_prefix(".").unwrap_or(path))
        }
        Touch::Run(_) | Touch::Read(_) | Touch::Fetch(_) | Touch::Unknown | Touch::Unheld(_) => {
            None
        }
    });
    let said: Vec<&Path> = said.collect();
    changes.iter().all(|it| {
        let made = it.before.is_none() && matches!(it.after, Some(Node::Directory { .. }));
        let path = it.path.as_path();
        said.iter().any(|said| path.starts_with(said) || (made && said.starts_with(path)))
    })
}

/// The verdict without the questions that a person has answered already, before the call ran.
fn answered(verdict: Verdict, before: Option<&Verdict>) -> Verdict {
    let asked = |it: &Reason| {
        let asked = before.into_iter().flat_map(|it| &it.because);
        let mut asked = asked.filter(|it| it.decision == Decision::Ask);
        it.decision == Decision::Ask && asked.any(|asked| asked.origin == it.origin)
    };
    let mut because = verdict.because;
    because.retain(|it| !asked(it));
    because.push(Reason {
        decision: Decision::Allow,
        source: Source::Default,
        origin: "approval".into(),
        text: "approved by a person before it ran".into(),
    });
    Verdict::from_reasons(because)
}
