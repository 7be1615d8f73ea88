//! What people agreed on beforehand, in place of a question: an allowance turns "ask" into "go ahead",
//! never a denial, and never a question that no rule may answer.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::{
    CallUses, Decision, GivenVote, Proof, Reason, ReasonId, Rules, Run, Source, Verdict, Vote,
    approve::{Allowance, AllowanceError, LiveAllowance},
    gate::Setup,
};

/// Whose allowance lets a call pass that these reasons ask about, if any does. `covers` says whether a
/// rule alone allows it. One call uses one allowance once, whatever is asked about it.
///
/// What errs has not allowed anything: then a person is asked.
pub(super) async fn take(
    setup: &Setup,
    run: &Run,
    verdict: &Verdict,
    uses: &mut CallUses,
    covers: impl Fn(&Rules) -> bool,
) -> Option<String> {
    if verdict.decision != Decision::Ask {
        return None;
    }
    let allowances = setup.allowances.as_ref()?;
    let failed = |why: AllowanceError| tracing::warn!("allowances cannot be used: {why}");
    let live = allowances.live().await.map_err(failed).ok()?;
    if live.is_empty() {
        return None;
    }
    let queue = match &setup.questions {
        Some(questions) => questions.queue().await.unwrap_or_default(),
        None => String::new(),
    };
    let root = setup.workspace.as_ref().map(|it| it.root());
    for LiveAllowance { allowance, rule } in live {
        if !verdict.because.iter().all(|it| can_lift(it, rule.holds_tainted())) {
            continue;
        }
        let Some(by) = agreed(setup, run, &queue, &allowance, verdict) else { continue };
        let rules = Rules::new(vec![rule], root.unwrap_or_else(|| "/".as_ref()));
        if !catch_unwind(AssertUnwindSafe(|| covers(&rules))).unwrap_or(false) {
            continue;
        }
        let before = run.judged_before.as_ref().and_then(|it| it.allowance);
        let taken = [uses.allowance, before].contains(&Some(allowance.id))
            || allowances.take(allowance.id).await.map_err(failed).unwrap_or(false);
        if taken {
            uses.allowance = Some(allowance.id);
            return Some(format!("allowance {} ({by})", allowance.id));
        }
    }
    None
}

/// Whether a rule says so itself: that the defaults allow something is no agreement to it.
pub(super) fn is_by_rule(verdict: &Verdict) -> bool {
    let by_rule = |it: &Reason| {
        it.decision == Decision::Allow
            && it.source == Source::Rule
            && matches!(it.origin, ReasonId::Rule { .. })
    };
    verdict.decision < Decision::Ask && verdict.because.iter().any(by_rule)
}

/// Whether people can answer this beforehand: what a rule of theirs or a default asks, and text from
/// outside where the allowance has thought of it. What the administrator, a reviewer, a limit or the
/// mode asks is asked each time.
fn can_lift(reason: &Reason, tainted: bool) -> bool {
    if reason.decision != Decision::Ask {
        return reason.decision < Decision::Ask;
    }
    match (&reason.origin, reason.source) {
        (ReasonId::Taint, _) => tainted,
        (ReasonId::Rule { .. }, Source::Rule) | (_, Source::Default) => true,
        _ => false,
    }
}

/// Who agreed, where that is enough for everything that the rules require of an answer.
fn agreed(
    setup: &Setup,
    run: &Run,
    queue: &str,
    allowance: &Allowance,
    verdict: &Verdict,
) -> Option<String> {
    let votes: Vec<Vote> =
        allowance.votes.iter().filter_map(|it| vote(setup, queue, allowance, it)).collect();
    let met = verdict.requirements().all(|it| it.is_met(&votes, &run.principal));
    let names: Vec<&str> = votes.iter().map(|it| it.person.as_str()).collect();
    (met && !names.is_empty()).then(|| names.join(", "))
}

/// The agreement of one person. One whose signature does not hold is none at all.
fn vote(setup: &Setup, queue: &str, allowance: &Allowance, given: &GivenVote) -> Option<Vote> {
    let people = setup.people.as_ref();
    let proof = match &given.signed {
        None => Proof::Word,
        Some(signed) if signed.statement == allowance.statement(queue, &given.by) => {
            people?.verify(&given.by, signed)?
        }
        Some(_) => return None,
    };
    let groups = people.map(|it| it.groups(&given.by)).unwrap_or_default();
    Some(Vote { person: given.by.clone(), groups, proof, waited: given.waited })
}
