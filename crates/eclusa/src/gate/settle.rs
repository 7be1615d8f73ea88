//! Fifth gate: are the changes to the workspace to become real? The only file that makes a
//! [`Settled`].

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::Duration,
};

use serde_json::json;

use crate::{
    Bounds, Changes, CommitError, Decision, Delegate, Diff, EffectGroup, EffectKind, EffectKinds,
    Effects, FoldedChanges, JudgeContext, Output, Preview, Raw, RepositoryFacts, Rules, Run,
    Staged, Stop, Summary, Undo, Validated, Workspace,
    audit::trail::{ChangesOutcome, ChangesTrail, Trail},
    gate::{
        Setup,
        ask::{ApprovedChanges, ask_about_changes},
        judge_changes::{covers, judged},
        picked::PickedPart,
        spending::{Spending, give_back, spend},
        staging::{drop_staging, keep_discarded},
    },
    one_line, repository,
    stop::Decider,
};

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
/// why nothing was applied (C34).
pub(crate) async fn settle(
    setup: &Setup,
    run: &Run,
    raw: Raw,
    number: Option<u64>,
    trail: &mut Trail,
) -> Settled {
    let (call, mut output, time) = raw.unseal_for_settling();
    // On record whatever becomes of the changes and of the output.
    trail.sandbox = output.sandbox.take();
    let (staged, remarks) = (output.staged.take(), std::mem::take(&mut output.remarks));
    let mut unapplied = None;
    if !output.changes.is_empty() {
        let changes = Arc::new(std::mem::take(&mut output.changes));
        trail.changes = Some(ChangesTrail::new(&changes));
        // Boxed, because most calls change nothing: what is not needed takes no room.
        let ran = RanCall { call: &call, changes: &changes, remarks };
        let settling = judge_and_commit(setup, run, ran, staged.clone(), number, trail);
        let settled = Box::pin(settling).await;
        if let Err(Stop::Discarded(_)) = &settled {
            keep_discarded(setup, &changes, number).await;
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
}

/// Changes on their way to being applied, and everything that is known of them.
struct Pending<'a> {
    setup: &'a Setup,
    run: &'a Run,
    ran: RanCall<'a>,
    workspace: &'a Workspace,
    facts: RepositoryFacts,
    kinds: EffectKinds,
    groups: Vec<EffectGroup>,
    /// What is not told in a line each.
    shown: Arc<Changes>,
    lines: Option<u64>,
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
    staged: Option<Staged>,
    number: Option<u64>,
    trail: &mut Trail,
) -> Result<(Undo, Option<String>), Stop> {
    let (Some(workspace), Some(number)) = (&setup.workspace, number) else {
        return Err(denied("no workspace is set up for changes"));
    };
    let (call, changes) = (ran.call, ran.changes);
    let facts = facts(workspace, changes).await;
    let kinds = effect_kinds(setup, call, changes, &facts);
    let FoldedChanges { rest, groups } = FoldedChanges::new(changes, &kinds, &facts);
    let shown = Arc::new(rest);
    let lines = match setup.state.policy.load().counts_lines() {
        true => compare(workspace, &shown, |diff| diff.lines()).await.flatten(),
        false => None,
    };
    let pending = Pending { setup, run, ran, workspace, facts, kinds, groups, shown, lines };
    let mut moment = call.context().clone();
    for _ in 0..MAX_OVERTAKEN {
        let Decided { part, asked } = pending.decide(&moment, trail).await?;
        if run.cancel.is_cancelled() {
            return Err(discarded(Stop::Cancelled { ran: true }));
        }
        let counted = match spend(setup, run, &moment.spent, (&pending.shown, lines), asked) {
            Ok(Spending::Counted(counted)) => counted,
            Ok(Spending::Overtaken(spent)) => {
                moment.spent = spent;
                continue;
            }
            Err(why) => {
                let why = format!("what this session has changed cannot be counted: {why}");
                return Err(denied(&why));
            }
        };
        let applied = part.as_ref().map_or(changes, |it| &it.changes);
        if let Some(part) = &part {
            let kinds = effect_kinds(setup, call, &part.changes, &part.facts);
            note(trail, |it| it.pick(&part.changes, &part.declined, kinds.counts()));
        }
        let committed = commit(setup, workspace, applied, staged, number, trail).await;
        if committed.is_err() {
            give_back(setup, run, &counted);
        }
        let undo = committed?;
        note(trail, |it| it.budget = setup.state.policy.load().budget_spent(&counted.after));
        return Ok((undo, part.map(|it| it.describe())));
    }
    Err(denied("other calls of this session were quicker each time; make the call again"))
}

impl Pending<'_> {
    /// What becomes of the changes at this moment of the session: may they be applied?
    async fn decide(&self, moment: &JudgeContext, trail: &mut Trail) -> Result<Decided, Stop> {
        let Pending { setup, run, ran, workspace, facts, lines, .. } = self;
        let (call, changes) = (ran.call, ran.changes);
        let judge = |changes, facts, trail: &Trail| {
            judged(setup, run, (call, moment), changes, (facts, *lines), trail)
        };
        let verdict = judge(changes, facts, trail);
        note(trail, |it| {
            it.verdict = Some(verdict.clone());
            it.kinds = self.kinds.counts();
            it.folded = self.groups.iter().map(EffectGroup::as_note).collect();
        });
        match verdict.decision {
            Decision::Deny => {
                return Err(discarded(Stop::denied(Decider::Policy, verdict.why())));
            }
            Decision::Ask => {}
            Decision::Allow | Decision::Stage => return Ok(Decided { part: None, asked: false }),
        }
        let covers = |rules: &Rules| covers(setup, rules, call, changes, (facts, *lines));
        let preview = self.preview().await.ok_or_else(|| denied("the comparison crashed"))?;
        let asking = ask_about_changes(setup, run, call, (verdict, preview), &covers, trail);
        let (part, asked) = match asking.await.map_err(discarded)? {
            ApprovedChanges::Unseen => (None, false),
            ApprovedChanges::All => (None, true),
            ApprovedChanges::Picked(paths) => {
                (Some(PickedPart::new(workspace, changes, &self.shown, paths).await), true)
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
        let groups: Vec<String> = self.groups.iter().map(ToString::to_string).collect();
        // What git did hangs together: its commits hold what the files hold.
        let separable = !self.kinds.iter().any(|it| matches!(it, EffectKind::Git(_)));
        let remarks = self.ran.remarks.clone();
        compare(self.workspace, &self.shown, move |diff| {
            let (shown, whole) = diff.shown_whole();
            let summary = summary_line(&groups, &diff.summary());
            let choices = if separable { diff.shown_choices() } else { Vec::new() };
            Preview { summary, diff: with_remarks(&remarks, &groups, &shown), whole, choices }
        })
        .await
    }
}

/// Nothing is applied, for this reason.
fn discarded(stop: Stop) -> Stop {
    Stop::Discarded(Box::new(stop))
}

fn denied(why: &str) -> Stop {
    discarded(Stop::denied(Decider::Gate, why))
}

/// Makes the changes real. It is not given up in the middle: once begun, it ends.
async fn commit(
    setup: &Setup,
    workspace: &Workspace,
    changes: &Arc<Changes>,
    staged: Option<Staged>,
    number: u64,
    trail: &mut Trail,
) -> Result<Undo, Stop> {
    if let Some(delegate) = &setup.delegate {
        return hand_over(delegate, changes, number, trail).await;
    }
    note(trail, |it| it.outcome = ChangesOutcome::Committing);
    let committing = {
        let (workspace, changes) = (workspace.clone(), changes.clone());
        let durability = setup.durability;
        tokio::task::spawn_blocking(move || {
            let committed = workspace.commit(number, &changes, durability);
            // It stays for as long as the commit takes, whether or not anybody waits for it.
            drop(staged);
            committed
        })
    };
    let (outcome, why) = match committing.await {
        Ok(Ok(_)) => {
            note(trail, |it| it.outcome = ChangesOutcome::Committed);
            return Ok(undo(number, changes));
        }
        Ok(Err(err @ CommitError::Unsafe(_))) => {
            note(trail, |it| it.outcome = ChangesOutcome::Committed);
            trail.warnings.push(err.to_string());
            return Ok(undo(number, changes));
        }
        Ok(Err(err @ CommitError::Conflicts(_))) => (ChangesOutcome::Conflict, err.to_string()),
        Ok(Err(err)) => (ChangesOutcome::Failed, err.to_string()),
        Err(_panic) => {
            let why =
                "applying the changes crashed; they will be rolled back before the next change";
            (ChangesOutcome::Failed, why.to_owned())
        }
    };
    note(trail, |it| it.outcome = outcome);
    Err(Stop::NotCommitted { conflict: outcome == ChangesOutcome::Conflict, why })
}

/// Leaves the changes to whoever asked, once what undoing them needs is kept.
async fn hand_over(
    delegate: &Arc<dyn Delegate>,
    changes: &Arc<Changes>,
    number: u64,
    trail: &mut Trail,
) -> Result<Undo, Stop> {
    let (delegate, kept) = (delegate.clone(), changes.clone());
    let keeping = tokio::task::spawn_blocking(move || delegate.hand_over(number, &kept));
    let kept = keeping.await.unwrap_or_else(|_panic| Err("it crashed".into()));
    match kept {
        Ok(()) => {
            note(trail, |it| it.outcome = ChangesOutcome::Delegated);
            Ok(undo(number, changes))
        }
        Err(why) => {
            let why = format!("what undoing it needs could not be kept: {why}");
            Err(Stop::Discarded(Box::new(Stop::denied(Decider::Gate, why))))
        }
    }
}

/// How the changes can be taken back.
fn undo(number: u64, changes: &Changes) -> Undo {
    let paths = match changes.len() {
        1 => "1 path".to_owned(),
        count => format!("{count} paths"),
    };
    Undo {
        description: format!("undo call {number}: {paths} will be as before"),
        data: json!({"call": number}),
    }
}

/// Compares files, which reads them, away from the threads that calls pass on.
async fn compare<T: Send + 'static>(
    workspace: &Workspace,
    changes: &Arc<Changes>,
    take: impl FnOnce(&Diff<'_>) -> T + Send + 'static,
) -> Option<T> {
    let (workspace, changes) = (workspace.clone(), changes.clone());
    let comparing = tokio::task::spawn_blocking(move || {
        take(&Diff::of(&changes, &workspace, Bounds::default()))
    });
    comparing.await.ok()
}

/// What git knows of the changes, read away from the threads that calls pass on. Where that fails,
/// nothing is known.
pub(super) async fn facts(workspace: &Workspace, changes: &Arc<Changes>) -> RepositoryFacts {
    let (workspace, changes) = (workspace.clone(), changes.clone());
    let reading = tokio::task::spawn_blocking(move || repository::facts(&workspace, &changes));
    reading.await.unwrap_or_default()
}

/// What sort of thing each change is. A policy that panics holds them all for edits.
fn effect_kinds(
    setup: &Setup,
    call: &Validated,
    changes: &Changes,
    facts: &RepositoryFacts,
) -> EffectKinds {
    let (author, moment) = (call.view().into(), call.context());
    let (lines, unruled) = (None, Decision::Ask);
    let effects = Effects { author, changes, lines, facts, moment, unruled };
    let kinds = catch_unwind(AssertUnwindSafe(|| setup.state.policy.load().effect_kinds(&effects)));
    kinds.unwrap_or_else(|_panic| EffectKinds::all(EffectKind::Edit, changes.len()))
}

/// The changes in one line: what is shown in full, or what is told in a line each.
fn summary_line(groups: &[String], summary: &Summary) -> String {
    match (groups, summary.is_nothing()) {
        ([], _) | (_, false) => summary.to_string(),
        ([only], true) => one_line(only),
        ([first, others @ ..], true) => format!("{} and {} more", one_line(first), others.len()),
    }
}

/// The changes as they are shown, after what must be known besides them and what is told in a
/// line each.
fn with_remarks(remarks: &[String], groups: &[String], shown: &str) -> String {
    let remarks = remarks.iter().map(|it| format!("! {}\n", one_line(it)));
    let groups = groups.iter().map(|it| format!("* {}\n", one_line(it)));
    remarks.chain(groups).chain([shown.to_owned()]).collect()
}

fn note(trail: &mut Trail, write: impl FnOnce(&mut ChangesTrail)) {
    if let Some(changes) = &mut trail.changes {
        write(changes);
    }
}
