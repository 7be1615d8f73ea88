//! Exceptions across kinds of rules, and rules that are used up.
//!
//! A rule about whole calls that is an exception to one about commands takes that one out of every
//! command of the call. A rule about commands that is an exception to one about whole calls does so
//! where it allows and covers every command of the text.

use super::{JudgeContext, Rule, Rules, Script, Subject};
use crate::{Decision, Reason};

impl Rules {
    /// Takes out the rules about whole calls that rules about commands are an exception to.
    pub(super) fn drop_excepted_by_commands(
        &self,
        matched: &mut Vec<&Rule>,
        subject: &Subject<'_>,
        scripts: &[Script],
    ) {
        if scripts.is_empty() || !self.has_exceptions() {
            return;
        }
        let excepting = self.rules.iter().filter(|it| {
            !it.exceptions().is_empty()
                && it.is_about_commands()
                && scripts.iter().all(|script| script.is_certain() && script.fits(it, subject))
                && it.decision() == Decision::Allow
        });
        for other in excepting {
            matched.retain(|it| !is_excepted(it, other.exceptions()));
        }
    }

    /// The ids of rules that are not heard about any command of this call: a rule about the whole
    /// call is an exception to them.
    #[cfg(feature = "shell")]
    pub(super) fn excepted_by_calls(&self, subject: &Subject<'_>) -> Vec<&str> {
        if !self.has_exceptions() {
            return Vec::new();
        }
        let heard = self.rules.iter().filter(|it| {
            !it.exceptions().is_empty()
                && !it.is_about_commands()
                && it.effect_conditions().is_none()
                && it.applies(subject)
        });
        heard.flat_map(|it| it.exceptions().iter().map(String::as_str)).collect()
    }

    /// A rule that allows so many calls asks about the next: what it was about is not free
    /// otherwise.
    pub(super) fn ask_where_used_up(
        &self,
        subject: &Subject<'_>,
        scripts: &[Script],
        because: &mut Vec<Reason>,
    ) {
        if self.terms.counted.is_empty() {
            return;
        }
        let used = self.terms.counted.iter().map(|it| (it.id.clone(), 0)).collect();
        let unused = JudgeContext { used, ..subject.moment.clone() };
        let again = Subject { moment: &unused, ..*subject };
        let spent = self.rules.iter().filter(|it| {
            it.effect_conditions().is_none()
                && it.is_used_up(subject.moment, subject.root)
                && match it.is_about_commands() {
                    true => scripts.iter().any(|script| script.is_met_by(&again, it)),
                    false => it.applies(&again),
                }
        });
        because.extend(spent.map(|it| {
            let text = format!("the rule that allows it is good for {}", it.limit_in_words());
            Reason { decision: Decision::Ask, text: text.into(), ..it.reason() }
        }));
    }

    fn has_exceptions(&self) -> bool {
        self.rules.iter().any(|it| !it.exceptions().is_empty())
    }
}

/// True when a rule is one of these, by its id.
pub(super) fn is_excepted<S: AsRef<str>>(rule: &Rule, ids: &[S]) -> bool {
    rule.name().is_some_and(|id| ids.iter().any(|it| it.as_ref() == id))
}
