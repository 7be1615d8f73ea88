//! What policy says of a call, in this mode and on this machine.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::{
    Decision, Mode, Origin, Reason, Run, Source, Validated, Verdict,
    gate::{Setup, ask::required},
    policy::{plainly, tried_all_the_same, written_hosts},
};

/// The verdict in this mode, on this machine. A policy that panics has denied.
pub(crate) fn judge(setup: &Setup, run: &Run, call: &Validated) -> Verdict {
    let judged = catch_unwind(AssertUnwindSafe(|| setup.state.policy.load().judge(&call.view())));
    let mut verdict = judged.unwrap_or_else(|_panic| {
        Verdict::from_reasons(vec![Reason {
            decision: Decision::Deny,
            source: Source::Floor,
            origin: "policy".into(),
            text: "the policy crashed".into(),
        }])
    });
    if verdict.decision == Decision::Ask
        && can_ask_while_it_runs(setup, run, call)
        && let Some(tried) = tried_in_taint(setup, call)
    {
        verdict = tried;
    }
    if verdict.decision == Decision::Stage && !can_stage(setup, call) {
        // What cannot be staged is asked about, and the record says why.
        verdict.because.insert(
            0,
            Reason {
                decision: Decision::Ask,
                source: Source::Floor,
                origin: "staging".into(),
                text: "this machine cannot stage changes".into(),
            },
        );
        verdict.decision = Decision::Ask;
    }
    if verdict.decision == Decision::Stage && asks_first(run, call) {
        let hosts: Vec<String> =
            written_hosts(&call.view()).iter().map(|it| format!("`{}`", plainly(it))).collect();
        if !hosts.is_empty() {
            let text = format!("approving opens {} for this call", hosts.join(", "));
            verdict.because.insert(
                0,
                Reason {
                    decision: Decision::Ask,
                    source: Source::Default,
                    origin: "commands".into(),
                    text: text.into(),
                },
            );
            verdict.decision = Decision::Ask;
        }
    }
    required::with_least_proof(setup, run.mode_in_force().apply(verdict))
}

/// What becomes of a call that text from outside makes a question of, and that is tried without a network otherwise:
/// so it is then too, and one question names the host and says why.
fn tried_in_taint(setup: &Setup, call: &Validated) -> Option<Verdict> {
    let policy = setup.state.policy.load();
    catch_unwind(AssertUnwindSafe(|| tried_all_the_same(&***policy, &call.view()))).ok().flatten()
}

/// True when a call of this kind runs in a sandbox of ours while somebody waits for it who can be asked.
fn can_ask_while_it_runs(setup: &Setup, run: &Run, call: &Validated) -> bool {
    run.mode_in_force() == Mode::ConfirmSensitive
        && can_stage(setup, call)
        && setup.delegate.is_none()
        && !run.ahead
        && !asks_first(run, call)
}

/// True when nobody can be asked about hosts while this call runs: whoever answers does so before,
/// elsewhere or in another program.
fn asks_first(run: &Run, call: &Validated) -> bool {
    (run.park || call.origin() == Origin::Hook) && call.only_fetches()
}

/// True when what this call changes is a value before it is real. Only a tool of our own is
/// believed when it says so.
pub(super) fn can_stage(setup: &Setup, call: &Validated) -> bool {
    setup.workspace.is_some() && call.facts().stages && call.server().is_none()
}
