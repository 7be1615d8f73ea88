//! `--discard`: whatever the rules allow, the person wants to see it and have none of it.

use std::sync::Arc;

use eclusa::{
    Decision, Gate, Policy, Reason, Source, Validated, Verdict,
    policy::{Effects, HiddenPaths},
};

/// Puts a question before every change, which whoever speaks for the person answers with no.
pub(super) fn install(gate: &Gate) {
    let rules = gate.policy();
    gate.set_policy(Discarding(rules));
}

/// The rules, and a question about every change.
struct Discarding(Arc<Box<dyn Policy>>);

impl Policy for Discarding {
    fn judge(&self, call: &Validated) -> Verdict {
        self.0.judge(call)
    }

    // Nothing of it becomes real, so that even what the rules refuse can be shown.
    fn judge_effects(&self, effects: &Effects<'_>) -> Verdict {
        let verdict = self.0.judge_effects(effects);
        let text = match verdict.decision {
            Decision::Deny => {
                format!("Preview only: nothing was changed. The rules refuse it: {}", verdict.why())
            }
            _ => "Preview only: nothing was changed".to_owned(),
        };
        Verdict::from_reasons(vec![Reason {
            decision: Decision::Ask,
            source: Source::Rule,
            origin: "--discard".into(),
            text: text.into(),
        }])
    }

    fn counts_lines(&self) -> bool {
        self.0.counts_lines()
    }

    fn hidden(&self, call: &Validated) -> HiddenPaths {
        self.0.hidden(call)
    }

    fn judge_host(&self, call: &Validated, host: &str) -> Verdict {
        self.0.judge_host(call, host)
    }
}
