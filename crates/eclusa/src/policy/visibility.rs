//! What a call that is running may come upon: paths that it was not asked about by name, and hosts
//! that it was sent on to.

use std::{fmt, path::Path, sync::Arc};

use super::{
    Access, Rule, Rules, Subject, class_default, domains, floors, host_access::run_touches,
    rule::Paths, taint,
};
use crate::{CallView, Decision, Files, Reason, Source, Touch, Verdict};

/// The paths that a call may not look at although they lie beneath what it was permitted: rules
/// deny them, or want a person asked first.
///
/// It is made once for a call and then asked about every path that a search comes upon, from any
/// thread. A clone is the same.
#[derive(Clone, Default)]
pub struct HiddenPaths {
    rules: Arc<[HidingRule]>,
    from: Option<Decision>,
    all: bool,
}

/// A rule that hides paths.
#[derive(Clone)]
struct HidingRule {
    decision: Decision,
    paths: Arc<Paths>,
    /// Paths that other rules make an exception for.
    unless: Vec<Arc<Paths>>,
    reason: Reason,
    /// Whether it came with the program.
    shipped: bool,
}

impl HidingRule {
    fn hides(&self, path: &Path) -> bool {
        self.paths.fit(path, false) && !self.unless.iter().any(|it| it.fit(path, false))
    }

    /// True when something that lies beneath a directory may be shown although the directory is
    /// hidden.
    fn may_show_below(&self, directory: &Path) -> bool {
        self.paths.may_except_below(directory)
            || self.unless.iter().any(|it| it.may_fit_below(directory))
    }

    fn same_as(&self, other: &HidingRule) -> bool {
        let same = |one: &Arc<Paths>, other: &Arc<Paths>| {
            Arc::ptr_eq(one, other) || matches!((&**one, &**other), (Paths::All, Paths::All))
        };
        same(&self.paths, &other.paths)
            && self.unless.len() == other.unless.len()
            && self.unless.iter().zip(&other.unless).all(|(one, other)| same(one, other))
    }
}

impl HiddenPaths {
    /// Nothing is hidden.
    pub fn nothing() -> HiddenPaths {
        HiddenPaths::default()
    }

    /// Everything is hidden: what holds where nobody could tell.
    pub fn everything() -> HiddenPaths {
        HiddenPaths { all: true, ..HiddenPaths::default() }
    }

    /// The same, where only rules that are at least so strict hide anything.
    #[must_use]
    pub fn from(self, decision: Decision) -> HiddenPaths {
        HiddenPaths { from: Some(decision), ..self }
    }

    /// True when the call may not look at this path, which is relative to the workspace.
    pub fn hides(&self, path: &Path) -> bool {
        self.all || self.counting().any(|it| it.hides(path))
    }

    /// The rules that count.
    fn counting(&self) -> impl Iterator<Item = &HidingRule> {
        let from = self.from;
        self.rules.iter().filter(move |it| from.is_none_or(|from| it.decision >= from))
    }

    /// True when the call may not look at a directory as a whole: no exception shows anything in it.
    pub fn hides_all_of(&self, directory: &Path) -> bool {
        let hides = |it: &HidingRule| it.hides(directory) && !it.may_show_below(directory);
        self.all || self.counting().any(hides)
    }

    /// True when the call may be barred from something beneath a directory.
    pub fn may_hide_below(&self, directory: &Path) -> bool {
        self.all || self.counting().any(|it| it.paths.may_fit_below(directory))
    }

    /// Why a path is hidden, if a rule hides it.
    pub fn why(&self, path: &Path) -> Option<String> {
        self.counting().find(|it| it.hides(path)).map(|it| it.reason.to_string())
    }

    /// Why it hides what it hides, once for each rule that a person wrote.
    pub(super) fn written_reasons(&self) -> Vec<String> {
        let written = self.counting().filter(|it| !it.shipped);
        written.map(|it| it.reason.to_string()).collect()
    }

    /// True when it hides the same, by the same rules.
    pub fn same_as(&self, other: &HiddenPaths) -> bool {
        let (mut own, mut others) = (self.counting(), other.counting());
        self.all == other.all
            && loop {
                match (own.next(), others.next()) {
                    (None, None) => break true,
                    (Some(one), Some(other)) if one.same_as(other) => {}
                    _ => break false,
                }
            }
    }

