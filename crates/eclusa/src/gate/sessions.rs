//! What calls of a session tell each other, through what is kept of it: that text from outside came
//! in, and what people answered for all of it. And the moment of a call, made of that.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use crate::{
    CallUses, ChangeTotals, CountedRule, Decision, Grant, Hash, JudgeContext, Run, SessionError,
    Source, Validated, Verdict, gate::Setup, policy::plainly, session::SessionRecord,
};

/// What is said of a session whose state nobody can read: it counts as tainted.
const UNREAD: &str = "may have come in: the state of this session cannot be read";

/// What is kept of the session. A keeper that panics has failed.
pub(super) fn load(setup: &Setup, run: &Run) -> Result<SessionRecord, SessionError> {
    let load = || setup.sessions.load(&run.session);
    let loaded = catch_unwind(AssertUnwindSafe(load));
    let loaded = loaded.unwrap_or_else(|_panic| Err("it crashed".into()));
    if let Err(why) = &loaded {
        tracing::warn!("the state of session `{}` cannot be read: {why}", run.session);
    }
    loaded
}

/// Changes what is kept of the session.
pub(super) fn update(
    setup: &Setup,
    run: &Run,
    mut change: impl FnMut(&mut SessionRecord),
) -> Result<(), SessionError> {
    let update = || setup.sessions.update(&run.session, &mut change);
    let updated = catch_unwind(AssertUnwindSafe(update));
    updated.unwrap_or_else(|_panic| Err("it crashed".into()))
}

/// Lets every tool end what it runs for a session, and forgets what people answered for it. One that
/// is over for good is forgotten whole; one that may be taken up again is not.
pub(crate) fn end(setup: &Setup, run: &Run, for_good: bool) {
    let ended = match for_good {
        true => catch_unwind(AssertUnwindSafe(|| setup.sessions.forget(&run.session)))
            .unwrap_or_else(|_panic| Err("it crashed".into())),
        false => update(setup, run, SessionRecord::clear_grants),
    };
    if let Err(why) = ended {
        tracing::warn!("the state of session `{}` cannot be written: {why}", run.session);
    }
    for tool in setup.registry.list() {
        // One that panics keeps no other from hearing of it.
        let ended = || tool.tool().session_ended(&run.session);
        if catch_unwind(AssertUnwindSafe(ended)).is_err() {
            tracing::warn!("`{}` crashed when a conversation ended", tool.name());
        }
    }
}

/// The moment of a call: what the rules want to know of it, and nothing else.
pub(crate) fn moment(setup: &Setup, run: &Run) -> JudgeContext {
    let policy = setup.state.policy.load();
    let terms = policy.context_needs();
    // What cannot be counted is not known, and then the rule does not hold.
    let counts = terms.timed || !terms.counted.is_empty();
    let now = counts.then(|| setup.clock.unix_ms());
    let used = |it: &CountedRule| {
        let used = setup.tally.used(it, now?).ok()?;
        // The use that this very call was counted with stands in nobody's way but others'.
        Some((it.id.clone(), used.saturating_sub(u64::from(is_counted(run, it)))))
    };
    let (spent, taint) = match load(setup, run) {
        Ok(record) => (record.spent(), record.taint().cloned()),
        Err(_) => (ChangeTotals::unknown(), Some(UNREAD.into())),
    };
    JudgeContext {
        now: now.filter(|_| terms.timed),
        session: Some(run.session.clone()),
        used: terms.counted.iter().filter_map(used).collect(),
        spent,
        taint,
    }
}

/// Whether a use of the rule by this call was counted when it was judged before.
fn is_counted(run: &Run, rule: &CountedRule) -> bool {
    run.judged_before.as_ref().is_some_and(|it| it.rules.contains(&rule.id))
}

