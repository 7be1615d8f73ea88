//! What a call would do to the workspace: a value before it is real.
//!
//! One type serves the diff that a person sees, the rules over effects, the commit, the undo, the
//! dry run and the record. File tools compute it in memory; whatever stages a command reads it
//! back from where the command wrote.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
};

pub use content::{Bounds, ContentKind, Contents, InlineContents, Side};
pub use diff::Diff;
pub use numbers::LineNumbers;
pub use order::natural;
pub use summary::Summary;

mod content;
mod diff;
mod digest;
mod line_ends;
mod lines;
mod names;
mod numbers;
mod order;
mod person;
mod subset;
mod summary;
#[cfg(test)]
pub(crate) mod tests;
mod unified;
mod wire;

/// Everything that a call would change: at most one change for each path, sorted by path.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes(Vec<Change>);

/// One path before and after. INVARIANT: `before` and `after` differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Where, relative to the workspace: no `..`, no `.`, not empty.
    pub path: PathBuf,
    /// Where it was, when it was moved here. The path it came from has a change of its own.
    pub from: Option<PathBuf>,
    /// What was there. `None`: nothing.
    pub before: Option<Node>,
    /// What will be there. `None`: nothing.
    pub after: Option<Node>,
}

/// Something that has a place in the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    /// A file.
    File(FileNode),
    /// A directory. What is in it has changes of its own.
    Directory {
        /// Permission bits.
        mode: u32,
    },
    /// A symbolic link.
    Link {
        /// What it says, not what it leads to.
        target: PathBuf,
    },
}

/// A file: what is in it, and how to recognise it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileNode {
    /// BLAKE3 of the content.
    pub digest: ContentDigest,
    /// Length of the content.
    pub size: u64,
    /// Permission bits, set-user-id and the like included.
    pub mode: u32,
    /// Where the content is.
    pub content: Content,
    /// For a file that is there: what told it apart when it was read, so that a later look can
    /// see that it is still the same without reading it again.
    pub stamp: Option<Stamp>,
}

/// Where the content of a file is.
#[derive(Clone, PartialEq, Eq)]
pub enum Content {
    /// Here.
    Bytes(Arc<[u8]>),
    /// In a file of its own, outside the workspace's sight: staged, or set aside.
    At(PathBuf),
    /// In a file that was made for this change and is its to take: a commit moves it into place.
    Staged(PathBuf),
    /// In the workspace, at the path of the change: too large to hold.
    InPlace,
}

/// BLAKE3 of a content, shown in hexadecimal.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ContentDigest(pub [u8; 32]);

/// What tells one state of a file from another without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// The device.
    pub device: u64,
    /// The inode.
    pub inode: u64,
    /// Length.
    pub size: u64,
    /// Last change of the content, in nanoseconds since 1970.
    pub modified: i128,
    /// Last change of content or metadata, in nanoseconds since 1970.
    pub changed: i128,
}

impl Changes {
    /// Nothing.
    pub fn none() -> Changes {
        Changes::default()
    }

    /// These changes, sorted. Those that change nothing are left out; of two for one path, the
    /// later follows on the earlier. What was moved twice comes from where it was first, provided
    /// that of each move the departure stands before the arrival.
    pub fn of(changes: impl IntoIterator<Item = Change>) -> Changes {
        let mut all = BTreeMap::<PathBuf, Change>::new();
        for mut change in changes {
            let left = change.from.as_ref().and_then(|from| all.get(from));
            if let Some(earlier) = left.filter(|it| it.after.is_none()) {
                change.from = earlier.from.clone().or(change.from);
            }
            if let Some(earlier) = all.remove(&change.path) {
                change.from = change.from.or(earlier.from);
                change.before = earlier.before;
            }
            all.insert(change.path.clone(), change);
        }
        let mut all: Vec<Change> = all.into_values().filter(Change::changes).collect();
        for change in &mut all {
            // What is not there was not moved there, and what is at home was not moved.
            if change.after.is_none() || change.from.as_ref() == Some(&change.path) {
                change.from = None;
            }
        }
        Changes(all)
    }

    /// The changes, by path.
    pub fn iter(&self) -> std::slice::Iter<'_, Change> {
        self.0.iter()
    }

    /// How many paths change.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True when nothing changes.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The change of this path.
    pub fn get(&self, path: &Path) -> Option<&Change> {
        let at = self.0.binary_search_by(|it| it.path.as_path().cmp(path)).ok()?;
        self.0.get(at)
    }

    /// Where the thing at this change was before, when it was moved here from a place that it
    /// left. Moving neither makes it nor deletes it.
    pub fn source(&self, change: &Change) -> Option<&Change> {
        let source = self.get(change.from.as_deref()?)?;
        let (Some(was), Some(is)) = (&source.before, &change.after) else { return None };
        (source.after.is_none() && was.same_kind(is)).then_some(source)
    }

    /// The paths that something was moved away from: they are one thing with where it went.
    pub fn left(&self) -> BTreeSet<&Path> {
        self.iter().filter_map(|it| self.source(it)).map(|it| it.path.as_path()).collect()
    }
}

impl Change {
    /// False when what was there is what will be there.
    pub(crate) fn changes(&self) -> bool {
        match (&self.before, &self.after) {
            (Some(before), Some(after)) => !before.same(after),
            (before, after) => before.is_some() || after.is_some(),
        }
    }
}

impl Node {
    /// True when nobody could tell one from the other by looking: the same kind, content and mode.
    pub fn same(&self, other: &Node) -> bool {
        match (self, other) {
            (Node::File(a), Node::File(b)) => a.digest == b.digest && a.mode == b.mode,
            (a, b) => a == b,
        }
    }

    /// True when both are files, both directories or both links.
    pub fn same_kind(&self, other: &Node) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }

    /// The word for what it is.
    pub fn kind(&self) -> &'static str {
        match self {
            Node::File(_) => "file",
            Node::Directory { .. } => "directory",
            Node::Link { .. } => "link",
        }
    }

    /// The file, if it is one.
    pub fn file(&self) -> Option<&FileNode> {
        match self {
            Node::File(file) => Some(file),
            Node::Directory { .. } | Node::Link { .. } => None,
        }
    }
}

impl<'a> IntoIterator for &'a Changes {
    type Item = &'a Change;
    type IntoIter = std::slice::Iter<'a, Change>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl FileNode {
    /// A file with this content that is not there yet.
    pub fn new(content: impl Into<Arc<[u8]>>, mode: u32) -> FileNode {
        let content: Arc<[u8]> = content.into();
        FileNode {
            digest: ContentDigest::of(&content),
            size: content.len() as u64,
            mode,
            content: Content::Bytes(content),
            stamp: None,
        }
    }

    /// The content, if it is here.
    pub fn bytes(&self) -> Option<&[u8]> {
        match &self.content {
            Content::Bytes(bytes) => Some(bytes),
            Content::At(_) | Content::Staged(_) | Content::InPlace => None,
        }
    }
}

impl ContentDigest {
    /// The digest of this content.
    pub fn of(content: &[u8]) -> ContentDigest {
        ContentDigest(*blake3::hash(content).as_bytes())
    }
}

impl fmt::Display for ContentDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ContentDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Content::Bytes(bytes) => write!(f, "{} bytes", bytes.len()),
            Content::At(path) => write!(f, "at {}", path.display()),
            Content::Staged(path) => write!(f, "staged at {}", path.display()),
            Content::InPlace => f.write_str("in place"),
        }
    }
}
