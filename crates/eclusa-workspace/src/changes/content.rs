//! What is in the files of a change: where it comes from, how much of it is looked at, and
//! whether it is text.

use std::{borrow::Cow, io};

use super::{Change, ContentDigest, FileNode};

/// One side of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// What was there.
    Before,
    /// What will be there.
    After,
}

/// Reads contents that a change does not hold itself, so that nothing here needs a disk.
///
/// A closure that gives the bytes is one.
pub trait Contents {
    /// What is in the file on this side of the change.
    fn content<'a>(&'a self, change: &'a Change, side: Side) -> io::Result<Cow<'a, [u8]>>;
}

impl<F: Fn(&Change, Side) -> io::Result<Vec<u8>>> Contents for F {
    fn content<'a>(&'a self, change: &'a Change, side: Side) -> io::Result<Cow<'a, [u8]>> {
        self(change, side).map(Cow::Owned)
    }
}

/// Nothing but what the changes hold themselves.
#[derive(Debug, Clone, Copy, Default)]
pub struct InlineContents;

impl Contents for InlineContents {
    fn content<'a>(&'a self, _: &'a Change, _: Side) -> io::Result<Cow<'a, [u8]>> {
        Err(io::Error::new(io::ErrorKind::NotFound, "nobody here can read it"))
    }
}

/// How much is looked at. What lies beyond is named and described, never silently left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// The largest file that is compared, in bytes.
    pub file: u64,
    /// How much is read of what the changes do not hold themselves, in bytes, all files together.
    pub read: u64,
    /// How much of all lines a person is shown, in bytes.
    pub shown: usize,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds { file: 16 << 20, read: 32 << 20, shown: 256 << 10 }
    }
}

/// What sort of content a file has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ContentKind {
    /// Text that can be shown: UTF-8 without NUL.
    Text,
    /// Text in UTF-16, known by the mark that it begins with.
    Utf16,
    /// Text in some encoding of one byte for each character.
    Latin1,
    /// Anything else.
    Binary,
}

/// How far one looks for signs that a content is not text.
const HEAD: usize = 8192;

impl ContentKind {
    /// The sort of this content.
    pub fn of(content: &[u8]) -> ContentKind {
        if (content.starts_with(&[0xFF, 0xFE]) || content.starts_with(&[0xFE, 0xFF]))
            && content.len().is_multiple_of(2)
        {
            return ContentKind::Utf16;
        }
        if memchr::memchr(0, content).is_some() {
            return ContentKind::Binary;
        }
        if std::str::from_utf8(content).is_ok() {
            return ContentKind::Text;
        }
        let strange = |byte: &u8| matches!(byte, 0..9 | 11 | 14..32 | 127);
        match content.iter().take(HEAD).any(strange) {
            true => ContentKind::Binary,
            false => ContentKind::Latin1,
        }
    }

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            ContentKind::Text => "text",
            ContentKind::Utf16 => "utf-16",
            ContentKind::Latin1 => "latin-1",
            ContentKind::Binary => "binary",
        }
    }
}

/// Reads contents within bounds.
pub(super) struct Reading<'a> {
    contents: &'a dyn Contents,
    bounds: Bounds,
    read: u64,
}

impl<'a> Reading<'a> {
    pub(super) fn new(contents: &'a dyn Contents, bounds: Bounds) -> Reading<'a> {
        Reading { contents, bounds, read: 0 }
    }

    /// The content of a file, or why it is not looked at. What is shown is what the digest says:
    /// a content that has changed meanwhile is none.
    pub(super) fn content(
        &mut self,
        change: &'a Change,
        side: Side,
        file: &'a FileNode,
    ) -> Result<Cow<'a, [u8]>, String> {
        if file.size > self.bounds.file {
            let most = bytes(self.bounds.file);
            return Err(format!("{} are more than the {most} that are compared", bytes(file.size)));
        }
        let content = match file.bytes() {
            Some(held) => Cow::Borrowed(held),
            None => {
                if self.read.saturating_add(file.size) > self.bounds.read {
                    let most = bytes(self.bounds.read);
                    return Err(format!("{most} of other files were read already"));
                }
                self.read += file.size;
                self.contents
                    .content(change, side)
                    .map_err(|err| format!("the content cannot be read: {err}"))?
            }
        };
        match content.len() as u64 == file.size && ContentDigest::of(&content) == file.digest {
            true => Ok(content),
            false => Err("the content has changed since".to_owned()),
        }
    }
}

/// A number of bytes in words.
pub(super) fn bytes(count: u64) -> String {
    match count {
        1 => "1 byte".to_owned(),
        count => format!("{count} bytes"),
    }
}
