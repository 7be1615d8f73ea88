//! What policy says of a call, in this mode and on this machine.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::{Decision, Reason, Run, Source, Validated, Verdict, gate::GateSetup};

/// The verdict in this mode, on this machine. A policy that panics has denied.
pub(crate) fn judge(setup: &GateSetup, run: &Run, call: &Validated) -> Verdict {
    let judged = catch_unwind(AssertUnwindSafe(|| setup.live.policy.load().judge(call)));
    let mut verdict = judged.unwrap_or_else(|_panic| {
        Verdict::from_reasons(vec![Reason {
            decision: Decision::Deny,
            source: Source::Floor,
            origin: "policy".into(),
            text: "the policy crashed".into(),
        }])
    });
    if verdict.decision == Decision::Stage && !can_stage(setup, call) {
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
fn can_stage(setup: &GateSetup, call: &Validated) -> bool {
    setup.workspace.is_some() && call.facts().stages && call.server().is_none()
}