/// Counts a use of every rule that lets this call pass and is good for so many calls only. False
/// when another call was quicker.
pub(crate) fn consume_uses(
    setup: &Setup,
    run: &Run,
    verdict: &Verdict,
    uses: &mut CallUses,
) -> bool {
    if verdict.decision >= Decision::Ask {
        return true;
    }
    let policy = setup.state.policy.load();
    let used = |id: &str| {
        let mut because = verdict.because.iter();
        because.any(|it| {
            it.decision == Decision::Allow
                && matches!(it.source, Source::Rule | Source::Administrator)
                && it.origin.rule_id() == Some(id)
        })
    };
    let mut counted = policy.context_needs().counted.iter().filter(|it| used(&it.id));
    counted.all(|it| {
        uses.rules.push(it.id.clone());
        is_counted(run, it) || setup.tally.take(it, setup.clock.unix_ms()) == Ok(true)
    })
}

/// What brought text from outside into the session. Where nobody can tell, something did.
pub(crate) fn taint(setup: &Setup, run: &Run) -> Option<Arc<str>> {
    match load(setup, run) {
        Ok(record) => record.taint().cloned(),
        Err(_) => Some(UNREAD.into()),
    }
}

/// Marks the session as one that text from outside has come into. The first mark stands.
pub(crate) fn mark_tainted(setup: &Setup, run: &Run, how: &str) -> Result<(), SessionError> {
    update(setup, run, |it| it.mark_tainted(how))
}

/// Marks the session when a call that is about to run brings text from outside into it, and says
/// what is known of that. What cannot be kept must not come in.
pub(crate) fn mark_tainted_by(
    setup: &Setup,
    run: &Run,
    call: &Validated,
) -> Result<Option<Arc<str>>, SessionError> {
    if let Some(known) = &call.context().taint {
        return Ok(Some(known.clone()));
    }
    let Some(how) = setup.state.policy.load().taint_source(&call.view()) else { return Ok(None) };
    let text = format!("{how} (`{}`)", plainly(call.name()));
    mark_tainted(setup, run, &text)?;
    Ok(Some(text.into()))
}

/// Who said before that this may pass, if anybody did: for the session, or for always. What cannot
/// be read is not granted.
pub(crate) fn covering(setup: &Setup, run: &Run, grant: Option<&Grant>) -> Option<String> {
    let grant = grant?;
    if load(setup, run).is_ok_and(|it| it.grants(&own(run, grant.digest()))) {
        return Some("an earlier answer in this conversation".to_owned());
    }
    setup.state.memory.covers(grant).then(|| "an earlier answer for always".to_owned())
}

/// Keeps that people allow this for the session.
pub(crate) fn grant(setup: &Setup, run: &Run, grant: &Grant) -> Result<(), SessionError> {
    update(setup, run, |it| it.grant(own(run, grant.digest())))?;
    setup.state.memory.changed.notify_waiters();
    Ok(())
}

/// Who said before that these edits need no answer: all of the session, or those of these files.
pub(crate) fn covering_edits(setup: &Setup, run: &Run, edits: &[Hash]) -> Option<String> {
    let record = load(setup, run).ok()?;
    let granted = |it: Hash| record.grants(&own(run, it));
    if granted(all_edits()) {
        return Some("an earlier answer for all edits of this session".to_owned());
    }
    let files = !edits.is_empty() && edits.iter().all(|it| granted(*it));
    files.then(|| "an earlier answer for these files in this session".to_owned())
}

/// Keeps that these edits need no answer for the rest of the session; `None`: all of it.
pub(crate) fn grant_edits(
    setup: &Setup,
    run: &Run,
    edits: Option<&[Hash]>,
) -> Result<(), SessionError> {
    let all = [all_edits()];
    let edits = edits.unwrap_or(&all);
    update(setup, run, |it| edits.iter().for_each(|edit| it.grant(own(run, *edit))))?;
    setup.state.memory.changed.notify_waiters();
    Ok(())
}

fn all_edits() -> Hash {
    Hash::sha256(b"all edits")
}

/// A model that works inside a call, or beside the one that its person talks to, has answers of its own.
fn own(run: &Run, grant: Hash) -> Hash {
    match &run.task {
        None => grant,
        Some(task) => Hash::sha256(format!("{grant}\n{task}").as_bytes()),
    }
}
