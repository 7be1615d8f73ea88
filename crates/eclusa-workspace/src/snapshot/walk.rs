//! A walk over a workspace: every name with what tells its state, in the order of paths, nothing
//! followed.

use std::{
    ffi::OsStr,
    io,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

use rustix::{
    fs::{AtFlags, FileType, Stat as RawStat},
    io::Errno,
};

use super::SnapshotError;
use crate::commit::{
    IoFailure,
    stat::{self, Kind},
};

/// How deep directories may lie: each is open while those in it are walked.
const MAX_DEPTH: usize = 256;
/// How long a path may be, so that it can be opened beneath any directory of the state.
const MAX_PATH: usize = 3000;

/// What tells one state of a node from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Meta {
    /// Type and permission bits.
    pub(super) mode: u32,
    pub(super) device: u64,
    pub(super) inode: u64,
    pub(super) size: u64,
    pub(super) modified: i64,
    pub(super) changed: i64,
    pub(super) links: u64,
    pub(super) owner: (u32, u32),
    /// Which device it is, if it is one.
    pub(super) special: u64,
}

impl From<RawStat> for Meta {
    #[allow(
        clippy::unnecessary_cast,
        clippy::useless_conversion,
        reason = "the fields have other widths on other machines"
    )]
    fn from(raw: RawStat) -> Meta {
        let nanos = |seconds: i64, nanos: i64| seconds.saturating_mul(1_000_000_000) + nanos;
        Meta {
            mode: raw.st_mode as u32,
            device: raw.st_dev as u64,
            inode: raw.st_ino as u64,
            size: raw.st_size as u64,
            modified: nanos(raw.st_mtime as i64, raw.st_mtime_nsec as i64),
            changed: nanos(raw.st_ctime as i64, raw.st_ctime_nsec as i64),
            links: raw.st_nlink as u64,
            owner: (raw.st_uid, raw.st_gid),
            special: raw.st_rdev as u64,
        }
    }
}

impl Meta {
    pub(super) fn kind(&self) -> Kind {
        match self.file_type() {
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Directory,
            FileType::Symlink => Kind::Link,
            _ => Kind::Other,
        }
    }

    pub(super) fn file_type(&self) -> FileType {
        FileType::from_raw_mode(self.mode as rustix::fs::RawMode)
    }

    /// Permission bits, set-user-id and the like included.
    pub(super) fn permissions(&self) -> u32 {
        self.mode & 0o7777
    }

    /// The same thing, unchanged as far as its times tell.
    pub(super) fn is_same(&self, other: &Meta) -> bool {
        let state = |it: &Meta| (it.mode, it.size, it.modified, it.changed);
        self.is_same_inode(other) && state(self) == state(other)
    }

    pub(super) fn is_same_inode(&self, other: &Meta) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }

    pub(super) fn is_ours(&self) -> bool {
        self.owner.0 == rustix::process::geteuid().as_raw()
    }
}

/// A name that the walk has come to.
pub(super) struct Found<'a> {
    /// The directory that it is in, and the device of that.
    pub(super) dir: &'a OwnedFd,
    pub(super) dir_device: u64,
    pub(super) name: &'a OsStr,
    /// From the workspace.
    pub(super) path: &'a Path,
    pub(super) meta: Meta,
}

/// Why a directory is not entered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Closed {
    /// It may not be listed, and is not ours to open.
    Foreign,
    TooDeep,
}

/// Sees what a walk comes to.
pub(super) trait Visitor {
    /// One name. True: it is a directory to be entered.
    fn name(&mut self, found: &Found<'_>) -> Result<bool, SnapshotError>;

    /// A directory that would have been entered.
    fn closed(&mut self, found: &Found<'_>, why: Closed) -> Result<(), SnapshotError>;

    /// A directory of ours that could not be listed, and now can. True: it stays so.
    fn leaves_open(&mut self, _: &Path) -> bool {
        false
    }
}

/// Walks over everything below a directory of the workspace. `path` is that of the directory.
pub(super) fn walk<V: Visitor>(
    dir: &OwnedFd,
    path: &Path,
    visitor: &mut V,
) -> Result<(), SnapshotError> {
    let depth = path.components().count();
    let about = rustix::fs::fstat(dir).map_err(|err| failed(path, err.into()))?;
    directory(dir, Meta::from(about).device, path, depth, visitor)
}

pub(super) fn failed(path: &Path, err: io::Error) -> SnapshotError {
    SnapshotError::Failed(IoFailure::at("look at", path)(err))
}

fn directory<V: Visitor>(
    dir: &OwnedFd,
    dir_device: u64,
    path: &Path,
    depth: usize,
    visitor: &mut V,
) -> Result<(), SnapshotError> {
    let mut names = stat::names(dir).map_err(|err| failed(path, err))?;
    names.sort_unstable();
    let mut path = path.to_owned();
    for name in &names {
        let meta = match rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(raw) => Meta::from(raw),
            // Somebody else has removed it meanwhile.
            Err(Errno::NOENT) => continue,
            Err(err) => return Err(failed(&path.join(name), err.into())),
        };
        path.push(name);
        let found = Found { dir, dir_device, name, path: &path, meta };
        if visitor.name(&found)? && meta.kind() == Kind::Directory {
            enter(&found, depth + 1, visitor)?;
        }
        path.pop();
    }
    Ok(())
}

fn enter<V: Visitor>(
    found: &Found<'_>,
    depth: usize,
    visitor: &mut V,
) -> Result<(), SnapshotError> {
    let Found { dir, name, path, meta, .. } = found;
    if depth > MAX_DEPTH || path.as_os_str().len() > MAX_PATH {
        return visitor.closed(found, Closed::TooDeep);
    }
    let mode = meta.permissions();
    let (inner, opened) = match stat::open_dir(dir, name) {
        Ok(inner) if mode & 0o100 != 0 || !meta.is_ours() || is_superuser() => (Ok(inner), false),
        Err(err) if err.kind() != io::ErrorKind::PermissionDenied => (Err(err), false),
        Err(_) if !meta.is_ours() => return visitor.closed(found, Closed::Foreign),
        // Names in it could not be looked at.
        _ => {
            set_mode(dir, name, mode | 0o700).map_err(|err| failed(path, err))?;
            (stat::open_dir(dir, name), true)
        }
    };
    let walked = match inner {
        Ok(inner) => directory(&inner, meta.device, path, depth, visitor),
        Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(err) => Err(failed(path, err)),
    };
    if opened && !visitor.leaves_open(path) {
        set_mode(dir, name, mode).map_err(|err| failed(path, err))?;
    }
    walked
}

/// Modes hold up everybody else.
fn is_superuser() -> bool {
    rustix::process::geteuid().is_root()
}

/// Sets the permissions of what was seen to be no link.
pub(super) fn set_mode(dir: &OwnedFd, name: &OsStr, mode: u32) -> io::Result<()> {
    Ok(rustix::fs::chmodat(dir, name, stat::mode(mode), AtFlags::empty())?)
}

/// What a walk after the command has seen.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) path: PathBuf,
    pub(super) meta: Meta,
    /// A directory that was not entered.
    pub(super) is_closed: bool,
}
