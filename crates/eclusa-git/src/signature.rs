//! Whether a commit or a tag is signed, by the file of its object.

use std::io::Read as _;

use flate2::read::ZlibDecoder;

/// How much of an object is read.
const MAX_READ: u64 = 64 << 10;

/// What can be signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Signable {
    /// A commit.
    Commit,
    /// A tag with a message.
    Tag,
}

/// What an object is that could be signed and is not. `None` for what is signed, for other objects, and for the
/// commits that a stash is made of, which nobody signs.
#[must_use]
pub fn unsigned_object(file: &[u8]) -> Option<Signable> {
    let mut text = Vec::new();
    ZlibDecoder::new(file).take(MAX_READ).read_to_end(&mut text).ok()?;
    let text = String::from_utf8_lossy(&text);
    let (header, object) = text.split_once('\0')?;
    let (head, body) = object.split_once("\n\n").unwrap_or((object, ""));
    if header.starts_with("commit ") {
        let signed = head.lines().any(|it| it.starts_with("gpgsig"));
        let stash = ["WIP on ", "index on ", "untracked files on ", "On "];
        let stashed = stash.iter().any(|it| body.starts_with(it));
        return (!signed && !stashed).then_some(Signable::Commit);
    }
    let tag = header.starts_with("tag ") && !body.contains("-----BEGIN ");
    tag.then_some(Signable::Tag)
}
