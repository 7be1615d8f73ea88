//! Conditions on what a call changed: how much, and where.

use std::path::Path;

use super::{ConditionError, paths::Globs};
use crate::Decision;

/// Conditions on what a call changed, all of which must hold.
#[derive(Debug, Default)]
pub struct EffectConditions {
    /// How many things are deleted.
    pub deleted: Option<Amount>,
    /// How many files change; one that is moved counts once.
    pub files: Option<Amount>,
    /// How many lines come and go.
    pub lines: Option<Amount>,
    /// How many bytes are in the files that are written.
    pub bytes: Option<Amount>,
    /// Whether the call talks to other machines.
    pub network: Option<bool>,
    outside: Option<Globs>,
    only: Option<Globs>,
}

/// A number, compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amount {
    /// More than this.
    Above(u64),
    /// At most this.
    UpTo(u64),
}

impl Amount {
    /// Whether a count fits. One that nobody could count is a doubt.
    fn holds(self, count: Option<u64>, doubt: bool) -> bool {
        match (self, count) {
            (_, None) => doubt,
            (Amount::Above(least), Some(count)) => count > least,
            (Amount::UpTo(most), Some(count)) => count <= most,
        }
    }
}

/// What a call changed, counted.
#[derive(Debug)]
pub(super) struct EffectCounts<'a> {
    pub(super) deleted: u64,
    pub(super) files: u64,
    pub(super) lines: Option<u64>,
    pub(super) bytes: u64,
    pub(super) network: bool,
    pub(super) paths: Vec<&'a Path>,
}

impl EffectConditions {
    /// Something that changes fits none of these globs. For a rule that decides so: doubts about
    /// what a glob means go against the call.
    pub fn outside<S: AsRef<str>>(
        self,
        globs: impl IntoIterator<Item = S>,
        decision: Decision,
    ) -> Result<EffectConditions, ConditionError> {
        let globs = Globs::new(globs, decision == Decision::Allow)?;
        Ok(EffectConditions { outside: Some(globs), ..self })
    }

    /// Everything that changes fits one of these globs. For a rule that decides so.
    pub fn only<S: AsRef<str>>(
        self,
        globs: impl IntoIterator<Item = S>,
        decision: Decision,
    ) -> Result<EffectConditions, ConditionError> {
        let globs = Globs::new(globs, decision != Decision::Allow)?;
        Ok(EffectConditions { only: Some(globs), ..self })
    }

    /// True when it says nothing.
    pub fn is_empty(&self) -> bool {
        self.deleted.is_none()
            && self.files.is_none()
            && self.lines.is_none()
            && self.bytes.is_none()
            && self.network.is_none()
            && self.outside.is_none()
            && self.only.is_none()
    }

    /// True when lines must be counted for it.
    pub(super) fn counts_lines(&self) -> bool {
        self.lines.is_some()
    }

    /// Whether they all hold; `doubt` says what becomes of what nobody can count.
    pub(super) fn hold(&self, of: &EffectCounts<'_>, doubt: bool) -> bool {
        let amount = |test: Option<Amount>, count| test.is_none_or(|it| it.holds(count, doubt));
        amount(self.deleted, Some(of.deleted))
            && amount(self.files, Some(of.files))
            && amount(self.lines, of.lines)
            && amount(self.bytes, Some(of.bytes))
            && self.network.is_none_or(|it| it == of.network)
            && self.outside.as_ref().is_none_or(|it| of.paths.iter().any(|path| !it.fit(path)))
            && self.only.as_ref().is_none_or(|it| of.paths.iter().all(|path| it.fit(path)))
    }
}
