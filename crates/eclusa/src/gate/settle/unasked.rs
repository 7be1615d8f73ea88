//! What a job has written and nobody is asked about: the part of it that rules over paths and effects let pass.

use std::{
    collections::BTreeSet,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
};

use super::{Decided, Settling, discarded, note};
use crate::{
    Change, Changes, Decision, EffectKind, Effects, JudgeContext, RepositoryFacts, Stop, Verdict,
    audit::trail::Trail,
    gate::{picked::PickedPart, take::TakenRun},
    stop::Decider,
};

impl Settling<'_> {
    /// Which changes rules let pass unasked: each judged alone, and then all of them together. No mode and no yes
    /// to the command answers for one, so that whatever would be asked about is left where it is.
    pub(super) async fn decide_unasked(
        &self,
        taken: &TakenRun,
        moment: &JudgeContext,
        trail: &mut Trail,
    ) -> Result<Decided, Stop> {
        let changes = self.ran.changes;
        let all: Vec<(&Change, EffectKind)> = changes.iter().zip(self.kinds.iter()).collect();
        let passes =
            |number: usize| self.judge_unasked(&[number], &all, moment).decision == Decision::Allow;
        let left_out = |number: &usize| {
            // What git notes hangs together, and what else there is never passes so.
            let may = all.get(*number).is_some_and(|it| {
                let lost = matches!(it.1, EffectKind::Delete { .. });
                lost || matches!(it.1, EffectKind::Ephemeral | EffectKind::Edit)
            });
            !may || !passes(*number)
        };
        let left_out: BTreeSet<usize> = (0..all.len()).filter(left_out).collect();
        let left = left_out.iter().filter_map(|it| all.get(*it)).map(|it| it.0.path.as_path());
        let left: BTreeSet<&Path> = left.collect();
        let is_whole = |number: &usize| {
            all.get(*number).is_some_and(|(change, _)| {
                let from = change.from.as_deref();
                from.is_none_or(|it| !left.contains(it))
                    && !change.path.ancestors().any(|it| left.contains(it))
            })
        };
        let made_again =
            |number: &usize| all.get(*number).is_some_and(|it| it.1 == EffectKind::Ephemeral);
        let passing = (0..all.len()).filter(is_whole);
        let (made_again, ruled): (Vec<usize>, Vec<usize>) = passing.partition(made_again);
        let mut picked: Vec<PathBuf> = Vec::new();
        for group in [made_again, ruled].into_iter().filter(|it| !it.is_empty()) {
            let verdict = self.judge_unasked(&group, &all, moment);
            if verdict.decision == Decision::Allow {
                self.note_verdict(&verdict, trail);
                let paths = group.iter().filter_map(|it| all.get(*it));
                picked.extend(paths.map(|it| it.0.path.clone()));
            }
        }
        if picked.is_empty() {
            let why = "no rule lets any of it pass unasked";
            return Err(discarded(Stop::denied(Decider::Policy, why)));
        }
        let part = PickedPart::new(self.workspace, changes, changes, picked.clone()).await;
        let picked: BTreeSet<PathBuf> = picked.into_iter().collect();
        if part.changes.iter().any(|it| !picked.contains(&it.path)) {
            let why = "changes that rules let pass depend on others that they do not";
            return Err(discarded(Stop::denied(Decider::Policy, why)));
        }
        note(trail, |it| it.approval = Some(taken.approval.clone()));
        Ok(Decided { part: Some(part), asked: false })
    }

    /// What rules say of these changes, by their numbers, where nobody is asked. A policy that panics has denied.
    fn judge_unasked(
        &self,
        numbers: &[usize],
        all: &[(&Change, EffectKind)],
        moment: &JudgeContext,
    ) -> Verdict {
        let chosen = numbers.iter().filter_map(|it| all.get(*it)).map(|it| it.0.clone());
        let changes = Changes::of(chosen);
        // Numbers rise with the paths, which is the order of changes.
        let paths = numbers.iter().map(|it| self.facts.path(*it)).collect();
        let facts = RepositoryFacts { paths, ..RepositoryFacts::default() };
        let author = self.ran.call.view().into();
        // Where lines are limited they are not counted here: then it waits for a person.
        let (changes, facts, lines, unruled) = (&changes, &facts, None, Decision::Ask);
        let effects = Effects { author, changes, lines, facts, moment, unruled };
        let policy = self.setup.state.policy.load();
        let judged = catch_unwind(AssertUnwindSafe(|| policy.judge_effects(&effects)));
        judged.unwrap_or_else(|_panic| Verdict::from_reasons(Vec::new()))
    }
}
