//! Globs that are put together when the first path is asked about: most short commands ask none.

use std::{
    path::Path,
    sync::{Arc, OnceLock},
};

use globset::{Error, Glob, GlobSet, GlobSetBuilder};

/// A set of globs. Where it cannot be put together, everything fits.
#[derive(Debug, Clone, Default)]
pub(super) struct LazyGlobs(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    globs: Vec<Glob>,
    /// `None` inside: it cannot be put together.
    set: OnceLock<Option<GlobSet>>,
}

impl LazyGlobs {
    pub(super) fn new(globs: Vec<Glob>) -> LazyGlobs {
        LazyGlobs(Arc::new(Inner { globs, set: OnceLock::new() }))
    }

    /// Says why these could not be put together, if so.
    pub(super) fn try_build(globs: &[Glob]) -> Result<GlobSet, Error> {
        let mut builder = GlobSetBuilder::new();
        for glob in globs {
            builder.add(glob.clone());
        }
        builder.build()
    }

    fn set(&self) -> Option<&GlobSet> {
        self.0.set.get_or_init(|| LazyGlobs::try_build(&self.0.globs).ok()).as_ref()
    }

    /// False when the set cannot be put together: then it must not be asked for an exception.
    pub(super) fn is_sound(&self) -> bool {
        self.set().is_some()
    }

    pub(super) fn is_match(&self, path: &Path) -> bool {
        self.set().is_none_or(|set| set.is_match(path))
    }

    /// The globs that fit, by their places.
    pub(super) fn matches(&self, path: &Path) -> Vec<usize> {
        match self.set() {
            Some(set) => set.matches(path),
            None => (0..self.0.globs.len()).collect(),
        }
    }
}