    /// The same, for whoever leaves out the blocked files of this workspace anyway: a rule that is
    /// about the very same files need not be asked again about every name.
    #[must_use]
    pub fn beside(self, files: &Files) -> HiddenPaths {
        let new = |it: &&HidingRule| match &*it.paths {
            Paths::Blocked { all, .. } => !files.blocked().same_as(all),
            Paths::Globs(_) | Paths::All => true,
        };
        let rules = self.rules.iter().filter(new).cloned().collect();
        HiddenPaths { rules, ..self }
    }

    /// True when it hides nothing, whatever is asked.
    pub fn is_nothing(&self) -> bool {
        !self.all && self.counting().next().is_none()
    }
}

impl fmt::Debug for HiddenPaths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HiddenPaths")
            .field("rules", &self.rules.len())
            .field("all", &self.all)
            .finish()
    }
}

impl Rules {
    /// What this call may not come upon.
    ///
    /// A rule that asks and applies to the call as it was written hides nothing: whoever permitted
    /// the call was told of it.
    pub(super) fn hidden_from(&self, call: &CallView<'_>) -> HiddenPaths {
        let paths = floors(call, &self.root, &mut Vec::new());
        let asked = self.subject(call, call.touches(), &paths);
        let runs = run_touches(call);
        let found = self.subject(call, &runs, &[]);
        let hides = |rule: &&Rule| {
            rule.decision() >= Decision::Ask
                && rule.is_about_reading()
                && rule.effect_conditions().is_none()
                && !rule.is_about_commands()
                && rule.concerns(&found)
                && (rule.decision() == Decision::Deny || !rule.applies(&asked))
        };
        let mut rules: Vec<&Rule> = self.rules.iter().filter(hides).collect();
        self.drop_excepted_by_commands(&mut rules, &asked, call.scripts());
        let rules = rules.into_iter().filter_map(|rule| self.hiding(rule, &found));
        HiddenPaths { rules: rules.collect(), ..HiddenPaths::default() }
    }

    /// What a rule hides, without what others except; nothing where one excepts all of it.
    fn hiding(&self, rule: &Rule, found: &Subject<'_>) -> Option<HidingRule> {
        let mut unless = Vec::new();
        for other in self.excepting(rule, found) {
            match other.paths() {
                Some(paths) => unless.push(paths),
                None if other.hosts().is_some() || other.is_about_paths() => {}
                None => return None,
            }
        }
        let paths = rule.paths().unwrap_or_else(all_paths);
        let (decision, reason, shipped) = (rule.decision(), rule.reason(), rule.is_shipped());
        Some(HidingRule { decision, paths, unless, reason, shipped })
    }

    /// What is said of this call, were it to talk to this host.
    pub(super) fn judge_host(&self, call: &CallView<'_>, host: &str) -> Verdict {
        let touches = [Touch::Fetch(host.to_owned())];
        let subject = self.subject(call, &touches, &[]);
        let matched = self.matching_rules(&subject, |rule| {
            // What the arguments say is of the host that was asked for, and not of this one.
            rule.decision() != Decision::Allow || !rule.looks_at_arguments()
        });
        let mut because: Vec<Reason> = matched.iter().map(|it| it.reason()).collect();
        because.extend(domains::refused(host));
        if let Some(from) = &call.context().taint
            && !matched.iter().any(|it| it.decision() == Decision::Allow && it.holds_tainted())
        {
            because.push(taint::question(from, "it could carry data out", Source::Rule));
        }
        if !because.iter().any(|it| it.decision == Decision::Allow) {
            let (decision, text) = class_default(call);
            let (source, origin) = (Source::Default, "defaults".into());
            because.push(Reason { decision, source, origin, text: text.into() });
        }
        Verdict::from_reasons(because)
    }

    pub(super) fn subject<'a>(
        &'a self,
        call: &CallView<'a>,
        touches: &'a [Touch],
        paths: &'a [(Access, std::borrow::Cow<'a, str>)],
    ) -> Subject<'a> {
        Subject {
            author: (*call).into(),
            touches,
            paths,
            root: &self.root,
            moment: call.context(),
            changed: false,
        }
    }
}

/// A rule without globs is about every path.
fn all_paths() -> Arc<Paths> {
    Arc::new(Paths::All)
}
