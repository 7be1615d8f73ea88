//! What stands in the way of a commit: a path, and what has become of it.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use super::stat::Kind;

/// A path that is not as the changes expect it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// Which, relative to the workspace.
    pub path: PathBuf,
    /// What has become of it.
    pub clash: Clash,
}

/// What has become of a path since changes to it were prepared.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Clash {
    /// It has another content.
    Altered,
    /// It has other permissions, in octal.
    Mode {
        /// Those it should have.
        expected: u32,
        /// Those it has.
        found: u32,
    },
    /// It is no longer there.
    Deleted,
    /// Something is there, where nothing should be.
    Appeared,
    /// Something of another kind is there.
    Replaced {
        /// What it is now: `a file`, `a directory`, `a link` or `neither file nor directory`.
        by: &'static str,
    },
    /// The directory that it is in is not there, or is reached through a link.
    NoDirectory,
    /// The directory should go, and something is in it that should stay.
    NotEmpty {
        /// One thing that is in it.
        holds: PathBuf,
    },
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {}", display(&self.path), self.clash)
    }
}

impl fmt::Display for Clash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Clash::Altered => f.write_str("was altered"),
            Clash::Mode { expected, found } => {
                write!(f, "has mode {found:o} instead of {expected:o}")
            }
            Clash::Deleted => f.write_str("was deleted"),
            Clash::Appeared => f.write_str("is there already"),
            Clash::Replaced { by } => write!(f, "is now {by}"),
            Clash::NoDirectory => {
                f.write_str("is in a directory that is missing or reached through a link")
            }
            Clash::NotEmpty { holds } => write!(f, "still holds `{}`", display(holds)),
        }
    }
}

impl Kind {
    /// With its article.
    pub(crate) fn article(self) -> &'static str {
        match self {
            Kind::File => "a file",
            Kind::Directory => "a directory",
            Kind::Link => "a link",
            Kind::Other => "neither file nor directory",
        }
    }
}

/// Several conflicts in one sentence, cut where nobody would read on.
pub(crate) fn list<T: fmt::Display>(all: &[T]) -> String {
    const SHOWN: usize = 20;
    let shown: Vec<String> = all.iter().take(SHOWN).map(ToString::to_string).collect();
    let mut text = shown.join(", ");
    if all.len() > SHOWN {
        text.push_str(&format!(" and {} more", all.len() - SHOWN));
    }
    text
}

/// A path as it stands in a sentence: no name makes lines of its own or drives a terminal.
pub(crate) fn display(path: &Path) -> String {
    crate::one_line(&path.to_string_lossy())
}

/// Several paths in one sentence.
pub(crate) fn quoted(paths: &[PathBuf]) -> String {
    let quoted: Vec<String> = paths.iter().map(|it| format!("`{}`", display(it))).collect();
    list(&quoted)
}
