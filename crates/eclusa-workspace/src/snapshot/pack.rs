//! The contents of files, one after the other in one file: a file each would cost more to make than
//! to fill.

use std::{
    fs::File,
    io::{self, Read, Write},
    os::{fd::OwnedFd, unix::fs::FileExt as _},
};

use rustix::fs::{Mode, OFlags};

use super::manifest::SavedFile;
use crate::ContentDigest;

/// How much is written at once, and how large a file is that is read in parts.
const CHUNK: usize = 1 << 20;

/// A pack that contents are added to.
pub(super) struct Pack {
    file: File,
    /// How much is in the file.
    written: u64,
    /// What comes behind it.
    pending: Vec<u8>,
}

pub(super) fn open(dir: &OwnedFd) -> io::Result<File> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::openat(dir, "pack", flags, Mode::from_raw_mode(0o600))?))
}

impl Pack {
    /// The pack of which so much is known. What is behind that belongs to nobody.
    pub(super) fn open(dir: &OwnedFd, known: u64) -> io::Result<Pack> {
        let file = open(dir)?;
        if file.metadata()?.len() != known {
            file.set_len(known)?;
        }
        Ok(Pack { file, written: known, pending: Vec::with_capacity(2 * CHUNK) })
    }

    /// How much is in it.
    pub(super) fn len(&self) -> u64 {
        self.written + self.pending.len() as u64
    }

    /// Adds all of a file. `None`: it is larger than `most`.
    pub(super) fn add(
        &mut self,
        from: &mut File,
        most: u64,
    ) -> io::Result<Option<(ContentDigest, u64)>> {
        let start = self.pending.len();
        let most = most.saturating_add(1);
        let first = most.min(CHUNK as u64);
        let read = Read::take(&mut *from, first).read_to_end(&mut self.pending)? as u64;
        if read < CHUNK as u64 {
            let content = self.pending.get(start..).unwrap_or_default();
            let digest = ContentDigest::of(content);
            if self.pending.len() >= CHUNK {
                self.flush()?;
            }
            return Ok((read < most).then_some((digest, read)));
        }
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.pending.get(start..).unwrap_or_default());
        self.flush()?;
        let mut size = read;
        loop {
            let mut part = Read::take(&mut *from, (most - size).min(CHUNK as u64));
            let read = part.read_to_end(&mut self.pending)? as u64;
            hasher.update(&self.pending);
            self.flush()?;
            size += read;
            if read == 0 || size >= most {
                let digest = ContentDigest(*hasher.finalize().as_bytes());
                return Ok((size < most).then_some((digest, size)));
            }
        }
    }

    /// Forgets what was added last.
    pub(super) fn shrink(&mut self, to: u64) -> io::Result<()> {
        match to.checked_sub(self.written).and_then(|it| usize::try_from(it).ok()) {
            Some(pending) => self.pending.truncate(pending),
            None => {
                self.pending.clear();
                self.file.set_len(to)?;
                self.written = to;
            }
        }
        Ok(())
    }

    /// Writes what is pending.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        if let Err(err) = self.file.write_all_at(&self.pending, self.written) {
            // What was written of it may have filled the disk.
            let _ = self.file.set_len(self.written);
            return Err(err);
        }
        self.written += self.pending.len() as u64;
        self.pending.clear();
        Ok(())
    }
}

/// Writes a content of a pack to a file. An error of the kind `InvalidData`: it is not what was
/// packed.
pub(super) fn unpack(pack: &File, from: u64, saved: &SavedFile, to: &mut File) -> io::Result<()> {
    let mut hasher = blake3::Hasher::new();
    let mut buffer = vec![0; usize::try_from(saved.size).unwrap_or(CHUNK).clamp(1, CHUNK)];
    let mut done = 0;
    while done < saved.size {
        let wanted = usize::try_from(saved.size - done).unwrap_or(CHUNK).min(buffer.len());
        let part = buffer.get_mut(..wanted).unwrap_or_default();
        pack.read_exact_at(part, from + done).map_err(|err| match err.kind() {
            io::ErrorKind::UnexpectedEof => io::ErrorKind::InvalidData.into(),
            _ => err,
        })?;
        hasher.update(part);
        to.write_all(part)?;
        done += wanted as u64;
    }
    match *hasher.finalize().as_bytes() == saved.digest.0 {
        true => Ok(()),
        false => Err(io::ErrorKind::InvalidData.into()),
    }
}
