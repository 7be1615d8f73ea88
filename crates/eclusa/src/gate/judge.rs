//! What policy says of a call, in this mode and on this machine.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::{Decision, Reason, Run, Source, Validated, Verdict, gate::House};

/// The verdict in this mode, on this machine. A policy that panics has denied.
pub(crate) fn judge(house: &House, run: &Run, call: &Validated) -> Verdict {
    let judged = catch_unwind(AssertUnwindSafe(|| house.policy.load().judge(call)));
    let mut verdict = judged.unwrap_or_else(|_panic| {
        Verdict::of(vec![Reason {
            decision: Decision::Deny,
            source: Source::Floor,
            origin: "policy".into(),
            text: "the policy crashed".into(),
        }])
    });
    if verdict.decision == Decision::Stage && !can_stage(house, call) {
        // What cannot be staged is asked about, and the record says why.
        verdict.because.insert(
            0,
            Reason {
                decision: Decision::Ask,
                source: Source::Floor,
                origin: "staging".into(),
                text: "changes cannot be staged here, so a person is asked".into(),
            },
        );
        verdict.decision = Decision::Ask;
    }
    run.mode.apply(verdict)
}

/// True when what this call changes is a value before it is real. Only a tool of our own is
/// believed when it says so.
fn can_stage(house: &House, call: &Validated) -> bool {
    house.workspace.is_some() && call.facts().stages && call.server().is_none()
}
