//! Some of the changes: those that a person picked, and what they cannot be without.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use super::{Change, Changes, Node};

impl Changes {
    /// The paths that can be applied or left out one by one. A thing that was moved is at its new
    /// path; a directory that comes or goes belongs to what is in it. Empty where something takes
    /// the place of a thing of another kind: then only all of it makes sense.
    pub fn choices(&self) -> Vec<&Path> {
        let replaced = |it: &Change| match (&it.before, &it.after) {
            (Some(before), Some(after)) => !before.same_kind(after),
            _ => false,
        };
        if self.iter().any(replaced) {
            return Vec::new();
        }
        let left = self.left();
        let is_choice = |it: &&Change| {
            let around =
                is_directory_that_comes_or_goes(it) && self.beneath(&it.path).next().is_some();
            !around && !left.contains(it.path.as_path())
        };
        self.iter().filter(is_choice).map(|it| it.path.as_path()).collect()
    }

    /// The changes of these paths alone, with the directories that they need and the places that
    /// they were moved from. A directory goes only if everything in it does.
    pub fn only(&self, picked: &BTreeSet<PathBuf>) -> Changes {
        let mut kept: BTreeSet<&Path> = BTreeSet::new();
        for change in self.iter().filter(|it| picked.contains(&it.path)) {
            kept.insert(&change.path);
            kept.extend(self.source(change).map(|it| it.path.as_path()));
        }
        let made = |it: &&Change| it.before.is_none() && is_directory_that_comes_or_goes(it);
        let needed: Vec<&Path> = self
            .iter()
            .filter(made)
            .filter(|it| self.beneath(&it.path).any(|it| kept.contains(it.path.as_path())))
            .map(|it| it.path.as_path())
            .collect();
        kept.extend(needed);
        // The deepest first: a directory is empty when those in it are gone.
        for gone in self.iter().rev().filter(|it| it.after.is_none()) {
            let is_around = is_directory_that_comes_or_goes(gone);
            let mut inside = self.beneath(&gone.path).peekable();
            if is_around && inside.peek().is_some() {
                match inside.all(|it| kept.contains(it.path.as_path())) {
                    true => kept.insert(&gone.path),
                    false => kept.remove(gone.path.as_path()),
                };
            }
        }
        let kept = self.iter().filter(|it| kept.contains(it.path.as_path()));
        Changes(kept.cloned().collect())
    }

    /// The changes of what is in a directory.
    fn beneath<'a>(&'a self, directory: &'a Path) -> impl Iterator<Item = &'a Change> {
        let from = self.0.partition_point(|it| it.path.as_path() <= directory);
        let after = self.0.get(from..).unwrap_or_default();
        after.iter().take_while(move |it| it.path.starts_with(directory))
    }
}

fn is_directory_that_comes_or_goes(change: &Change) -> bool {
    matches!(
        (&change.before, &change.after),
        (None, Some(Node::Directory { .. })) | (Some(Node::Directory { .. }), None)
    )
}
