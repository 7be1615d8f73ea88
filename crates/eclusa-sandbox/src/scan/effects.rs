//! What a command did: one entry for each path, with what was there and what is there now.

use std::{ffi::OsString, path::Path, path::PathBuf};

use eclusa_workspace::{ContentDigest, Stamp};

/// Everything that a command did to one tree: at most one effect for each path, sorted by path.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Effects {
    /// The effects. A directory that went has an effect for everything that was in it.
    pub entries: Vec<Effect>,
    /// Permission bits of the root of the tree, before and after, where they changed. The root has
    /// no path and is never committed.
    pub root: Option<(u32, u32)>,
    /// How many files and links were written or touched and came out as they were.
    pub unchanged: u64,
}

/// One path before and after. INVARIANT: they differ, or a note says what does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effect {
    /// Where, relative to the root of the tree. Bytes, as the kernel has them.
    pub path: PathBuf,
    /// Where it was, when it was moved here. The path it came from has an effect of its own.
    pub from: Option<PathBuf>,
    /// What was there. `None`: nothing.
    pub before: Option<ScannedNode>,
    /// What is there now. `None`: nothing.
    pub after: Option<ScannedNode>,
    /// What the two nodes do not say.
    pub notes: Vec<Note>,
}

/// Something that has a place in a tree: a node of the workspace, or what no change can hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScannedNode {
    /// A file.
    File(ScannedFile),
    /// A directory. What is in it has effects of its own.
    Directory {
        /// Permission bits.
        mode: u32,
    },
    /// A symbolic link.
    Link {
        /// What it says, not what it leads to.
        target: PathBuf,
    },
    /// Something that is neither: it is told, and never committed.
    Other(Special),
}

/// A file: what is in it, and how to recognise it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScannedFile {
    /// BLAKE3 of the content. `None`: it could not be read, and a note says why.
    pub digest: Option<ContentDigest>,
    /// Length of the content.
    pub size: u64,
    /// Permission bits, set-user-id and the like included.
    pub mode: u32,
    /// What told it apart just before it was read.
    pub stamp: Stamp,
}

/// What is neither file nor directory nor link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Special {
    /// A named pipe.
    Pipe,
    /// A socket.
    Socket,
    /// A device.
    Device,
}

/// A moment on the clock of a filesystem, in nanoseconds since 1970. That clock is coarser than
/// the system's, so that only moments of the same filesystem can be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(pub i128);

/// What a person must know about an effect beyond what was and is there.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// The old file has other names. Replaced or deleted here, it stays as it was there.
    Linked {
        /// How many names it has in all.
        names: u64,
    },
    /// The new file was given several names.
    Shared {
        /// How many names it has in all.
        names: u64,
    },
    /// Extended attributes (access lists, capabilities, labels) differ.
    Attributes(Vec<OsString>),
    /// It belongs to somebody else now.
    Owner {
        /// User and group before.
        before: (u32, u32),
        /// User and group now.
        after: (u32, u32),
    },
    /// What was there changed while the command ran, so that the command may not have seen it.
    Since,
    /// It could not be read.
    Unread(String),
}

/// What became of a path, in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Nothing was there.
    Made,
    /// It was somewhere else.
    Moved,
    /// Another content or target.
    Altered,
    /// Only permissions, owner or attributes changed.
    Metadata,
    /// It is gone.
    Deleted,
    /// Something of another kind is there.
    Replaced,
}

impl Effects {
    /// True when the command changed nothing that lasts.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.root.is_none()
    }

    /// The effect on this path.
    pub fn get(&self, path: &Path) -> Option<&Effect> {
        let at = self.entries.binary_search_by(|it| it.path.as_path().cmp(path)).ok()?;
        self.entries.get(at)
    }
}

impl Effect {
    /// What became of the path.
    pub fn kind(&self) -> Kind {
        match (&self.before, &self.after) {
            (_, None) => Kind::Deleted,
            (_, Some(_)) if self.from.is_some() => Kind::Moved,
            (None, Some(_)) => Kind::Made,
            (Some(ScannedNode::File(was)), Some(ScannedNode::File(is)))
                if was.digest == is.digest =>
            {
                Kind::Metadata
            }
            (Some(was), Some(is)) if std::mem::discriminant(was) != std::mem::discriminant(is) => {
                Kind::Replaced
            }
            (Some(ScannedNode::Directory { .. }), Some(_)) => Kind::Metadata,
            (Some(_), Some(_)) => Kind::Altered,
        }
    }

    /// Why this effect cannot be committed. `None`: it can.
    pub fn obstacle(&self) -> Option<String> {
        let sides = [&self.before, &self.after];
        let special = sides.into_iter().flatten().find_map(|it| match it {
            ScannedNode::Other(special) => Some(special.article()),
            ScannedNode::File(_) | ScannedNode::Directory { .. } | ScannedNode::Link { .. } => None,
        });
        let unread = self.notes.iter().find_map(|it| match it {
            Note::Unread(why) => Some(format!("it cannot be read: {why}")),
            _ => None,
        });
        special.map(|it| format!("it is {it}, which is never committed")).or(unread)
    }
}

impl ScannedNode {
    /// True when nobody could tell one from the other by looking: the same kind, content and mode.
    pub fn same(&self, other: &ScannedNode) -> bool {
        match (self, other) {
            (ScannedNode::File(a), ScannedNode::File(b)) => {
                a.digest.is_some() && a.digest == b.digest && a.mode == b.mode
            }
            (a, b) => a == b,
        }
    }

    /// The file, if it is one.
    pub fn file(&self) -> Option<&ScannedFile> {
        match self {
            ScannedNode::File(file) => Some(file),
            ScannedNode::Directory { .. } | ScannedNode::Link { .. } | ScannedNode::Other(_) => {
                None
            }
        }
    }
}

impl Special {
    /// With its article.
    pub fn article(self) -> &'static str {
        match self {
            Special::Pipe => "a pipe",
            Special::Socket => "a socket",
            Special::Device => "a device",
        }
    }
}
