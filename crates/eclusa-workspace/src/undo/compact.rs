//! Makes what is kept for undo smaller, away from the way of any call: old contents go into the
//! store, and when that is too large, the oldest go for good, which is told.

use std::{
    collections::HashSet,
    fs::File,
    io::{self, Read, Write},
    os::fd::OwnedFd,
    path::PathBuf,
};

use rustix::fs::{AtFlags, Mode, OFlags};

use super::{
    history::{self, Past},
    plan,
};
use crate::{
    ContentDigest, Workspace,
    commit::{
        Dirs, IoFailure, KeptTally, packed,
        stat::{self, Kind, Stat},
    },
};

/// What is kept, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// This many of the latest transactions stay as they are: they are undone by renames.
    pub recent: usize,
    /// All that is kept may take this many bytes.
    pub bytes: u64,
}

/// What compaction did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Compacted {
    /// Calls whose old contents are now in the store.
    pub packed: Vec<u64>,
    /// Calls that can no longer be undone.
    pub evicted: Vec<DroppedUndo>,
    /// What is still kept, in bytes.
    pub bytes: u64,
}

/// A call that can no longer be undone, because what it replaced took too much space.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DroppedUndo {
    /// The call.
    pub call: u64,
    /// The paths whose old content is gone.
    pub paths: Vec<PathBuf>,
}

impl Workspace {
    /// Compresses what old transactions keep, and evicts the oldest if all of it is too large.
    /// Commits may go on meanwhile. Nothing is evicted without being in the answer.
    pub fn compact(&self, keep: Retention) -> Result<Compacted, IoFailure> {
        let _alone = self.compact_alone(true)?;
        self.compact_to(keep, keep.bytes)
    }

    /// The same; where something has to go, so much goes that not more than `target` bytes are left.
    /// INVARIANT: nobody else compacts.
    pub(super) fn compact_to(&self, keep: Retention, target: u64) -> Result<Compacted, IoFailure> {
        let at = |err| IoFailure::at("compact", self.state())(err);
        let dirs = self.dirs()?;
        let past = history::all(&dirs, self.state())?;
        let mut compacted = Compacted::default();
        let old = past.len().saturating_sub(keep.recent);
        for past in past.iter().take(old) {
            if self.pack(&dirs, past).map_err(at)? {
                compacted.packed.push(past.call);
            }
        }
        let held = self.hold()?;
        let kept = past.iter().map(|past| self.kept(&dirs, past));
        let mut kept = kept.collect::<io::Result<Vec<Kept>>>().map_err(at)?;
        compacted.bytes = self.prune(&kept).map_err(at)?;
        let mut allowed = keep.bytes;
        for (place, oldest) in past.iter().enumerate() {
            if compacted.bytes <= allowed {
                break;
            }
            if !self.evict(&dirs, oldest).map_err(at)? {
                continue;
            }
            allowed = target.min(keep.bytes);
            let journal = history::journal(&dirs, oldest, self.state());
            let journal =
                journal.map_err(|_| plan::damaged(self.state(), "a journal cannot be read"))?;
            let paths = journal.ops.into_iter().map(|it| it.path).collect();
            compacted.evicted.push(DroppedUndo { call: oldest.call, paths });
            if let Some(it) = kept.get_mut(place) {
                *it = Kept::default();
            }
            compacted.bytes = self.prune(&kept).map_err(at)?;
        }
        // What is only shown has the room that is left.
        self.prune_after(keep.bytes.saturating_sub(compacted.bytes)).map_err(at)?;
        held.set_tally(KeptTally { bytes: compacted.bytes, since: 0 }).map_err(at)?;
        drop(held);
        Ok(compacted)
    }

