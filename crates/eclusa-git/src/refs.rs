//! Names that stand for commits.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// The names in a file `packed-refs`, and what each stands for: a name behind each id, comments, and
/// what tags stand for.
#[must_use]
pub fn packed_refs(text: &str) -> BTreeMap<String, String> {
    let lines = text.lines().filter(|it| !it.starts_with(['#', '^']));
    let names = lines.filter_map(|it| it.split_once(' '));
    names.map(|(id, name)| (name.to_owned(), id.to_owned())).collect()
}

/// The directory `.git` that a path lies in, and the rest of the path.
#[must_use]
pub fn split_git_path(path: &Path) -> Option<(PathBuf, String)> {
    let mut parts = path.components();
    let mut git = PathBuf::new();
    for part in parts.by_ref() {
        git.push(part);
        if part.as_os_str() == ".git" {
            return Some((git, parts.as_path().to_str()?.to_owned()));
        }
    }
    None
}
