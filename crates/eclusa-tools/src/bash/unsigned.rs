//! Commits and tags that were to be signed and are not: no key is in a sandbox, and that is told.

use eclusa::{
    Changes, Node,
    workspace::{Content, FileNode},
};
use eclusa_git::{Signable, loose_object_id, unsigned_object};
use eclusa_sandbox::Signing;

/// The largest object that is looked at, and how many.
const MAX_OBJECT: u64 = 64 << 10;
const MAX_OBJECTS: usize = 20_000;

/// What to tell of the objects that these changes add.
pub(super) fn note(changes: &Changes, signing: Signing) -> Option<String> {
    if signing == Signing::default() {
        return None;
    }
    let added =
        changes.iter().filter(|it| it.before.is_none() && loose_object_id(&it.path).is_some());
    let files = added.filter_map(|it| it.after.as_ref().and_then(Node::file));
    let unsigned: Vec<Signable> = files.take(MAX_OBJECTS).filter_map(unsigned).collect();
    let count = |kind| unsigned.iter().filter(|it| **it == kind).count();
    let commits = if signing.commits { count(Signable::Commit) } else { 0 };
    let tags = if signing.tags { count(Signable::Tag) } else { 0 };
    let (what, setting, cure) = match (commits, tags) {
        (0, 0) => return None,
        (0, 1) => ("1 tag is".to_owned(), "tag.gpgSign", "git tag -s -f NAME"),
        (0, tags) => (format!("{tags} tags are"), "tag.gpgSign", "git tag -s -f NAME"),
        (1, _) => ("1 commit is".to_owned(), "commit.gpgSign", "git commit --amend --no-edit -S"),
        (commits, _) => (format!("{commits} commits are"), "commit.gpgSign", "git rebase -S BASE"),
    };
    Some(format!(
        "{what} not signed, although `{setting}` is set: the sandbox has no key; sign in a terminal (`{cure}`)"
    ))
}

fn unsigned(file: &FileNode) -> Option<Signable> {
    if file.size > MAX_OBJECT {
        return None;
    }
    match &file.content {
        Content::Bytes(bytes) => unsigned_object(bytes),
        Content::Staged(path) | Content::At(path) => unsigned_object(&std::fs::read(path).ok()?),
        Content::InPlace => None,
    }
}
