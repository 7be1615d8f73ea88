//! What a session may change without a question: counted before the changes are applied, so that of
//! two calls at the same moment one sees what the other has used.

use std::sync::Arc;

use crate::{
    ChangeTotals, Changes, Run, SessionError,
    gate::{Setup, sessions::update},
};

/// What came of counting changes in.
pub(super) enum Spending {
    /// They are counted.
    Counted(Counted),
    /// Another call was quicker: this is what was changed by now, and the changes are to be judged
    /// with it.
    Overtaken(Arc<ChangeTotals>),
}

/// Changes that were counted in, and what was counted before and after.
pub(super) struct Counted {
    before: Arc<ChangeTotals>,
    pub(super) after: Arc<ChangeTotals>,
}

/// Whether anything bounds what a session may change.
pub(super) fn is_bounded(setup: &Setup) -> bool {
    let policy = setup.state.policy.load();
    !policy.budget_spent(&ChangeTotals::default()).is_empty()
}

/// Counts changes in that were judged when `judged` was what there was before. A person who was
/// asked about them has begun the count anew.
pub(super) fn spend(
    setup: &Setup,
    run: &Run,
    judged: &Arc<ChangeTotals>,
    (changes, lines): (&Changes, Option<u64>),
    asked: bool,
) -> Result<Spending, SessionError> {
    if !is_bounded(setup) {
        let (before, after) = (judged.clone(), judged.clone());
        return Ok(Spending::Counted(Counted { before, after }));
    }
    let mut spending = None;
    update(setup, run, |record| {
        let before = record.spent();
        if !asked && *before != **judged {
            spending = Some(Spending::Overtaken(before));
            return;
        }
        let mut after = ChangeTotals::default();
        if !asked {
            after = (*before).clone();
            after.add(changes, lines.unwrap_or_default());
        }
        let after = Arc::new(after);
        record.set_spent(after.clone());
        spending = Some(Spending::Counted(Counted { before, after }));
    })?;
    spending.ok_or_else(|| "it was not looked at".into())
}

/// Takes back what was counted for changes that were not applied after all, unless others have been
/// counted since: then it stays, and the next question comes early.
pub(super) fn give_back(setup: &Setup, run: &Run, counted: &Counted) {
    let Counted { before, after } = counted;
    if before == after {
        return;
    }
    let given = update(setup, run, |record| {
        if *record.spent() == **after {
            record.set_spent(before.clone());
        }
    });
    if let Err(why) = given {
        tracing::warn!("what session `{}` has used cannot be changed: {why}", run.session);
    }
}
