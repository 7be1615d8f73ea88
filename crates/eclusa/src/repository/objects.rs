//! Commits among the objects that changes add to a repository.

use std::io::Read;

use flate2::read::ZlibDecoder;

use super::NewCommit;
use crate::{Change, Changes, Contents, Node, Side};

/// How many objects are looked at, and how much of each.
const MAX_OBJECTS: usize = 20_000;
const MAX_COMMIT: u64 = 64 << 10;

/// The commits that the changes add as objects of their own.
pub(super) fn commits(changes: &Changes, contents: &dyn Contents) -> Vec<NewCommit> {
    let objects = changes.iter().filter_map(|it| Some((it, object_id(it)?)));
    let commits = objects.take(MAX_OBJECTS).filter_map(|(change, id)| {
        let packed = contents.content(change, Side::After).ok()?;
        commit(id, &packed)
    });
    commits.collect()
}

/// The name of the object that a change adds, by its path: `objects/ab/cdef…`.
fn object_id(change: &Change) -> Option<String> {
    let (None, Some(Node::File(file))) = (&change.before, &change.after) else { return None };
    let path = change.path.to_str()?;
    let (_, object) = path.rsplit_once("/objects/")?;
    let (directory, name) = object.split_once('/')?;
    let id = format!("{directory}{name}");
    let hex = id.len() == 40 && id.bytes().all(|it| it.is_ascii_hexdigit());
    (hex && directory.len() == 2 && file.size <= MAX_COMMIT).then_some(id)
}

fn commit(id: String, packed: &[u8]) -> Option<NewCommit> {
    let mut text = Vec::new();
    ZlibDecoder::new(packed).take(MAX_COMMIT).read_to_end(&mut text).ok()?;
    let text = String::from_utf8_lossy(&text);
    let (_, commit) = text.strip_prefix("commit ")?.split_once('\0')?;
    let (head, message) = commit.split_once("\n\n").unwrap_or((commit, ""));
    let parents = head.lines().filter_map(|it| it.strip_prefix("parent "));
    let subject = message.trim_start().lines().next().unwrap_or_default().trim_end();
    let parents = parents.map(str::to_owned).collect();
    Some(NewCommit { id, parents, subject: subject.to_owned() })
}
