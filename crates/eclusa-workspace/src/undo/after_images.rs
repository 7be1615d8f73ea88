//! What calls made of files, so that it can be shown when the files are no longer so: `changes show` and
//! `diff` say what a call did, whatever was edited since.
//!
//! ```text
//! STATE/after/17    deflated: a line of JSON with the digest and length of each content, then all of them
//! ```
//!
//! Nothing rests on it: what is missing or damaged is not shown, and undo does not use it.

use std::{
    collections::HashMap,
    fs,
    io::{self, BufRead as _, Read as _, Write as _},
    path::{Path, PathBuf},
};

use flate2::{Compression, write::DeflateEncoder};
use rustix::fs::{Mode, OFlags};

use crate::{
    Changes, ContentDigest, Durability, Node, Workspace, commit::packed::unpack, private_file,
};

/// The largest content that is kept.
const MAX_CONTENT: u64 = 1 << 20;
/// The most that is kept of one call, before it is deflated.
const MAX_CALL: u64 = 8 << 20;
/// The most that is kept of all calls.
const MAX_BYTES: u64 = 64 << 20;
/// So often it is looked whether that is exceeded.
const EVERY: u64 = 16;

/// The contents that a call made, by their digests.
pub(super) type AfterImages = HashMap<[u8; 32], Vec<u8>>;

impl Workspace {
    /// Keeps what a call made of files, as they are in the workspace now. What cannot be kept cannot be
    /// shown later, and nothing else.
    pub(crate) fn keep_after(&self, call: u64, changes: &Changes) {
        let kept = self.write_after(call, changes).and_then(|()| match call % EVERY {
            0 => self.prune_after(MAX_BYTES),
            _ => Ok(()),
        });
        if let Err(err) = kept {
            tracing::debug!(%err, call, "what a call made of files is not kept");
        }
    }

    fn write_after(&self, call: u64, changes: &Changes) -> io::Result<()> {
        let (mut index, mut all) = (Vec::new(), Vec::new());
        for change in changes.iter() {
            let Some(file) = change.after.as_ref().and_then(Node::file) else { continue };
            let git = change.path.components().any(|it| it.as_os_str() == ".git");
            let room = MAX_CALL.saturating_sub(all.len() as u64);
            if git || file.size > MAX_CONTENT.min(room) {
                continue;
            }
            let Ok(bytes) = read_file(&self.root().join(&change.path), file.size) else { continue };
            // Somebody may have been quicker.
            if ContentDigest::of(&bytes) == file.digest {
                index.push((blake3::Hash::from_bytes(file.digest.0).to_string(), bytes.len()));
                all.extend(bytes);
            }
        }
        if index.is_empty() {
            return Ok(());
        }
        let directory = after(self.state());
        private_file::make_directory(&directory)?;
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
        serde_json::to_writer(&mut encoder, &index)?;
        encoder.write_all(b"\n")?;
        encoder.write_all(&all)?;
        let packed = encoder.finish()?;
        private_file::write(&directory.join(call.to_string()), packed, Durability::Crash)
    }

    /// Drops the oldest until not more than this is left.
    #[expect(clippy::disallowed_methods, reason = "the workspace's own state")]
    pub(super) fn prune_after(&self, room: u64) -> io::Result<()> {
        let mut kept = Vec::new();
        // Where nothing was kept there is no directory.
        for entry in fs::read_dir(after(self.state())).into_iter().flatten().flatten() {
            let call = entry.file_name().to_str().and_then(|it| it.parse::<u64>().ok());
            kept.extend(call.map(|call| (call, entry.path(), entry.metadata())));
        }
        kept.sort_unstable_by_key(|it| std::cmp::Reverse(it.0));
        let mut used = 0_u64;
        for (_, path, metadata) in kept {
            used = used.saturating_add(metadata.map_or(0, |it| it.len()));
            if used > room.min(MAX_BYTES) {
                fs::remove_file(path)?;
            }
        }
        Ok(())
    }
}

/// What a call made of files, as far as it is kept.
pub(super) fn read(state: &Path, call: u64) -> AfterImages {
    let read = || -> io::Result<AfterImages> {
        let file = fs::File::open(after(state).join(call.to_string()))?;
        let mut all = io::BufReader::new(unpack(file).take(2 * MAX_CALL));
        let mut line = String::new();
        all.read_line(&mut line)?;
        let index: Vec<(String, usize)> = serde_json::from_str(&line)?;
        let mut images = AfterImages::new();
        for (digest, length) in index {
            let mut bytes = vec![0; length.min(MAX_CONTENT as usize)];
            all.read_exact(&mut bytes)?;
            let right = ContentDigest::of(&bytes);
            if blake3::Hash::from_bytes(right.0).to_string() == digest {
                images.insert(right.0, bytes);
            }
        }
        Ok(images)
    };
    read().unwrap_or_default()
}

/// A file of the workspace that should be so long. Nothing else is waited for, and no link followed.
fn read_file(path: &Path, size: u64) -> io::Result<Vec<u8>> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = fs::File::from(rustix::fs::open(path, OFlags::RDONLY | flags, Mode::empty())?);
    let most = size.min(MAX_CONTENT) + 1;
    let mut bytes = Vec::with_capacity(usize::try_from(most).unwrap_or_default());
    file.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn after(state: &Path) -> PathBuf {
    state.join("after")
}
