//! Commits and tags that are to be signed: what a command made without a signature, and what is told of it.

use eclusa::{
    Changes, Node,
    workspace::{Content, FileNode},
};
use eclusa_git::{Signable, ToSign, loose_object};
use eclusa_sandbox::Signing;

use crate::sandboxes::signing::Signatures;

/// The largest object that is looked at, and how many.
const MAX_OBJECT: u64 = 64 << 10;
const MAX_OBJECTS: usize = 20_000;

/// What was to be signed and is not, of the objects that these changes add.
pub(super) fn unsigned(changes: &Changes, signing: Signing) -> ToSign {
    if signing == Signing::default() {
        return ToSign::default();
    }
    let added = changes.iter().filter(|it| it.before.is_none());
    let files =
        added.filter_map(|it| Some((loose_object(&it.path)?, Node::file(it.after.as_ref()?)?)));
    let files = files.take(MAX_OBJECTS);
    let found = ToSign::unsigned(files.filter_map(|(named, it)| Some((named, bytes(it)?))));
    let found = if signing.commits { found } else { found.without(Signable::Commit) };
    if signing.tags { found } else { found.without(Signable::Tag) }
}

/// What to tell of that. `why`: why none could be made.
pub(super) fn note(unsigned: &ToSign, why: Option<&str>) -> Option<String> {
    let (what, setting, cure) =
        match (unsigned.count(Signable::Commit), unsigned.count(Signable::Tag)) {
            (0, 0) => return None,
            (0, 1) => ("1 tag is".to_owned(), "tag.gpgSign", "git tag -s -f NAME"),
            (0, tags) => (format!("{tags} tags are"), "tag.gpgSign", "git tag -s -f NAME"),
            (1, _) => {
                ("1 commit is".to_owned(), "commit.gpgSign", "git commit --amend --no-edit -S")
            }
            (commits, _) => {
                (format!("{commits} commits are"), "commit.gpgSign", "git rebase -S BASE")
            }
        };
    let why = why.unwrap_or("the sandbox has no key");
    Some(format!(
        "{what} not signed, although `{setting}` is set: {why}; sign in a terminal (`{cure}`)"
    ))
}

/// What to tell of signatures that were made with a key.
pub(super) fn signed(signatures: &Signatures, key: &str) -> Option<String> {
    let what = match signatures.made {
        0 => return None,
        1 => "1 signature was".to_owned(),
        made => format!("{made} signatures were"),
    };
    Some(format!("{what} made with the key `{key}`"))
}

fn bytes(file: &FileNode) -> Option<Vec<u8>> {
    if file.size > MAX_OBJECT {
        return None;
    }
    match &file.content {
        Content::Bytes(bytes) => Some(bytes.to_vec()),
        Content::Staged(path) | Content::At(path) => std::fs::read(path).ok(),
        Content::InPlace => None,
    }
}
