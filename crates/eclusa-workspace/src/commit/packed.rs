//! Contents of old transactions: compressed, and each kept once under its digest.

use std::{
    collections::{BTreeMap, HashSet},
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};

use flate2::{Compression, read::DeflateDecoder, write::DeflateEncoder};
use rustix::fs::{CWD, Mode, OFlags};

use crate::ContentDigest;

/// Where a content is kept, or would be.
pub(crate) fn path(state: &Path, digest: ContentDigest) -> PathBuf {
    let hex = blake3::Hash::from_bytes(digest.0).to_hex().to_string();
    let (directory, name) = hex.split_at_checked(2).unwrap_or(("", &hex));
    state.join("store").join(directory).join(name)
}

/// Reads a kept content.
pub(crate) fn unpack(file: File) -> impl Read {
    DeflateDecoder::new(io::BufReader::new(file))
}

/// Keeps a content, unless it is kept already, and returns its digest.
pub(crate) fn pack(state: &Path, from: &mut dyn Read, mark: &str) -> io::Result<ContentDigest> {
    let part = state.join("store").join(format!("part-{mark}"));
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::CLOEXEC;
    let file = rustix::fs::open(&part, flags, Mode::from_raw_mode(0o600))?;
    let mut encoder =
        DeflateEncoder::new(io::BufWriter::new(File::from(file)), Compression::fast());
    let digest = super::prepare::copy(from, &mut encoder)?;
    let file = encoder.finish()?.into_inner().map_err(io::IntoInnerError::into_error)?;
    // What it replaces is deleted next, so it must be on the disk for good.
    file.sync_data()?;
    let place = path(state, digest);
    if let Some(directory) = place.parent() {
        std::fs::create_dir_all(directory)?;
    }
    rustix::fs::renameat(CWD, &part, CWD, &place)?;
    if let Some(directory) = place.parent() {
        File::open(directory)?.sync_all()?;
    }
    Ok(digest)
}

/// What is kept, and how many bytes each takes.
pub(crate) fn kept(state: &Path) -> io::Result<BTreeMap<PathBuf, u64>> {
    let mut kept = BTreeMap::new();
    for directory in std::fs::read_dir(state.join("store"))? {
        let directory = directory?;
        if !directory.file_type()?.is_dir() {
            continue;
        }
        for content in std::fs::read_dir(directory.path())? {
            let content = content?;
            kept.insert(content.path(), content.metadata()?.len());
        }
    }
    Ok(kept)
}

/// Removes what nobody needs any more, and says how many bytes the rest takes.
pub(crate) fn prune(state: &Path, needed: &HashSet<&PathBuf>) -> io::Result<u64> {
    let mut left = 0;
    for (path, bytes) in kept(state)? {
        match needed.contains(&path) {
            true => left += bytes,
            false => rustix::fs::unlink(&path)?,
        }
    }
    Ok(left)
}
