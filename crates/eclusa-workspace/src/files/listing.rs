//! What is in a directory: read from its handle, blocked names left out and counted.

use std::{
    ffi::{OsStr, OsString},
    fmt,
    os::unix::ffi::OsStrExt,
    path::PathBuf,
};

use rustix::{
    fs::{AtFlags, Dir, FileType, Stat, statat},
    io::Errno,
};

use super::{
    FileError, Files,
    read::{permission_bits, stamp},
};
use crate::Stamp;

/// An open directory, and an iterator over what is in it, in the order of the disk.
///
/// It reads as it goes, so that a directory of any size can be listed and left early.
pub struct OpenedDirectory {
    /// The name that was reached, relative to the workspace; empty for the workspace itself.
    pub path: PathBuf,
    files: Files,
    entries: Dir,
    blocked: usize,
    shown: String,
}

/// One name in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirEntry {
    /// The name, which need not be UTF-8.
    pub name: OsString,
    /// What it is. Links are not followed.
    pub kind: Kind,
    /// Length of a file's content.
    pub size: u64,
    /// Permission bits.
    pub mode: u32,
    /// What tells this state of it from others.
    pub stamp: Stamp,
}

/// What a thing in the workspace is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link, wherever it leads.
    Link,
    /// A named pipe.
    Pipe,
    /// A socket.
    Socket,
    /// A character or block device.
    Device,
    /// Something else.
    Unknown,
}

impl OpenedDirectory {
    pub(super) fn new(files: Files, path: PathBuf, shown: String, entries: Dir) -> Self {
        OpenedDirectory { path, files, entries, blocked: 0, shown }
    }

    /// How many names were left out so far because they are blocked.
    pub fn blocked(&self) -> usize {
        self.blocked
    }

    /// The entry, unless it is gone already.
    fn entry(&self, name: &OsStr) -> Result<Option<DirEntry>, Errno> {
        match statat(self.entries.fd()?, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(DirEntry {
                name: name.to_owned(),
                kind: Kind::of(&stat),
                size: stamp(&stat).size,
                mode: permission_bits(&stat),
                stamp: stamp(&stat),
            })),
            Err(Errno::NOENT) => Ok(None),
            Err(err) => Err(err),
        }
    }
}

impl Iterator for OpenedDirectory {
    type Item = Result<DirEntry, FileError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let entry = match self.entries.read()? {
                Ok(entry) => entry,
                Err(err) => return Some(Err(FileError::io(&self.shown, err))),
            };
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            if self.files.is_blocked(&self.path.join(name)).is_some() {
                self.blocked += 1;
                continue;
            }
            match self.entry(name) {
                Ok(Some(entry)) => return Some(Ok(entry)),
                Ok(None) => {}
                Err(err) => return Some(Err(FileError::io(&self.shown, err))),
            }
        }
    }
}

impl fmt::Debug for OpenedDirectory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenedDirectory").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Kind {
    pub(super) fn of(stat: &Stat) -> Kind {
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Directory,
            FileType::Symlink => Kind::Link,
            FileType::Fifo => Kind::Pipe,
            FileType::Socket => Kind::Socket,
            FileType::CharacterDevice | FileType::BlockDevice => Kind::Device,
            _ => Kind::Unknown,
        }
    }
}
