//! What policy says of a call, and why.

use std::{borrow::Cow, fmt, sync::Arc};

use crate::{Requirement, words};

/// How strict an answer is. The strictest of all that apply wins.
///
/// ```
/// use eclusa::prelude::*;
///
/// assert_eq!(Decision::Allow.max(Decision::Ask), Decision::Ask);
/// assert_eq!("deny".parse(), Ok(Decision::Deny));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Decision {
    /// May run.
    Allow,
    /// Runs in the sandbox; its changes are judged before they are applied.
    Stage,
    /// A person must say yes first.
    Ask,
    /// May not run.
    Deny,
}

// From loose to strict.
words! {
    Decision, "a decision": Allow = "allow", Stage = "stage", Ask = "ask", Deny = "deny",
}

/// What made a reason.
///
/// ```
/// use eclusa::prelude::*;
///
/// let ask = |source| {
///     let (origin, text) = ("example".into(), "it is asked about".into());
///     Verdict::from_reasons(vec![Reason { decision: Decision::Ask, source, origin, text }])
/// };
/// // A mode answers for a default, and not for a rule that somebody wrote.
/// assert_eq!(Mode::AutoApprove.apply(ask(Source::Default)).decision, Decision::Allow);
/// assert_eq!(Mode::AutoApprove.apply(ask(Source::Rule)).decision, Decision::Ask);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// A rule that somebody wrote.
    Rule,
    /// A rule of whoever runs the machine: no mode answers for it.
    Administrator,
    /// What holds when no rule says anything.
    Default,
    /// What no rule can loosen.
    Floor,
    /// The mode of the run.
    Mode,
}

/// One of the things that led to a verdict.
///
/// ```
/// use eclusa::prelude::*;
///
/// let reason = Reason {
///     decision: Decision::Ask,
///     source: Source::Rule,
///     origin: "office".into(),
///     text: "the office is closed".into(),
/// };
/// assert_eq!(reason.to_string(), "the office is closed (office)");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// What it asked for.
    pub decision: Decision,
    /// What made it.
    pub source: Source,
    /// What it is known by: a rule, or something built in.
    pub origin: ReasonId,
    /// The sentence: lower case, no period.
    pub text: Text,
}

/// What a reason is known by. Decisions compare this and never a text: texts may be reworded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReasonId {
    /// A rule that somebody wrote.
    Rule {
        /// Its id, if it has one.
        id: Option<Arc<str>>,
        /// Where it is written: `file:line`.
        written_at: Text,
        /// Who must say yes, where it asks and says so.
        requires: Option<Arc<Requirement>>,
    },
    /// There is text from outside in the session.
    Taint,
    /// Something built in, by its short name.
    Named(Text),
}

impl ReasonId {
    /// For people and records: `file:line` for a rule, a short name otherwise.
    pub fn label(&self) -> &str {
        match self {
            ReasonId::Rule { written_at, .. } => written_at,
            ReasonId::Taint => "taint",
            ReasonId::Named(name) => name,
        }
    }

    /// The id of the rule that it stands for, if it stands for a rule that has one.
    pub fn rule_id(&self) -> Option<&str> {
        match self {
            ReasonId::Rule { id, .. } => id.as_deref(),
            ReasonId::Taint | ReasonId::Named(_) => None,
        }
    }
}

impl fmt::Display for ReasonId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.label())
    }
}

impl From<&'static str> for ReasonId {
    fn from(name: &'static str) -> ReasonId {
        ReasonId::Named(name.into())
    }
}

impl From<String> for ReasonId {
    fn from(name: String) -> ReasonId {
        ReasonId::Named(name.into())
    }
}

/// Text that is either built in or shared: reasons are made on every call, and copy nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Text {
    /// Built in.
    Static(&'static str),
    /// Written by somebody.
    Shared(Arc<str>),
}

impl std::ops::Deref for Text {
    type Target = str;
    fn deref(&self) -> &str {
        match self {
            Text::Static(text) => text,
            Text::Shared(text) => text,
        }
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

impl From<&'static str> for Text {
    fn from(text: &'static str) -> Text {
        Text::Static(text)
    }
}

impl From<String> for Text {
    fn from(text: String) -> Text {
        Text::Shared(text.into())
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.text, self.origin)
    }
}

/// A decision and what led to it.
///
/// ```
/// use eclusa::prelude::*;
///
/// let reason = |decision, text: &'static str| Reason {
///     decision,
///     source: Source::Rule,
///     origin: "example".into(),
///     text: text.into(),
/// };
/// let verdict = Verdict::from_reasons(vec![
///     reason(Decision::Allow, "it only reads"),
///     reason(Decision::Deny, "nobody may see it"),
/// ]);
/// assert_eq!(verdict.decision, Decision::Deny);
/// assert_eq!(verdict.why(), "nobody may see it (example)");
/// // Nothing said yes.
/// assert_eq!(Verdict::from_reasons(Vec::new()).decision, Decision::Deny);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// What was decided.
    pub decision: Decision,
    /// Everything that applied, strictest first.
    pub because: Vec<Reason>,
}

impl Verdict {
    /// The verdict that follows from these reasons: the strictest wins, and no reason at all is
    /// a refusal, because something must have said yes.
    pub fn from_reasons(mut because: Vec<Reason>) -> Verdict {
        because.sort_by_key(|reason| std::cmp::Reverse(reason.decision));
        let decision = because.first().map_or(Decision::Deny, |reason| reason.decision);
        Verdict { decision, because }
    }

    /// True when a rule of the administrator's asks.
    pub(crate) fn is_administrators(&self) -> bool {
        let mut asking = self.because.iter().filter(|it| it.decision == Decision::Ask);
        asking.any(|it| it.source == Source::Administrator)
    }

    /// What the rules that ask require of the answers. All of it must be met.
    pub fn requirements(&self) -> impl Iterator<Item = &Requirement> {
        let asking = self.because.iter().filter(|it| it.decision == Decision::Ask);
        asking.filter_map(|it| match &it.origin {
            ReasonId::Rule { requires, .. } => requires.as_deref(),
            ReasonId::Taint | ReasonId::Named(_) => None,
        })
    }

    /// The reasons that carry the decision, as one sentence.
    pub fn why(&self) -> Cow<'static, str> {
        let deciding: Vec<String> = self
            .because
            .iter()
            .filter(|reason| reason.decision == self.decision)
            .map(Reason::to_string)
            .collect();
        match deciding.is_empty() {
            true => "nothing allows it".into(),
            false => deciding.join("; ").into(),
        }
    }

    /// What would become of this call.
    pub(crate) fn foretold(&self, would: &str) -> String {
        let what = match self.decision {
            Decision::Allow => "would run",
            Decision::Stage => "would run with its changes staged",
            Decision::Ask => "would ask a person first",
            Decision::Deny => "would be denied",
        };
        format!("{would} {what}{}", self.explained())
    }

    /// `, because …`
    pub(crate) fn explained(&self) -> String {
        format!(", because {}", self.why())
    }
}
