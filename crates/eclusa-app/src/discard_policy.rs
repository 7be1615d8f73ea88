//! `--discard`: whatever the rules allow, the person wants to see it and have none of it.

use std::sync::{Arc, Mutex, PoisonError};

use eclusa::{
    CallView, Decision, Gate, Mode, Policy, Reason, Source, Verdict,
    policy::{ContextNeeds, EffectKinds, Effects, Explanation, HiddenPaths},
};
use eclusa_net::HostAccess;

/// What the rules say of the changes, once they were judged.
pub type JudgedEffects = Arc<Mutex<Option<Verdict>>>;

/// Puts a question before every change, which whoever speaks for the person answers with no.
pub fn install(gate: &Gate) -> JudgedEffects {
    let judged = JudgedEffects::default();
    let (rules, mode) = (gate.policy(), gate.run().mode_in_force());
    gate.set_policy(Discarding { rules, mode, judged: judged.clone() });
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

/// The rules, and a question about every change. Of all else it says what they say.
struct Discarding {
    rules: Arc<Box<dyn Policy>>,
    /// What the person chose, which may answer what the rules ask.
    mode: Mode,
    judged: JudgedEffects,
}

impl Policy for Discarding {
    fn judge(&self, call: &CallView<'_>) -> Verdict {
        self.rules.judge(call)
    }

    // Nothing of it becomes real, so that even what the rules refuse can be shown.
    fn judge_effects(&self, effects: &Effects<'_>) -> Verdict {
        let verdict = self.mode.apply(self.rules.judge_effects(effects));
        let text = preview_text(&verdict);
        *self.judged.lock().unwrap_or_else(PoisonError::into_inner) = Some(verdict);
        Verdict::from_reasons(vec![Reason {
            decision: Decision::Ask,
            source: Source::Rule,
            origin: "--discard".into(),
            text: text.into(),
        }])
    }

    fn explain(&self, call: &CallView<'_>) -> Explanation {
        self.rules.explain(call)
    }

    fn effect_kinds(&self, effects: &Effects<'_>) -> EffectKinds {
        self.rules.effect_kinds(effects)
    }

    fn context_needs(&self) -> &ContextNeeds {
        self.rules.context_needs()
    }

    fn taint_source(&self, call: &CallView<'_>) -> Option<&'static str> {
        self.rules.taint_source(call)
    }

    fn counts_lines(&self) -> bool {
        self.rules.counts_lines()
    }

    fn hidden(&self, call: &CallView<'_>) -> HiddenPaths {
        self.rules.hidden(call)
    }

    fn host_access(&self, call: &CallView<'_>) -> HostAccess {
        self.rules.host_access(call)
    }

    fn remarks(&self, call: &CallView<'_>) -> Vec<String> {
        self.rules.remarks(call)
    }

    fn judge_host(&self, call: &CallView<'_>, host: &str) -> Verdict {
        self.rules.judge_host(call, host)
    }
}
