//! Fifth gate: are the changes to the workspace to become real? The only file that makes a
//! [`Settled`].

use std::{sync::Arc, time::Duration};

use crate::{
    Changes, Decision, EffectGroup, EffectKinds, FoldedChanges, JudgeContext, Output, Preview, Raw,
    RepositoryFacts, Rules, Run, Staged, Stop, Undo, Validated, Verdict, Workspace,
    audit::trail::{ChangesOutcome, ChangesTrail, Trail, note_changes as note},
    gate::{
        Setup,
        ask::{ApprovedChanges, ask_about_changes},
        commit::commit,
        edit_keys::edit_keys,
        judge_changes::{covers, judged},
        own_files,
        pending::{Keeping, Ran, claim, note_refused},
        picked::PickedPart,
        sessions::grant_edits,
        shown_changes::{compare, effect_kinds, preview},
        spending::{Spending, give_back, spend},
        staging::drop_staging,
        take::TakenRun,
    },
    stop::Decider,
};

mod unasked;

/// A call whose changes to the workspace were judged, and committed or discarded.
pub struct Settled {
    call: Validated,
    output: Output,
    time: Duration,
    /// Why nothing of what it would have changed was applied, where that is so.
    unapplied: Option<Stop>,
}

impl Settled {
    /// Opens it. Visible to the crate, called by `release.rs` alone (tidy holds that).
    pub(crate) fn unseal(self) -> (Validated, Output, Duration, Option<Stop>) {
        (self.call, self.output, self.time, self.unapplied)
    }
}

/// So often changes are judged anew because other calls of the session were quicker.
const MAX_OVERTAKEN: usize = 16;

/// Settles a call: its changes are judged, shown to a person where the rules say so, and then
/// applied all together or not at all. A call that changes nothing passes.
///
/// Discarding the changes does not discard the output: what ran is told, together with the reason
/// why nothing was applied (C34). A run that was kept comes with the yes to it, and is not asked about
/// again.
pub(crate) async fn settle(
    setup: &Setup,
    run: &Run,
    raw: Raw,
    number: Option<u64>,
    taken: Option<TakenRun>,
    trail: &mut Trail,
) -> Settled {
    let (call, mut output, time) = raw.unseal_for_settling();
    // On record whatever becomes of the changes and of the output.
    trail.sandbox = output.sandbox.take();
    let (staged, remarks) = (output.staged.take(), std::mem::take(&mut output.remarks));
    let mut unapplied = None;
    if trail.edited {
        let gap = if output.text.is_empty() { "" } else { "\n" };
        let (args, text) = (call.args(), std::mem::take(&mut output.text));
        output.text = format!("a person changed the arguments: {args}{gap}{text}");
    }
    if !output.changes.is_empty() {
        let changes = Arc::new(std::mem::take(&mut output.changes));
        trail.changes = Some(ChangesTrail::new(&changes));
        // Boxed, because most calls change nothing: what is not needed takes no room.
        let ran = RanCall { call: &call, changes: &changes, remarks, output: &output, time };
        let pending = taken.as_ref().map(|it| it.run.call);
        let settling = judge_and_commit(setup, run, ran, (staged.clone(), taken), number, trail);
        let settled = Box::pin(settling).await;
        if let (Err(stop), Some(call), Some(workspace)) = (&settled, pending, &setup.workspace) {
            note_refused(workspace, call, stop);
        }
        drop_staging(staged).await;
        match settled {
            Ok((undo, declined)) => {
                output.undo = Some(undo);
                // The model must not take for done what a person left out.
                if let Some(told) = declined {
                    let gap = if output.text.is_empty() { "" } else { "\n" };
                    output.text = format!("{told}{gap}{}", output.text);
                }
            }
            Err(stop) => {
                output.undo = None;
                unapplied = Some(stop);
            }
        }
    } else {
        drop_staging(staged).await;
    }
    Settled { call, output, time, unapplied }
}

/// A call that has run, and what it would change.
struct RanCall<'a> {
    call: &'a Validated,
    changes: &'a Arc<Changes>,
    /// What a person must know besides the changes.
    remarks: Vec<String>,
    output: &'a Output,
    time: Duration,
}

/// Changes on their way to being applied, and everything that is known of them.
struct Settling<'a> {
    setup: &'a Setup,
    run: &'a Run,
    ran: &'a RanCall<'a>,
    workspace: &'a Workspace,
    facts: RepositoryFacts,
    kinds: EffectKinds,
    groups: Vec<EffectGroup>,
    /// What is not told in a line each.
    shown: Arc<Changes>,
    lines: Option<u64>,
    /// Keeps them, where the gate applies them.
    keeping: Option<Keeping<'a>>,
}

