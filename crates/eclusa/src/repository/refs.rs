//! Which names stand for other commits, loose or packed.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use eclusa_git::{packed_refs, read_small, split_git_path};

use super::RefChange;
use crate::{Change, Changes, Contents, Node, Side, workspace::Places};

/// The largest file of packed names that is read, and the largest of a single one.
const MAX_PACKED: u64 = 16 << 20;
const MAX_LOOSE: u64 = 4096;

/// The names that change, of all repositories in the workspace.
pub(super) fn changed(
    places: &Places,
    changes: &Changes,
    contents: &dyn Contents,
) -> Vec<RefChange> {
    let mut repositories = BTreeMap::<PathBuf, Vec<(&Change, String)>>::new();
    for change in changes {
        let Some((git, name)) = split_git_path(&change.path) else { continue };
        if name.starts_with("refs/") || name == "packed-refs" {
            repositories.entry(git).or_default().push((change, name));
        }
    }
    let changed = repositories.into_iter().flat_map(|(git, changes)| {
        let packed_change = changes.iter().find(|it| it.1 == "packed-refs").map(|it| it.0);
        let side = |side| match packed_change {
            Some(change) => text(change, side, contents, MAX_PACKED),
            None => {
                let now = read_small(&places.at(&git.join("packed-refs")), MAX_PACKED);
                now.map(|it| String::from_utf8_lossy(&it).into_owned())
            }
        };
        let packed = |it| packed_refs(&side(it).unwrap_or_default());
        let (before, after) = (packed(Side::Before), packed(Side::After));
        let loose: BTreeMap<&str, &Change> =
            changes.iter().filter(|it| it.1 != "packed-refs").map(|it| (&*it.1, it.0)).collect();
        let names: BTreeSet<&str> = match packed_change {
            Some(_) => before.keys().chain(after.keys()).map(String::as_str).collect(),
            None => BTreeSet::new(),
        };
        let names: BTreeSet<&str> = names.into_iter().chain(loose.keys().copied()).collect();
        let of_name = |name: &str| {
            let value = |side, packed: &BTreeMap<String, String>| {
                let own = match loose.get(name) {
                    Some(change) => text(change, side, contents, MAX_LOOSE),
                    None => {
                        let now = read_small(&places.at(&git.join(name)), MAX_LOOSE);
                        now.map(|it| String::from_utf8_lossy(&it).into_owned())
                    }
                };
                own.map(|it| it.trim().to_owned()).or_else(|| packed.get(name).cloned())
            };
            let (before, after) = (value(Side::Before, &before), value(Side::After, &after));
            (before != after).then(|| RefChange { name: name.to_owned(), before, after })
        };
        let changed: Vec<RefChange> = names.into_iter().filter_map(of_name).collect();
        changed
    });
    changed.collect()
}

/// True when a rebase is left behind that would run commands when it goes on.
pub(super) fn plans_commands(changes: &Changes, contents: &dyn Contents) -> bool {
    changes.iter().any(|change| {
        let is_plan = change.path.ends_with("rebase-merge/git-rebase-todo")
            || change.path.ends_with("rebase-merge/git-rebase-todo.backup");
        let runs = |it: &str| {
            let word = it.split_whitespace().next().unwrap_or_default();
            matches!(word, "exec" | "x")
        };
        is_plan
            && change.after.is_some()
            && text(change, Side::After, contents, MAX_PACKED).is_none_or(|it| it.lines().any(runs))
    })
}

/// True when a further working tree is made that is not in the workspace.
pub(super) fn makes_tree_outside(root: &Path, changes: &Changes, contents: &dyn Contents) -> bool {
    changes.iter().any(|change| {
        let is_new = change.before.is_none() && change.after.is_some();
        let above = change.path.parent().and_then(Path::parent);
        let tree = change.path.ends_with("gitdir")
            && above.is_some_and(|it| it.ends_with(".git/worktrees"));
        let inside = || {
            let text = text(change, Side::After, contents, MAX_LOOSE);
            text.is_some_and(|it| Path::new(it.trim()).starts_with(root))
        };
        is_new && tree && !inside()
    })
}

fn text(change: &Change, side: Side, contents: &dyn Contents, most: u64) -> Option<String> {
    let node = match side {
        Side::Before => &change.before,
        Side::After => &change.after,
    };
    let file = node.as_ref().and_then(Node::file).filter(|it| it.size <= most)?;
    let content = match file.bytes() {
        Some(bytes) => bytes.to_vec(),
        None => contents.content(change, side).ok()?.into_owned(),
    };
    Some(String::from_utf8_lossy(&content).into_owned())
}
