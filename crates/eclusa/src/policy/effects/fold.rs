//! Changes as a person wants to see them: what can be made again and what git notes for itself in a
//! line each, and everything else in full.

use std::{collections::BTreeMap, fmt, path::PathBuf};

use super::{EffectKind, EffectKinds, GitAction, GitFile, RepositoryFacts};
use crate::Changes;

/// Changes, partly in a line each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoldedChanges {
    /// What is told in a line each, in the order in which it is shown.
    pub groups: Vec<EffectGroup>,
    /// What is shown in full.
    pub rest: Changes,
}

/// Several changes that are told in one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EffectGroup {
    /// Something that git did: a commit, a branch, a tag.
    Git(GitAction),
    /// The index of git changed, and nothing else of it.
    GitIndex,
    /// What git ignores, in this directory or at this path.
    Ephemeral {
        /// The directory, or the file.
        path: PathBuf,
        /// How many paths change in it.
        count: usize,
    },
}

impl FoldedChanges {
    /// Folds changes of these kinds.
    pub fn new(changes: &Changes, kinds: &EffectKinds, facts: &RepositoryFacts) -> FoldedChanges {
        let mut ephemeral = BTreeMap::<PathBuf, usize>::new();
        let mut index = false;
        let mut rest = Vec::new();
        for (number, (change, kind)) in changes.iter().zip(kinds.iter()).enumerate() {
            match kind {
                EffectKind::Ephemeral => {
                    let depth = facts.path(number).ephemeral.unwrap_or(1);
                    let path = change.path.components().take(depth).collect();
                    *ephemeral.entry(path).or_default() += 1;
                }
                EffectKind::Git(GitFile::Index) => index = true,
                EffectKind::Git(GitFile::Object | GitFile::Ref | GitFile::Note) => {}
                EffectKind::Git(
                    GitFile::Sequence
                    | GitFile::Worktree
                    | GitFile::Foreign
                    | GitFile::Settings
                    | GitFile::Other,
                )
                | EffectKind::Edit
                | EffectKind::Delete { .. }
                | EffectKind::Outside
                | EffectKind::Protected => rest.push(change.clone()),
            }
        }
        let actions = facts.actions();
        let index = (index && actions.is_empty()).then_some(EffectGroup::GitIndex);
        let ephemeral =
            ephemeral.into_iter().map(|(path, count)| EffectGroup::Ephemeral { path, count });
        let groups = actions.into_iter().map(EffectGroup::Git).chain(index).chain(ephemeral);
        FoldedChanges { groups: groups.collect(), rest: Changes::of(rest) }
    }
}

impl EffectGroup {
    /// What records say of it: the line, and the path that it is about where it is about one.
    pub fn as_note(&self) -> (String, Option<String>) {
        let path = match self {
            EffectGroup::Git(_) | EffectGroup::GitIndex => None,
            EffectGroup::Ephemeral { path, .. } => Some(path.to_string_lossy().into_owned()),
        };
        (self.to_string(), path)
    }
}

impl fmt::Display for EffectGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EffectGroup::Git(action) => action.fmt(f),
            EffectGroup::GitIndex => f.write_str("the index of git"),
            EffectGroup::Ephemeral { path, count: 1 } => {
                write!(f, "{} (ignored by git)", path.display())
            }
            EffectGroup::Ephemeral { path, count } => {
                write!(f, "{}/: {count} paths (ignored by git)", path.display())
            }
        }
    }
}