/// Changes that may be applied.
struct Decided {
    /// Those of them that a person picked; `None`: all.
    part: Option<PickedPart>,
    /// Whether a person has seen them.
    asked: bool,
}

/// Judges, asks and commits, in this order. Whatever ends it early leaves the workspace as it was.
/// Where a person picked some of the changes, the text says which were discarded.
async fn judge_and_commit(
    setup: &Setup,
    run: &Run,
    ran: RanCall<'_>,
    (staged, mut taken): (Option<Staged>, Option<TakenRun>),
    number: Option<u64>,
    trail: &mut Trail,
) -> Result<(Undo, Option<String>), Stop> {
    let (Some(workspace), Some(number)) = (&setup.workspace, number) else {
        return Err(denied("no workspace is set up for changes"));
    };
    let (call, changes) = (ran.call, ran.changes);
    let facts = own_files::facts(setup, run, workspace, changes).await;
    let kinds = effect_kinds(setup, call, changes, &facts);
    let FoldedChanges { rest, groups } = FoldedChanges::new(changes, &kinds, &facts);
    let shown = Arc::new(rest);
    let lines = match setup.state.policy.load().counts_lines() {
        true => compare(workspace, &shown, |diff| diff.lines()).await.flatten(),
        false => None,
    };
    let sandbox = trail.sandbox.clone();
    let keeping = match (&setup.delegate, &taken) {
        (None, None) => {
            let (output, remarks, time) = (ran.output, &ran.remarks[..], ran.time);
            let ran = Ran { call, changes, output, remarks, time, number };
            Some(Keeping::new(setup, run, workspace, &ran, sandbox.as_deref()))
        }
        _ => None,
    };
    let settling =
        Settling { setup, run, ran: &ran, workspace, facts, kinds, groups, shown, lines, keeping };
    let outcome = settling.settle(&mut taken, staged, number, trail).await;
    if let Some(keeping) = &settling.keeping {
        keeping.end(matches!(outcome, Err(Stop::Discarded(_))), trail).await;
    }
    outcome
}

