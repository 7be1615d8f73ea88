//! What is at a name right now, and how one state of it is told from another.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io,
    os::{
        fd::{AsFd, OwnedFd},
        unix::ffi::OsStringExt,
    },
    path::{Path, PathBuf},
};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat as RawStat};

use crate::{ContentDigest, Node, Stamp};

/// What a node is, as far as a commit cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Directory,
    Link,
    /// A pipe, a socket, a device: never made, never moved.
    Other,
}

/// What tells one state of a node from another. A rename changes only `changed`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NodeIdentity {
    pub(crate) inode: u64,
    pub(crate) size: u64,
    pub(crate) modified: i64,
    /// `None`: not known, because it was set after the last look.
    pub(crate) changed: Option<i64>,
}

/// A look at a name, without following it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stat {
    pub(crate) kind: Kind,
    pub(crate) mode: u32,
    pub(crate) id: NodeIdentity,
    pub(crate) owner: (u32, u32),
}

/// Permission bits as the system takes them: their width differs.
pub(crate) fn mode(bits: u32) -> Mode {
    Mode::from_raw_mode(bits as rustix::fs::RawMode)
}

/// Everything that was written to the filesystem of this handle is on the disk afterwards.
#[cfg(target_os = "linux")]
pub(crate) fn sync_filesystem(handle: impl AsFd) -> rustix::io::Result<()> {
    rustix::fs::syncfs(handle)
}

/// Everything that was written to any filesystem is on its way to the disk afterwards.
#[cfg(not(target_os = "linux"))]
pub(crate) fn sync_filesystem(handle: impl AsFd) -> rustix::io::Result<()> {
    rustix::fs::sync();
    rustix::fs::fsync(handle)
}

/// A node that is expected somewhere, or was seen there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Expected {
    pub(crate) what: NodeContent,
    /// Permission bits; those of a link mean nothing.
    pub(crate) mode: u32,
    /// `None`: not looked at yet.
    pub(crate) id: Option<NodeIdentity>,
}

/// What a node holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NodeContent {
    File(ContentDigest),
    Directory,
    Link(PathBuf),
}

impl Stat {
    /// What is at this name. `None`: nothing.
    pub(crate) fn at(dir: impl AsFd, name: &OsStr) -> io::Result<Option<Stat>> {
        match rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(Stat::from(stat))),
            Err(rustix::io::Errno::NOENT) => Ok(None),
            Err(err) => Err(err.into()),
        }
    }

    /// True when this is still what was seen. When it was last renamed or linked does not count.
    pub(crate) fn is_still(&self, seen: &Expected) -> bool {
        let Some(id) = seen.id else { return false };
        let same = self.kind == seen.what.kind() && self.id.inode == id.inode;
        match seen.what {
            // What goes on in a directory changes its size and time, and is somebody else's change.
            NodeContent::Directory => same,
            NodeContent::Link(_) => same && self.id.modified == id.modified,
            NodeContent::File(_) => {
                same && self.id.size == id.size && self.id.modified == id.modified
            }
        }
    }
}

impl From<RawStat> for Stat {
    #[allow(
        clippy::unnecessary_cast,
        clippy::useless_conversion,
        reason = "the fields have other widths on other machines"
    )]
    fn from(stat: RawStat) -> Stat {
        let kind = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Directory,
            FileType::Symlink => Kind::Link,
            _ => Kind::Other,
        };
        let nanos = |seconds: i64, nanos: i64| seconds.saturating_mul(1_000_000_000) + nanos;
        Stat {
            kind,
            mode: stat.st_mode as u32 & 0o7777,
            id: NodeIdentity {
                inode: stat.st_ino as u64,
                size: stat.st_size as u64,
                modified: nanos(stat.st_mtime as i64, stat.st_mtime_nsec as i64),
                changed: Some(nanos(stat.st_ctime as i64, stat.st_ctime_nsec as i64)),
            },
            owner: (stat.st_uid, stat.st_gid),
        }
    }
}

impl From<Stamp> for NodeIdentity {
    fn from(stamp: Stamp) -> NodeIdentity {
        NodeIdentity {
            inode: stamp.inode,
            size: stamp.size,
            modified: i64::try_from(stamp.modified).unwrap_or(i64::MAX),
            changed: i64::try_from(stamp.changed).ok(),
        }
    }
}

impl Expected {
    /// The same node, whenever and wherever it was seen.
    pub(crate) fn same(&self, other: &Expected) -> bool {
        let mode = self.mode == other.mode || matches!(self.what, NodeContent::Link(_));
        mode && self.what == other.what
    }
}

impl From<&Node> for Expected {
    fn from(node: &Node) -> Expected {
        match node {
            Node::File(file) => Expected {
                what: NodeContent::File(file.digest),
                mode: file.mode & 0o7777,
                id: file.stamp.map(NodeIdentity::from),
            },
            Node::Directory { mode } => {
                Expected { what: NodeContent::Directory, mode: mode & 0o7777, id: None }
            }
            Node::Link { target } => {
                Expected { what: NodeContent::Link(target.clone()), mode: 0o777, id: None }
            }
        }
    }
}

impl NodeContent {
    pub(crate) fn kind(&self) -> Kind {
        match self {
            NodeContent::File(_) => Kind::File,
            NodeContent::Directory => Kind::Directory,
            NodeContent::Link(_) => Kind::Link,
        }
    }
}

/// Opens a file for reading: never through a link, and never waiting for a pipe.
pub(crate) fn open_file(dir: impl AsFd, name: &OsStr) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::openat(dir, name, flags, Mode::empty())?))
}

/// Opens a file at a path for reading, never waiting for a pipe. A device is none.
pub(crate) fn open_at(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("it is not a file")),
    }
}

/// Opens a file that is kept in a slot, where nobody else has business, whatever its mode.
pub(crate) fn open_kept(slots: impl AsFd, name: &OsStr) -> io::Result<File> {
    let denied = match open_file(&slots, name) {
        Err(err) if err.kind() == io::ErrorKind::PermissionDenied => err,
        opened => return opened,
    };
    let Some(stat) = Stat::at(&slots, name)?.filter(|it| it.kind == Kind::File) else {
        return Err(denied);
    };
    rustix::fs::chmodat(&slots, name, mode(stat.mode | 0o400), AtFlags::empty())?;
    open_file(slots, name)
}

/// Opens a directory that is not a link.
pub(crate) fn open_dir(dir: impl AsFd, name: &OsStr) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(dir, name, flags, Mode::empty())?)
}

/// The digest of a file.
pub(crate) fn digest(dir: impl AsFd, name: &OsStr) -> io::Result<ContentDigest> {
    digest_of(open_file(dir, name)?)
}

/// The digest of a file that is open.
pub(crate) fn digest_of(file: File) -> io::Result<ContentDigest> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(file)?;
    Ok(ContentDigest(*hasher.finalize().as_bytes()))
}

/// What a link says.
pub(crate) fn target(dir: impl AsFd, name: &OsStr) -> io::Result<PathBuf> {
    let target = rustix::fs::readlinkat(dir, name, Vec::new())?;
    Ok(PathBuf::from(OsString::from_vec(target.into_bytes())))
}

/// The names in a directory.
pub(crate) fn names(dir: impl AsFd) -> io::Result<Vec<OsString>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(dir)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." {
            names.push(OsString::from_vec(name.to_vec()));
        }
    }
    Ok(names)
}
