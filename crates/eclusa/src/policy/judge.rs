//! What a gate asks of its rules, whoever wrote them.

use std::collections::BTreeMap;

use eclusa_net::HostAccess;

use super::{
    ChangeTotals, ContextNeeds, EffectKind, EffectKinds, Effects, Explanation, HiddenPaths,
};
use crate::{CallView, Decision, Reason, Source, Verdict};

/// The rules. Pure and total: no clock, disk or network; same call, same verdict, so that any
/// decision can be replayed. An implementation that meets an error denies.
///
/// ```
/// use eclusa::prelude::*;
///
/// struct AskAlways;
///
/// impl Policy for AskAlways {
///     fn judge(&self, _: &CallView<'_>) -> Verdict {
///         Verdict::from_reasons(vec![Reason {
///             decision: Decision::Ask,
///             source: Source::Rule,
///             origin: "always".into(),
///             text: "everything is asked about".into(),
///         }])
///     }
/// }
///
/// # #[derive(serde::Deserialize, schemars::JsonSchema)]
/// # struct Nothing {}
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let ring = FnTool::new("ring", "Rings a bell.", |_: Nothing| async { Ok::<_, ToolError>("ding") });
/// let gate = Gate::builder().tool(ring).policy(AskAlways).build()?;
/// let call = ToolCall::new("1", "ring", serde_json::json!({}));
/// assert_eq!(gate.pass_blocking(call)?.code(), "no_approver");
/// # Ok(())
/// # }
/// ```
pub trait Policy: Send + Sync {
    /// Judges a call.
    fn judge(&self, call: &CallView<'_>) -> Verdict;

    /// The verdict on a call and what it was made of, for people. A policy that cannot say more
    /// has its verdict, which carries its reasons.
    fn explain(&self, call: &CallView<'_>) -> Explanation {
        Explanation::of(call, self.judge(call))
    }

    /// Judges what a call would change: `Allow` commits it, `Ask` shows it to a person first,
    /// `Deny` discards it. A policy that says nothing of effects leaves it at what was said
    /// before the call ran.
    fn judge_effects(&self, effects: &Effects<'_>) -> Verdict {
        let text = "these rules say nothing of effects";
        Verdict::from_reasons(vec![Reason {
            decision: effects.unruled,
            source: Source::Default,
            origin: "effects".into(),
            text: text.into(),
        }])
    }

    /// What sort of thing each change is. A policy that does not tell them apart holds them all for
    /// edits.
    fn effect_kinds(&self, effects: &Effects<'_>) -> EffectKinds {
        EffectKinds::all(EffectKind::Edit, effects.changes.len())
    }

    /// What must be known of the moment of a call to judge it: it is in
    /// [`CallView::context`] then.
    fn context_needs(&self) -> &ContextNeeds {
        ContextNeeds::none()
    }

    /// How a call brings text from outside into the session, if it does.
    fn taint_source(&self, _call: &CallView<'_>) -> Option<&'static str> {
        None
    }

    /// What a session has used of what it may change without a question, and how much that is:
    /// for the record. Empty where nothing bounds it.
    fn budget_spent(&self, _spent: &ChangeTotals) -> BTreeMap<&'static str, [u64; 2]> {
        BTreeMap::new()
    }

    /// True when [`Effects::lines`] must be counted, which means comparing files.
    fn counts_lines(&self) -> bool {
        false
    }

    /// The paths that a call may not look at although they lie beneath what it was permitted. For
    /// tools that come upon paths which the call did not name.
    fn hidden(&self, _call: &CallView<'_>) -> HiddenPaths {
        HiddenPaths::nothing()
    }

    /// What is said of the hosts that a command reaches while it runs, beside what the settings of
    /// its sandbox allow: a host that is denied here is never reached.
    fn host_access(&self, _call: &CallView<'_>) -> HostAccess {
        HostAccess::default()
    }

    /// What is worth saying of a call that may run, a line each. It decides nothing.
    fn remarks(&self, _call: &CallView<'_>) -> Vec<String> {
        Vec::new()
    }

    /// Judges a call that was permitted and is sent on to another host.
    fn judge_host(&self, _call: &CallView<'_>, _host: &str) -> Verdict {
        Verdict::from_reasons(vec![Reason {
            decision: Decision::Deny,
            source: Source::Default,
            origin: "hosts".into(),
            text: "these rules say nothing of other hosts".into(),
        }])
    }
}
