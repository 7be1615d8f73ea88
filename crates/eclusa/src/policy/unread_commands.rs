//! Shell text where nobody reads it: the crate was built without the feature `shell`.
//!
//! It is asked about, whatever rules allow. Rules about commands that tighten apply in doubt.

use std::{borrow::Cow, path::Path};

use super::{Access, Allowed, BoundFile, ExplainedScript, Root, Rules, rule::Rule, rule::Subject};
use crate::{Decision, Hash, Reason, Source};

#[path = "commands/prefix.rs"]
mod prefix;

pub(crate) use prefix::Prefix;

/// Why nothing is known of it.
const UNREAD: &str =
    "shell text is not read here: the program was built without the feature `shell`";

/// How many shell texts this thread has read.
#[cfg(test)]
pub(crate) fn texts_read() -> usize {
    0
}

/// Where a text leaves the shell that runs it: nobody can say.
#[must_use]
pub fn left_in(_text: &str) -> Option<String> {
    None
}

/// Shell text that nobody has read.
#[derive(Debug, Clone)]
pub(crate) struct Script;

impl Script {
    pub(crate) fn read(_text: &str, _directory: Option<&str>) -> Script {
        Script
    }

    /// What no rule loosens.
    pub(super) fn floors(&self, because: &mut Vec<Reason>) {
        because.push(Reason {
            decision: Decision::Ask,
            source: Source::Floor,
            origin: "shell".into(),
            text: UNREAD.into(),
        });
    }

    pub(crate) fn paths(&self, _root: &Root, _paths: &mut Vec<(Access, Cow<'_, str>)>) {}

    /// No rule allows what nobody has read.
    pub(super) fn judge(
        &self,
        subject: &Subject<'_>,
        rules: &Rules,
        _all: Allowed,
        because: &mut Vec<Reason>,
    ) -> bool {
        let perhaps =
            rules.rules.iter().filter(|it| it.is_about_commands() && self.fits(it, subject));
        because.extend(perhaps.map(|rule| Reason {
            decision: rule.decision().min(Decision::Ask),
            text: format!("perhaps {}", &*rule.reason().text).into(),
            ..rule.reason()
        }));
        false
    }

    /// It may bring anything.
    pub(super) fn brings(&self, _root: &Root, _tried: bool) -> Option<&'static str> {
        Some("came from a command that could not be read")
    }

    pub(super) fn talks(&self) -> bool {
        true
    }

    pub(crate) fn fetches(&self) -> bool {
        false
    }

    pub(crate) fn exactly(&self) -> Option<Vec<String>> {
        None
    }

    /// In doubt, for a rule that tightens.
    pub(crate) fn fits(&self, rule: &Rule, subject: &Subject<'_>) -> bool {
        rule.decision() > Decision::Allow && rule.applies(subject)
    }

    /// Nobody knows which hosts it names.
    pub(in crate::policy) fn hosts(&self) -> impl Iterator<Item = String> {
        std::iter::empty()
    }

    pub(in crate::policy) fn may_run(&self, _rule: &Rule) -> bool {
        true
    }

    pub(in crate::policy) fn runs_only(&self, _rule: &Rule, _subject: &Subject<'_>) -> bool {
        false
    }

    // What it runs is not known, and a person was asked: what it changed is judged as it is.

    pub(crate) fn runs_any(&self, _programs: &[&str]) -> bool {
        false
    }

    pub(in crate::policy) fn installs_python(&self) -> bool {
        false
    }

    pub(in crate::policy) fn runs_git(&self) -> bool {
        false
    }

    pub(in crate::policy) fn runs_command(&self, _program: &str, _flags: &[&str]) -> bool {
        false
    }

    pub(in crate::policy) fn names_program(&self, _programs: &[&str]) -> bool {
        false
    }

    pub(in crate::policy) fn names_outside(&self, _program: &str, _root: &Root) -> bool {
        false
    }

    pub(crate) fn service(&self) -> Option<String> {
        None
    }

    pub(in crate::policy) fn is_certain(&self) -> bool {
        false
    }

    pub(crate) fn is_read_only(&self) -> bool {
        false
    }

    pub(in crate::policy) fn explain(
        &self,
        text: &str,
        _subject: &Subject<'_>,
        _rules: &Rules,
        _all: Allowed,
    ) -> ExplainedScript {
        ExplainedScript {
            text: text.to_owned(),
            commands: Vec::new(),
            doubts: vec![UNREAD.to_owned()],
            refused: None,
            fork_bomb: None,
        }
    }

    pub(in crate::policy) fn is_met_by(&self, subject: &Subject<'_>, rule: &Rule) -> bool {
        self.fits(rule, subject)
    }
}

/// Nobody can tell.
pub fn only_reads_files(_text: &str) -> bool {
    false
}

/// Nobody can tell which files a text names: a yes to it is bound to the text alone.
pub fn named_files(_root: &Path, _text: &str, _directory: Option<&str>) -> Option<Hash> {
    None
}

/// The same of texts that were read before.
pub(crate) fn named_by(_root: &Path, _scripts: &[Script]) -> Option<Hash> {
    None
}

/// The same with what was read.
pub(crate) fn read_named(_root: &Path, _scripts: &[Script]) -> (Option<Hash>, Vec<BoundFile>) {
    (None, Vec::new())
}
