//! Objects that git keeps in a file each.

use std::{
    io::Read,
    path::{Path, PathBuf},
};

use flate2::read::ZlibDecoder;

use crate::sha1::sha1;

/// How much of an object is read.
const MAX_COMMIT: u64 = 64 << 10;

/// The largest object that is read whole.
const MAX_OBJECT: u64 = 1 << 30;

/// A commit that is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewCommit {
    /// Its name, in hexadecimal.
    pub id: String,
    /// Those it follows.
    pub parents: Vec<String>,
    /// The first line of its message.
    pub subject: String,
}

impl NewCommit {
    /// Reads a commit from the file of its object; `None` for other objects and for what is too long.
    #[must_use]
    pub fn parse(id: String, file: &[u8]) -> Option<NewCommit> {
        if file.len() as u64 > MAX_COMMIT {
            return None;
        }
        let mut text = Vec::new();
        ZlibDecoder::new(file).take(MAX_COMMIT).read_to_end(&mut text).ok()?;
        let text = String::from_utf8_lossy(&text);
        let (_, commit) = text.strip_prefix("commit ")?.split_once('\0')?;
        let (head, message) = commit.split_once("\n\n").unwrap_or((commit, ""));
        let parents = head.lines().filter_map(|it| it.strip_prefix("parent "));
        let subject = message.trim_start().lines().next().unwrap_or_default().trim_end();
        let parents = parents.map(str::to_owned).collect();
        Some(NewCommit { id, parents, subject: subject.to_owned() })
    }
}

/// Whether the file of an object holds what its name says, and all of it.
#[must_use]
pub fn is_whole_object(id: &str, file: &[u8]) -> bool {
    let mut content = Vec::new();
    let read = ZlibDecoder::new(file).take(MAX_OBJECT).read_to_end(&mut content);
    let name = || sha1(&content).iter().map(|it| format!("{it:02x}")).collect::<String>();
    read.is_ok() && name().eq_ignore_ascii_case(id)
}

/// The name of the object whose file this is, by its path: `objects/ab/cdef…`.
#[must_use]
pub fn loose_object_id(path: &Path) -> Option<String> {
    loose_object(path).map(|it| it.id)
}

/// An object that git keeps in a file of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LooseObject {
    /// Its name, in hexadecimal.
    pub id: String,
    /// The directory of git that it lies in.
    pub place: PathBuf,
}

/// The object whose file this is, by its path: `.git/objects/ab/cdef…`.
#[must_use]
pub fn loose_object(path: &Path) -> Option<LooseObject> {
    let (place, object) = path.to_str()?.rsplit_once("/objects/")?;
    let (directory, name) = object.split_once('/')?;
    let id = format!("{directory}{name}");
    let hex = id.len() == 40 && id.bytes().all(|it| it.is_ascii_hexdigit());
    (hex && directory.len() == 2).then_some(LooseObject { id, place: place.into() })
}
