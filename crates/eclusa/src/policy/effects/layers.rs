//! A set of paths that only grows, and of which a copy costs next to nothing: every call of a
//! session holds one of what was changed before it.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::Arc,
};

/// The paths in layers, each longer than the one after it. INVARIANT: no path is in two of them.
#[derive(Debug, Clone, Default)]
pub(super) struct Layers(Vec<Arc<BTreeSet<PathBuf>>>);

impl Layers {
    pub(super) fn has(&self, path: &Path) -> bool {
        self.0.iter().any(|it| it.contains(path))
    }

    pub(super) fn len(&self) -> usize {
        self.0.iter().map(|it| it.len()).sum()
    }

    /// Adds paths. A layer is copied only into one that is at least twice as long, so that each
    /// path is copied a few times at the most, however many there are.
    pub(super) fn add<'a>(&mut self, paths: impl Iterator<Item = &'a Path>) {
        let new = paths.filter(|it| !self.has(it)).map(Path::to_owned);
        let mut new: BTreeSet<PathBuf> = new.collect();
        while let Some(short) = self.0.pop_if(|it| it.len() <= new.len()) {
            new.extend(Arc::unwrap_or_clone(short));
        }
        if !new.is_empty() {
            self.0.push(Arc::new(new));
        }
    }

    /// All of them, in no order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Path> {
        self.0.iter().flat_map(|it| it.iter()).map(PathBuf::as_path)
    }

    fn sorted(&self) -> BTreeSet<&Path> {
        self.iter().collect()
    }
}

impl PartialEq for Layers {
    fn eq(&self, other: &Layers) -> bool {
        self.sorted() == other.sorted()
    }
}

impl Eq for Layers {}

#[cfg(test)]
mod tests;