impl Settling<'_> {
    /// Decides and commits, as often as others of the session are quicker.
    async fn settle(
        &self,
        taken: &mut Option<TakenRun>,
        staged: Option<Staged>,
        number: u64,
        trail: &mut Trail,
    ) -> Result<(Undo, Option<String>), Stop> {
        let Settling { setup, run, workspace, lines, .. } = self;
        let call = self.ran.call;
        let mut moment = call.context().clone();
        for _ in 0..MAX_OVERTAKEN {
            let Decided { part, asked } = match &*taken {
                Some(taken) if taken.unasked => self.decide_unasked(taken, &moment, trail).await?,
                Some(taken) => self.decide_taken(taken, &moment, trail).await?,
                None => self.decide(&moment, trail).await?,
            };
            if run.cancel.is_cancelled() {
                return Err(discarded(Stop::Cancelled { ran: true }));
            }
            if run.ahead && taken.is_none() {
                return Err(self.keep_for_the_answer(trail).await);
            }
            let counted = match spend(setup, run, &moment.spent, (&self.shown, *lines), asked) {
                Ok(Spending::Counted(counted)) => counted,
                Ok(Spending::Overtaken(spent)) => {
                    moment.spent = spent;
                    continue;
                }
                Err(why) => {
                    let why = format!("the changes of this session cannot be counted: {why}");
                    return Err(denied(&why));
                }
            };
            let applied = part.as_ref().map_or(self.changes(), |it| &it.changes);
            let kept = match (taken.take(), &self.keeping) {
                (Some(taken), _) => Some(taken.run),
                (None, Some(keeping)) if keeping.is_kept() => {
                    let claimed = claim(workspace, number).await;
                    Some(claimed.map_err(|err| denied(&err.to_string()))?)
                }
                _ => None,
            };
            if let Some(part) = &part {
                let kinds = effect_kinds(setup, call, &part.changes, &part.facts);
                note(trail, |it| it.pick(&part.changes, &part.declined, kinds.counts()));
            }
            let committed = commit(setup, workspace, applied, (staged, kept), number, trail).await;
            if committed.is_err() {
                give_back(setup, run, &counted);
            }
            let undo = committed?;
            if applied.len() == self.kinds.iter().count() {
                own_files::note(setup, run, applied, &self.kinds);
            }
            note(trail, |it| it.budget = setup.state.policy.load().budget_spent(&counted.after));
            return Ok((undo, part.map(|it| it.describe())));
        }
        Err(denied("other calls of this session were quicker each time; make the call again"))
    }

    /// Keeps a run that is ahead of its answer. It is counted when it is taken.
    async fn keep_for_the_answer(&self, trail: &mut Trail) -> Stop {
        let Some(keeping) = &self.keeping else {
            return denied("what another program applies cannot run ahead");
        };
        if !keeping.is_kept()
            && let Err(stop) = keeping.keep("").await
        {
            return discarded(stop);
        }
        note(trail, |it| (it.outcome, it.approval) = (ChangesOutcome::Pending, None));
        discarded(Stop::RanAhead)
    }

    /// The changes, where their contents are by now.
    fn changes(&self) -> &Arc<Changes> {
        self.keeping.as_ref().map_or(self.ran.changes, Keeping::changes)
    }

    /// What becomes of a run that somebody has said yes to: only a rule that denies it by now, or one
    /// that wants another's answer, stands in its way.
    async fn decide_taken(
        &self,
        taken: &TakenRun,
        moment: &JudgeContext,
        trail: &mut Trail,
    ) -> Result<Decided, Stop> {
        let Settling { setup, run, ran, workspace, lines, .. } = self;
        let part = match &taken.part {
            ApprovedChanges::Picked(paths) => {
                Some(PickedPart::new(workspace, ran.changes, &self.shown, paths.clone()).await)
            }
            ApprovedChanges::All | ApprovedChanges::Unseen => None,
        };
        let (changes, facts) = match &part {
            Some(part) => (&part.changes, &part.facts),
            None => (ran.changes, &self.facts),
        };
        let verdict = judged(setup, run, (ran.call, moment), changes, (facts, *lines), trail);
        self.note_verdict(&verdict, trail);
        note(trail, |it| it.approval = Some(taken.approval.clone()));
        if verdict.decision == Decision::Deny {
            return Err(discarded(Stop::denied(Decider::Policy, verdict.why())));
        }
        if taken.lasts
            && let Err(why) = grant_edits(setup, run, Some(&edit_keys(ran.changes, &self.kinds)))
        {
            trail.warnings.push(format!("the answer for this session could not be kept: {why}"));
        }
        if let Some(required) = verdict.requirements().next().filter(|_| taken.typed) {
            return Err(denied(&format!("a rule requires {required}")));
        }
        Ok(Decided { part, asked: taken.seen })
    }

    fn note_verdict(&self, verdict: &Verdict, trail: &mut Trail) {
        note(trail, |it| {
            it.verdict = Some(verdict.clone());
            it.kinds = self.kinds.counts();
            it.folded = self.groups.iter().map(EffectGroup::as_note).collect();
        });
    }

    /// What becomes of the changes at this moment of the session: may they be applied?
    async fn decide(&self, moment: &JudgeContext, trail: &mut Trail) -> Result<Decided, Stop> {
        let Settling { setup, run, ran, workspace, facts, lines, .. } = self;
        let (call, changes) = (ran.call, ran.changes);
        let judge = |changes, facts, trail: &Trail| {
            judged(setup, run, (call, moment), changes, (facts, *lines), trail)
        };
        let verdict = judge(changes, facts, trail);
        self.note_verdict(&verdict, trail);
        match verdict.decision {
            Decision::Deny => {
                return Err(discarded(Stop::denied(Decider::Policy, verdict.why())));
            }
            Decision::Ask if setup.rehearsal.is_none() => {}
            _ => return Ok(Decided { part: None, asked: false }),
        }
        let covers = |rules: &Rules| covers(setup, rules, call, changes, (facts, *lines));
        let preview = self.preview().await.ok_or_else(|| denied("the comparison crashed"))?;
        let keeping = self.keeping.as_ref();
        let asked = (verdict, preview, &edit_keys(ran.changes, &self.kinds)[..]);
        let asking = ask_about_changes(setup, run, call, asked, &covers, keeping, trail);
        let (part, asked) = match asking.await.map_err(discarded)? {
            ApprovedChanges::Unseen => (None, false),
            ApprovedChanges::All => (None, true),
            ApprovedChanges::Picked(paths) => {
                (Some(PickedPart::new(workspace, self.changes(), &self.shown, paths).await), true)
            }
        };
        // While a person thought, the rules may have changed; and a part is another change.
        let verdict = match &part {
            Some(it) => judge(&it.changes, &it.facts, trail),
            None => judge(changes, facts, trail),
        };
        match verdict.decision {
            Decision::Deny => Err(discarded(Stop::denied(Decider::Policy, verdict.why()))),
            _ => Ok(Decided { part, asked }),
        }
    }

    /// The changes as a person is shown them.
    async fn preview(&self) -> Option<Preview> {
        preview(self.workspace, &self.shown, (&self.groups, &self.kinds), &self.ran.remarks).await
    }
}

/// Nothing is applied, for this reason.
fn discarded(stop: Stop) -> Stop {
    Stop::Discarded(Box::new(stop))
}

fn denied(why: &str) -> Stop {
    discarded(Stop::denied(Decider::Gate, why))
}
