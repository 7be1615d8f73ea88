//! Which paths a rule is about: globs, blocked files, or all.

use std::{path::Path, sync::Arc};

use crate::{Blocked, policy::paths::Globs};

/// Which paths a rule is about.
#[derive(Debug)]
pub(crate) enum Paths {
    /// Those that fit.
    Globs(Globs),
    /// Those that nobody may see.
    Blocked {
        /// All of them.
        all: Box<Blocked>,
        /// Those of them that a person has named, and that are blocked whatever is in them.
        own: Box<Blocked>,
    },
    /// All.
    All,
}

impl Paths {
    /// True when it is about this path, which is relative to the workspace. Of what is `changed`
    /// the content is known, so names that only content can acquit count too.
    pub(crate) fn fit(&self, path: &Path, changed: bool) -> bool {
        match self {
            Paths::Globs(globs) => globs.fit(path),
            Paths::Blocked { all, .. } => blocked_by(all, path, changed).is_some(),
            Paths::All => true,
        }
    }

    /// True when it may be about something beneath a directory.
    pub(crate) fn may_fit_below(&self, directory: &Path) -> bool {
        match self {
            Paths::Globs(globs) => globs.may_fit_below(directory),
            Paths::Blocked { .. } | Paths::All => true,
        }
    }

    /// True when it may make an exception beneath a directory.
    pub(crate) fn may_except_below(&self, directory: &Path) -> bool {
        match self {
            Paths::Globs(globs) => globs.may_except_below(directory),
            Paths::Blocked { .. } => true,
            Paths::All => false,
        }
    }

    /// The pattern by which it is about this path, if it has one.
    pub(super) fn pattern(&self, path: &Path, changed: bool) -> Option<String> {
        match self {
            Paths::Globs(globs) => globs.pattern(path),
            Paths::Blocked { all, .. } => blocked_by(all, path, changed).map(str::to_owned),
            Paths::All => None,
        }
    }

    pub(super) fn blocked(blocked: &Blocked) -> Arc<Paths> {
        Arc::new(Paths::Blocked { all: Box::new(blocked.clone()), own: Box::new(blocked.own()) })
    }
}

pub(super) fn blocked_by<'a>(all: &'a Blocked, path: &Path, changed: bool) -> Option<&'a str> {
    all.by(path).or_else(|| all.by_content(path).filter(|_| changed))
}
