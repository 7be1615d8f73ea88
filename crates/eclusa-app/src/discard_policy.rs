//! `--discard`: whatever the rules allow, the person wants to see it and have none of it.

use std::sync::{Arc, Mutex, PoisonError};

use eclusa::{Decision, Gate, Reason, Source, Verdict};

use crate::raised_policy::RaisedPolicy;

/// What the rules say of the changes, once they were judged.
pub type JudgedEffects = Arc<Mutex<Option<Verdict>>>;

/// Puts a question before every change, which whoever speaks for the person answers with no.
pub fn install(gate: &Gate) -> JudgedEffects {
    let judged = JudgedEffects::default();
    let (mode, kept) = (gate.run().mode_in_force(), judged.clone());
    // Nothing of it becomes real, so that even what the rules refuse can be shown. The mode is what
    // the person chose, which may answer what the rules ask.
    let ask = move |verdict: Verdict| {
        let verdict = mode.apply(verdict);
        let text = preview_text(&verdict);
        *kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(verdict);
        Verdict::from_reasons(vec![Reason {
            decision: Decision::Ask,
            source: Source::Rule,
            origin: "--discard".into(),
            text: text.into(),
        }])
    };
    RaisedPolicy::new(gate).effects(ask).install(gate);
    judged
}

/// What a person is told: that nothing was changed, and what the rules say of the changes.
pub fn preview_text(verdict: &Verdict) -> String {
    let rules = match verdict.decision {
        Decision::Deny => format!("refuse it: {}", verdict.why()),
        Decision::Ask => format!("ask about it: {}", verdict.why()),
        Decision::Allow | Decision::Stage => "apply it without a question".to_owned(),
    };
    format!("Preview only: nothing was changed. The rules {rules}")
}
