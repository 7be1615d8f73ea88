//! The rules with something said on top of their verdicts: by an option of the command line, or by
//! another agent's own rules.

use std::sync::Arc;

use eclusa::{
    CallView, Decision, Gate, Mode, Policy, Reason, Source, Verdict,
    policy::{ContextNeeds, EffectKinds, Effects, Explanation, HiddenPaths},
};
use eclusa_net::HostAccess;

/// What becomes of a verdict.
type Raise = Box<dyn Fn(Verdict) -> Verdict + Send + Sync>;

/// The rules of a gate, whose verdicts are changed. Of all else it says what they say.
pub struct RaisedPolicy {
    rules: Arc<Box<dyn Policy>>,
    call: Option<Raise>,
    effects: Option<Raise>,
}

impl RaisedPolicy {
    /// The rules of this gate as they are.
    pub fn new(gate: &Gate) -> RaisedPolicy {
        RaisedPolicy { rules: gate.policy(), call: None, effects: None }
    }

    /// Has verdicts on changes pass through this.
    #[must_use]
    pub fn effects(
        mut self,
        raise: impl Fn(Verdict) -> Verdict + Send + Sync + 'static,
    ) -> RaisedPolicy {
        self.effects = Some(Box::new(raise));
        self
    }

    /// Has every call asked about for this reason, and denied in the mode that never asks.
    #[must_use]
    pub fn asked(self, mode: Mode, origin: &'static str, why: &str) -> RaisedPolicy {
        let decision = if mode == Mode::Yolo { Decision::Deny } else { Decision::Ask };
        self.raised_to(decision, origin, why)
    }

    /// Has every call denied for this reason.
    #[must_use]
    pub fn denied(self, origin: &'static str, why: &str) -> RaisedPolicy {
        self.raised_to(Decision::Deny, origin, why)
    }

    fn raised_to(mut self, decision: Decision, origin: &'static str, why: &str) -> RaisedPolicy {
        let text = why.to_owned();
        self.call = Some(Box::new(move |verdict| {
            let (origin, text) = (origin.into(), text.clone().into());
            let reason = Reason { decision, source: Source::Rule, origin, text };
            let mut reasons = vec![reason];
            reasons.extend(verdict.because);
            Verdict::from_reasons(reasons)
        }));
        self
    }

    /// Puts it in the place of the gate's rules.
    pub fn install(self, gate: &Gate) {
        gate.set_policy(self);
    }
}

fn raised(raise: Option<&Raise>, verdict: Verdict) -> Verdict {
    match raise {
        Some(raise) => raise(verdict),
        None => verdict,
    }
}

impl Policy for RaisedPolicy {
    fn judge(&self, call: &CallView<'_>) -> Verdict {
        raised(self.call.as_ref(), self.rules.judge(call))
    }

    fn judge_effects(&self, effects: &Effects<'_>) -> Verdict {
        raised(self.effects.as_ref(), self.rules.judge_effects(effects))
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
