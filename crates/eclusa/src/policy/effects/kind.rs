//! What sort of thing a change is, worked out from the state before the call.
//!
//! What git ignores can be made again, what git has committed can be had back, and what git keeps
//! for itself is told in git's words; everything else is somebody's work. Judging looks at no disk:
//! what git knew of the paths comes in as [`RepositoryFacts`](crate::policy::RepositoryFacts).

use std::fmt;

/// What sort of thing a change is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EffectKind {
    /// A cache or a product of a build: git ignores it, so that it can be made again.
    Ephemeral,
    /// One of git's own files, beneath `.git`.
    Git(GitFile),
    /// A file that is made, changed or moved.
    Edit,
    /// A file that is deleted. `saved`: git has committed just what is deleted, or the session has
    /// made it itself.
    Delete {
        /// Whether nothing is lost that was somebody's.
        saved: bool,
    },
    /// Leads out of the workspace.
    Outside,
    /// A rule asks about it or denies it, by its path.
    Protected,
}

/// What one of git's own files is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GitFile {
    /// The index: what the next commit would have.
    Index,
    /// Commits, trees and contents that are added.
    Object,
    /// Which commit a name stands for: see [`RepositoryFacts::refs`](crate::policy::RepositoryFacts::refs).
    Ref,
    /// Logs, messages, and what git notes while it works.
    Note,
    /// A rebase or a sequence of picks that goes on.
    Sequence,
    /// A further working tree.
    Worktree,
    /// What belongs to another working tree of the repository: where that stands, and what is staged there.
    Foreign,
    /// The settings of the repository, of which only such change as start nothing.
    Settings,
    /// Anything else, and whatever is removed that git does not remove.
    Other,
}

impl EffectKind {
    /// The word for it in records.
    pub fn as_str(self) -> &'static str {
        match self {
            EffectKind::Ephemeral => "ephemeral",
            EffectKind::Git(_) => "git",
            EffectKind::Edit => "edit",
            EffectKind::Delete { .. } => "delete",
            EffectKind::Outside => "outside",
            EffectKind::Protected => "protected",
        }
    }
}

impl fmt::Display for EffectKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