    /// Moves the files that a transaction keeps into the store. False: there were none.
    fn pack(&self, dirs: &Dirs, past: &Past) -> io::Result<bool> {
        let dir = stat::open_dir(&dirs.done, past.name.as_ref())?;
        let mut packed = Vec::new();
        for (slot, _) in files(&dir)? {
            // Compressing takes long, and nobody need wait for it.
            let mut file = stat::open_kept(&dir, slot.as_ref())?;
            let before = Stat::from(rustix::fs::fstat(&file)?);
            let mark = format!("{}-{slot}", past.name);
            let digest = packed::pack(self.state(), &mut file, &mark)?;
            packed.push((slot, before, digest));
        }
        if packed.is_empty() {
            return Ok(false);
        }
        self.step("pack");
        let _held = self.hold().map_err(io::Error::other)?;
        // An undo may have been quicker.
        packed.retain(|(slot, before, digest)| {
            let now = Stat::at(&dir, slot.as_ref()).ok().flatten();
            let same = now.is_some_and(|now| now.id == before.id);
            same && packed::path(self.state(), *digest).exists()
        });
        let mut list = read_list(&dir)?;
        for (_, _, digest) in &packed {
            list.push_str(&format!("{digest}\n"));
        }
        write_list(&dir, &list)?;
        self.step("unlink packed");
        for (slot, _, _) in &packed {
            rustix::fs::unlinkat(&dir, slot, AtFlags::empty())?;
        }
        Ok(true)
    }

    /// Forgets what a transaction keeps. False: it keeps nothing.
    fn evict(&self, dirs: &Dirs, past: &Past) -> io::Result<bool> {
        let dir = stat::open_dir(&dirs.done, past.name.as_ref())?;
        let files = files(&dir)?;
        if (files.is_empty() && read_list(&dir)?.is_empty())
            || history::is_evicted(dirs, &past.name)
        {
            return Ok(false);
        }
        self.step("evict");
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::CLOEXEC;
        rustix::fs::openat(&dir, "evicted", flags, Mode::from_raw_mode(0o600))?;
        for (slot, _) in files {
            rustix::fs::unlinkat(&dir, slot, AtFlags::empty())?;
        }
        write_list(&dir, "")?;
        Ok(true)
    }

    /// What a transaction keeps.
    fn kept(&self, dirs: &Dirs, past: &Past) -> io::Result<Kept> {
        let dir = stat::open_dir(&dirs.done, past.name.as_ref())?;
        let loose = files(&dir)?.iter().map(|(_, stat)| stat.id.size).sum();
        let stored = |line: &str| {
            let hash = blake3::Hash::from_hex(line).map_err(io::Error::other)?;
            Ok(packed::path(self.state(), ContentDigest(*hash.as_bytes())))
        };
        let stored = read_list(&dir)?.lines().map(stored).collect::<io::Result<_>>()?;
        Ok(Kept { loose, stored })
    }

    /// Removes from the store what no transaction needs, and says what all that is kept takes.
    fn prune(&self, kept: &[Kept]) -> io::Result<u64> {
        let needed: HashSet<&PathBuf> = kept.iter().flat_map(|it| &it.stored).collect();
        let stored = packed::prune(self.state(), &needed)?;
        Ok(kept.iter().map(|it| it.loose).sum::<u64>().saturating_add(stored))
    }
}

/// What one transaction keeps: files of its own, in bytes, and contents in the store.
#[derive(Default)]
struct Kept {
    loose: u64,
    stored: Vec<PathBuf>,
}

/// The files in the slots of a transaction.
fn files(dir: &OwnedFd) -> io::Result<Vec<(String, Stat)>> {
    let mut files = Vec::new();
    for name in stat::names(dir)? {
        let Ok(name) = name.into_string() else { continue };
        if name.parse::<usize>().is_err() {
            continue;
        }
        if let Some(stat) = Stat::at(dir, name.as_ref())?.filter(|it| it.kind == Kind::File) {
            files.push((name, stat));
        }
    }
    Ok(files)
}

/// What a transaction has in the store: a digest in each line.
fn read_list(dir: &OwnedFd) -> io::Result<String> {
    let mut list = String::new();
    match stat::open_file(dir, "packed".as_ref()) {
        Ok(mut file) => file.read_to_string(&mut list).map(|_| list),
        Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(list),
        Err(err) => Err(err),
    }
}

fn write_list(dir: &OwnedFd, list: &str) -> io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::CLOEXEC;
    let file = rustix::fs::openat(dir, "packed.part", flags, Mode::from_raw_mode(0o600))?;
    let mut file = File::from(file);
    file.write_all(list.as_bytes())?;
    file.sync_data()?;
    rustix::fs::renameat(dir, "packed.part", dir, "packed")?;
    Ok(rustix::fs::fsync(dir)?)
}
