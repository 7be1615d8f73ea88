//! Commits among the objects that changes add to a repository.

use eclusa_git::loose_object_id;

use super::NewCommit;
use crate::{Change, Changes, Contents, Node, Side};

/// How many objects are looked at, and how long each may be.
const MAX_OBJECTS: usize = 20_000;
const MAX_COMMIT: u64 = 64 << 10;

/// The commits that the changes add as objects of their own.
pub(super) fn commits(changes: &Changes, contents: &dyn Contents) -> Vec<NewCommit> {
    let objects = changes.iter().filter_map(|it| Some((it, added_object(it)?)));
    let commits = objects.take(MAX_OBJECTS).filter_map(|(change, id)| {
        let packed = contents.content(change, Side::After).ok()?;
        NewCommit::parse(id, &packed)
    });
    commits.collect()
}

/// The name of the object that a change adds.
fn added_object(change: &Change) -> Option<String> {
    let (None, Some(Node::File(file))) = (&change.before, &change.after) else { return None };
    loose_object_id(&change.path).filter(|_| file.size <= MAX_COMMIT)
}
