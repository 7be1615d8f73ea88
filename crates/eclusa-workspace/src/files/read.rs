//! What is in a file: read from its handle, held if it is small and only hashed if it is not.

use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};

use rustix::fs::{Stat, fstat};

use super::{Files, secret_content::secret_in_file};
use crate::{Content, ContentDigest, FileNode, Stamp};

/// Content that is not held is hashed in pieces of this size.
const PIECE: usize = 128 * 1024;

/// A file, open for reading.
#[derive(Debug)]
pub struct Opened {
    /// The open file, a regular one.
    pub file: File,
    /// The name that was reached, relative to the workspace, without a link in it.
    pub path: PathBuf,
    /// What told it apart when it was opened.
    pub stamp: Stamp,
    /// Length of its content when it was opened.
    pub size: u64,
    /// Permission bits, set-user-id and the like included.
    pub mode: u32,
}

impl Opened {
    pub(super) fn new(file: File, path: PathBuf, stat: &Stat) -> Opened {
        let stamp = stamp(stat);
        Opened { file, path, stamp, size: stamp.size, mode: permission_bits(stat) }
    }

    /// The file as a node, its content held up to `hold` bytes. `None` when somebody wrote to it
    /// meanwhile: then what was read belongs together with nothing. (One write that had begun before
    /// the file was opened cannot be told from one that had ended.)
    pub(super) fn node(mut self, hold: u64) -> io::Result<Option<FileNode>> {
        let content = match self.size <= hold {
            true => self.held()?,
            false => self.hashed()?,
        };
        let Some((digest, content)) = content else { return Ok(None) };
        if stamp(&fstat(&self.file)?) != self.stamp {
            return Ok(None);
        }
        Ok(Some(FileNode {
            digest,
            size: self.size,
            mode: self.mode,
            content,
            stamp: Some(self.stamp),
        }))
    }

    fn held(&mut self) -> io::Result<Option<(ContentDigest, Content)>> {
        let size = usize::try_from(self.size).map_err(|_| io::ErrorKind::OutOfMemory)?;
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(size.saturating_add(1)).map_err(|_| io::ErrorKind::OutOfMemory)?;
        self.at_most_one_more().read_to_end(&mut bytes)?;
        let whole = bytes.len() == size;
        Ok(whole.then(|| (ContentDigest::of(&bytes), Content::Bytes(bytes.into()))))
    }

    fn hashed(&mut self) -> io::Result<Option<(ContentDigest, Content)>> {
        let mut hasher = blake3::Hasher::new();
        let mut piece = vec![0; PIECE];
        let mut file = self.at_most_one_more();
        let mut read = 0;
        loop {
            let length = match file.read(&mut piece) {
                Ok(0) => break,
                Ok(length) => length,
                Err(err) if err.kind() == io::ErrorKind::Interrupted => continue,
                Err(err) => return Err(err),
            };
            read += length as u64;
            hasher.update(piece.get(..length).unwrap_or_default());
        }
        let digest = ContentDigest(*hasher.finalize().as_bytes());
        Ok((read == self.size).then_some((digest, Content::InPlace)))
    }

    /// A file that grows while it is read is not read for ever.
    fn at_most_one_more(&mut self) -> io::Take<&mut File> {
        let most = self.size.saturating_add(1);
        (&mut self.file).take(most)
    }
}

/// Permission bits, set-user-id and the like included.
#[allow(clippy::unnecessary_cast, reason = "the field has other widths on other machines")]
pub(crate) fn permission_bits(stat: &Stat) -> u32 {
    stat.st_mode as u32 & 0o7777
}

/// The device that a file is on.
#[allow(clippy::unnecessary_cast, reason = "the field has other widths on other machines")]
pub(crate) fn device(stat: &Stat) -> u64 {
    stat.st_dev as u64
}

/// What tells this state of a file from others.
pub(crate) fn stamp(stat: &Stat) -> Stamp {
    let nanoseconds = |seconds: i128, rest: i128| seconds * 1_000_000_000 + rest;
    Stamp {
        device: device(stat),
        inode: stat.st_ino,
        size: u64::try_from(stat.st_size).unwrap_or_default(),
        modified: nanoseconds(stat.st_mtime as i128, stat.st_mtime_nsec as i128),
        changed: nanoseconds(stat.st_ctime as i128, stat.st_ctime_nsec as i128),
    }
}

impl Files {
    /// The pattern that an open file fits, and what makes it secret, if its content does.
    pub(super) fn judge_content(&self, path: &Path, file: &File) -> Option<(&str, &'static str)> {
        let pattern = self.0.blocked.by_content(path)?;
        if self.0.blocked.must_be_tracked(path) && !eclusa_git::is_tracked(self.root(), path) {
            return Some((pattern, "settings that git does not track"));
        }
        if self.0.blocked.must_be_clean(path) && !eclusa_git::is_clean(self.root(), path) {
            return Some((pattern, "what git does not have"));
        }
        // What cannot be read here is not shown either.
        let holds = secret_in_file(file).unwrap_or(Some("what cannot be read"))?;
        Some((pattern, holds))
    }
}
