//! What was edited by hand since a call: why an undo refuses a file or leaves it, as a diff.

use std::path::PathBuf;

use eclusa::workspace::{
    Bounds, Change, ChangedBy, Changes, Content, Diff, FileNode, Node, UndoError, Workspace,
};

/// The most lines that are shown.
const MAX_LINES: usize = 40;

/// The files that somebody changed besides us.
pub(super) fn edited_by_hand(err: &UndoError) -> Vec<PathBuf> {
    let UndoError::Conflicts(all) = err else { return Vec::new() };
    let outside = all.iter().filter(|it| it.by == ChangedBy::Outside);
    outside.map(|it| it.conflict.path.clone()).collect()
}

/// What somebody made of these files since these calls, as a diff: the reason why they stay.
pub(super) fn edits_since(workspace: &Workspace, calls: &[u64], paths: &[PathBuf]) -> String {
    let left = |path: &PathBuf| calls.iter().find_map(|it| left_by(workspace, *it, path));
    let edits = paths.iter().filter_map(left);
    let edits = Changes::of(edits.collect::<Vec<Change>>());
    if edits.is_empty() {
        return String::new();
    }
    let diff = Diff::of(&edits, workspace, Bounds::default()).shown();
    let mut lines: Vec<&str> = diff.lines().take(MAX_LINES).collect();
    if lines.len() < diff.lines().count() {
        lines.push("…");
    }
    format!("\nedited since:\n{}", lines.join("\n"))
}

/// What a call left at a path, and what is there now. Nothing where that is no longer known, or too long.
fn left_by(workspace: &Workspace, call: u64, path: &PathBuf) -> Option<Change> {
    const MAX_SHOWN: u64 = 1 << 20;
    let made = workspace.changes(call).ok()?.get(path)?.after.clone();
    let known = |it: &FileNode| matches!(it.content, Content::Bytes(_) | Content::At(_));
    let mode = made.as_ref().and_then(Node::file).filter(|it| known(it))?.mode;
    let now = workspace.root().join(path);
    let metadata = now.symlink_metadata().ok();
    let after = match metadata.filter(|it| it.is_file() && it.len() <= MAX_SHOWN) {
        Some(_) => Some(Node::File(FileNode::new(std::fs::read(&now).ok()?, mode))),
        None => None,
    };
    Some(Change { path: path.clone(), from: None, before: made, after })
}
