//! How long a rule holds, and the moment of a call. Judging has no clock and counts nothing: what
//! it needs of the moment comes in with the call.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Arc, LazyLock},
    time::Duration,
};

use super::{ChangeTotals, ConditionError, Root, Rule};
use crate::{Decision, stop::HumanDuration};

/// Within which bounds a rule holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Validity {
    /// Until this time, in milliseconds since 1970.
    pub until: Option<u64>,
    /// For so many calls.
    pub times: Option<u64>,
    /// The calls of this last while count; without it, all calls ever.
    pub per: Option<Duration>,
    /// In this session.
    pub session: Option<String>,
    /// In this workspace.
    pub workspace: Option<PathBuf>,
}

/// When and in which session a call is judged, as far as rules ask. What is not said is not
/// known, and doubts go against the call.
#[derive(Debug, Clone, Default)]
pub struct JudgeContext {
    /// The time, in milliseconds since 1970.
    pub now: Option<u64>,
    /// The session.
    pub session: Option<Arc<str>>,
    /// How often the rules whose uses are counted let something pass, by their ids.
    pub used: BTreeMap<String, u64>,
    /// What was changed in the session since a person was last asked about changes.
    pub spent: Arc<ChangeTotals>,
    /// What brought text from outside into the session, if anything did.
    pub taint: Option<Arc<str>>,
}

/// What rules must be told of the moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContextNeeds {
    /// Whether any of them ends at a time.
    pub timed: bool,
    /// Those whose uses are counted.
    pub counted: Vec<CountedRule>,
}

/// A rule whose uses are counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountedRule {
    /// Its id, which its uses are counted by.
    pub id: String,
    /// How often it lets something pass.
    pub times: u64,
    /// In how long; without it, ever.
    pub per: Option<Duration>,
}

impl JudgeContext {
    /// A moment of which nothing is known.
    pub fn unknown() -> &'static JudgeContext {
        static UNKNOWN: LazyLock<JudgeContext> = LazyLock::new(JudgeContext::default);
        &UNKNOWN
    }
}

impl ContextNeeds {
    /// What these rules must be told.
    pub(super) fn new(rules: &[Rule]) -> ContextNeeds {
        let counted = rules.iter().filter_map(|rule| {
            let (id, times) = (rule.name()?.to_owned(), rule.validity().times?);
            Some(CountedRule { id, times, per: rule.validity().per })
        });
        let timed = rules.iter().any(|it| it.validity().until.is_some());
        ContextNeeds { timed, counted: counted.collect() }
    }

    /// Nothing.
    pub fn none() -> &'static ContextNeeds {
        static NONE: LazyLock<ContextNeeds> = LazyLock::new(ContextNeeds::default);
        &NONE
    }
}

impl Rule {
    /// The same rule within these bounds. Only a rule that allows can be used up, and it needs an
    /// id by which its uses are counted.
    pub fn bounded(self, validity: Validity) -> Result<Rule, ConditionError> {
        match validity.times {
            Some(_) if self.decision() != Decision::Allow => {
                Err(ConditionError::Bounds("only a rule that allows can be used up"))
            }
            Some(_) if self.name().is_none() => {
                Err(ConditionError::Bounds("`times` needs an `id`, by which uses are counted"))
            }
            Some(0) => Err(ConditionError::Bounds("`times` is at least 1")),
            None if validity.per.is_some() => Err(ConditionError::Bounds(
                "`per` says in how long, and needs a `times` that says how often",
            )),
            Some(_) | None => Ok(self.with_validity(validity)),
        }
    }

    /// True when its uses are all that keeps it from holding: it has none left, or nobody can tell.
    pub(super) fn is_used_up(&self, moment: &JudgeContext, root: &Root) -> bool {
        let unused = |id: &str| JudgeContext {
            used: [(id.to_owned(), 0)].into(),
            now: moment.now,
            session: moment.session.clone(),
            ..JudgeContext::default()
        };
        self.validity().times.is_some()
            && !self.is_in_force(moment, root)
            && self.name().is_some_and(|id| self.is_in_force(&unused(id), root))
    }

    /// How often it holds, in words.
    pub(super) fn limit_in_words(&self) -> String {
        let times = self.validity().times.unwrap_or_default();
        let calls = if times == 1 { "call" } else { "calls" };
        match self.validity().per {
            Some(per) => format!("{times} {calls} in {}", HumanDuration(per)),
            None => format!("{times} {calls}"),
        }
    }

    /// A moment at which it holds.
    pub(crate) fn context_in_force(&self) -> JudgeContext {
        let used = self.name().map(|it| (it.to_owned(), 0));
        let session = self.validity().session.as_deref().map(Arc::from);
        JudgeContext {
            now: Some(0),
            session,
            used: used.into_iter().collect(),
            ..JudgeContext::default()
        }
    }

    /// Whether it holds at this moment, in this workspace. Where that is not known, a rule that
    /// tightens does and one that allows does not.
    pub(super) fn is_in_force(&self, moment: &JudgeContext, root: &Root) -> bool {
        let term = self.validity();
        let doubt = self.decision() != Decision::Allow;
        let used =
            |times: u64| self.name().and_then(|it| moment.used.get(it)).map(|it| *it < times);
        term.until.is_none_or(|until| moment.now.map_or(doubt, |now| now < until))
            && term.times.is_none_or(|times| used(times).unwrap_or(doubt))
            && term
                .session
                .as_deref()
                .is_none_or(|wanted| moment.session.as_deref().map_or(doubt, |it| it == wanted))
            && term.workspace.as_deref().is_none_or(|it| root.is(it))
    }
}

impl Root {
    /// True when it is this directory, in words.
    fn is(&self, path: &Path) -> bool {
        let text = path.to_string_lossy();
        self.inside(&text).is_some_and(|it| it == ".")
    }
}
