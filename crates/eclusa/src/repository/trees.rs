//! Further working trees that stand inside the workspace: what git keeps of them belongs to it like its own.

use std::{
    collections::BTreeSet,
    path::{Component, Path},
};

use eclusa_git::{git_directory, read_small};

use crate::Changes;

/// The longest file that says where something stands.
const MAX_LINK: u64 = 4096;

/// The names, beneath `.git/worktrees`, of the working trees inside the workspace of whose files some change. Each
/// says where it stands, and what stands there says that it is this one.
pub(super) fn inside(root: &Path, changes: &Changes) -> Vec<String> {
    let names: BTreeSet<String> = changes.iter().filter_map(|it| name_in(&it.path)).collect();
    names.into_iter().filter(|it| stands_inside(root, it)).collect()
}

/// The name of the working tree that a file of git belongs to.
fn name_in(path: &Path) -> Option<String> {
    let mut parts = path.strip_prefix(".git/worktrees").ok()?.components();
    match (parts.next()?, parts.next()) {
        (Component::Normal(name), Some(_)) => name.to_str().map(str::to_owned),
        _ => None,
    }
}

fn stands_inside(root: &Path, name: &str) -> bool {
    let kept = root.join(".git/worktrees").join(name);
    let Some(said) = line(&kept.join("gitdir")) else { return false };
    let Some(stands) = kept.join(said).parent().and_then(|it| it.canonicalize().ok()) else {
        return false;
    };
    let (Ok(root), Ok(kept)) = (root.canonicalize(), kept.canonicalize()) else { return false };
    let back = git_directory(&stands).and_then(|it| it.canonicalize().ok());
    stands.starts_with(&root) && stands != root && back == Some(kept)
}

/// What a short file says.
fn line(path: &Path) -> Option<String> {
    let text = String::from_utf8(read_small(path, MAX_LINK)?).ok()?;
    Some(text.trim_end_matches('\n').to_owned())
}
