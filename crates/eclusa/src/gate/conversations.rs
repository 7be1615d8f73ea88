//! What a setup keeps of each conversation while it lasts: what was changed in it since a person
//! was last asked, and whether text from outside came into it. And the moment of a call, made of
//! that.

use std::{
    collections::HashMap,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, LazyLock, Mutex, PoisonError},
};

use crate::{
    ChangeTotals, Changes, CountedRule, Decision, JudgeContext, Run, Source, Validated, Verdict,
    gate::GateSetup, policy::plainly,
};

/// What is kept of the conversations, by their names.
#[derive(Default)]
pub(crate) struct Conversations(Mutex<HashMap<Arc<str>, ConversationState>>);

#[derive(Default)]
struct ConversationState {
    spent: Option<Arc<ChangeTotals>>,
    taint: Option<Arc<str>>,
}

impl Conversations {
    fn with_state<T>(&self, run: &Run, use_it: impl FnOnce(&mut ConversationState) -> T) -> T {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        use_it(all.entry(run.conversation.clone()).or_default())
    }

    /// Notes that changes became real. A person who was asked about them has begun the count anew.
    /// Gives the count.
    pub(crate) fn changed(
        &self,
        run: &Run,
        changes: &Changes,
        lines: Option<u64>,
        asked: bool,
    ) -> Arc<ChangeTotals> {
        self.with_state(run, |it| {
            let mut spent = it.spent.take().map(Arc::unwrap_or_clone).unwrap_or_default();
            match asked {
                true => spent = ChangeTotals::default(),
                false => spent.add(changes, lines.unwrap_or_default()),
            }
            it.spent.insert(Arc::new(spent)).clone()
        })
    }
}

/// Forgets a conversation, and lets every tool end what it runs for it.
pub(crate) fn end(setup: &GateSetup, conversation: &str) {
    setup.live.memory.end(conversation);
    let kept = &setup.live.conversations.0;
    kept.lock().unwrap_or_else(PoisonError::into_inner).remove(conversation);
    for tool in setup.registry.list() {
        // One that panics keeps no other from hearing of it.
        let heard = catch_unwind(AssertUnwindSafe(|| tool.tool().conversation_ended(conversation)));
        if heard.is_err() {
            tracing::warn!("`{}` crashed when a conversation ended", tool.name());
        }
    }
}

/// The moment of a call: what the rules want to know of it, and nothing else.
pub(crate) fn moment(setup: &GateSetup, run: &Run) -> JudgeContext {
    static NOTHING: LazyLock<Arc<ChangeTotals>> = LazyLock::new(Arc::default);
    let policy = setup.live.policy.load();
    let terms = policy.context_needs();
    // What cannot be counted is not known, and then the rule does not hold.
    let counts = terms.timed || !terms.counted.is_empty();
    let now = counts.then(|| setup.clock.unix_ms());
    let used = |it: &CountedRule| Some((it.id.clone(), setup.tally.used(it, now?).ok()?));
    let (spent, taint) =
        setup.live.conversations.with_state(run, |it| (it.spent.clone(), it.taint.clone()));
    JudgeContext {
        now: now.filter(|_| terms.timed),
        conversation: Some(run.conversation.clone()),
        used: terms.counted.iter().filter_map(used).collect(),
        spent: spent.unwrap_or_else(|| NOTHING.clone()),
        taint,
    }
}

/// Counts a use of every rule that lets this call pass and is good for so many calls only. False
/// when another call was quicker.
pub(crate) fn consume_uses(setup: &GateSetup, verdict: &Verdict) -> bool {
    if verdict.decision >= Decision::Ask {
        return true;
    }
    let policy = setup.live.policy.load();
    let used = |id: &str| {
        let mut because = verdict.because.iter();
        because.any(|it| {
            it.decision == Decision::Allow
                && matches!(it.source, Source::Rule | Source::Administrator)
                && it.origin.rule_id() == Some(id)
        })
    };
    let mut counted = policy.context_needs().counted.iter().filter(|it| used(&it.id));
    counted.all(|it| setup.tally.take(it, setup.clock.unix_ms()) == Ok(true))
}

/// What brought text from outside into the conversation.
pub(crate) fn taint(setup: &GateSetup, run: &Run) -> Option<Arc<str>> {
    setup.live.conversations.with_state(run, |it| it.taint.clone())
}

/// Marks the conversation as one that text from outside has come into. The first mark stands.
pub(crate) fn bring_from_outside(setup: &GateSetup, run: &Run, how: Arc<str>) {
    setup.live.conversations.with_state(run, |it| {
        it.taint.get_or_insert(how);
    });
}

/// Marks the conversation when a call that is about to run brings text from outside into it.
pub(crate) fn mark_tainted(setup: &GateSetup, run: &Run, call: &Validated) {
    if let Some(how) = setup.live.policy.load().taint_source(&call.view()) {
        let text = format!("{how} (`{}`)", plainly(call.name()));
        bring_from_outside(setup, run, text.into());
    }
}
