//! The index of a repository: which files git tracks, and what it holds of them.

use std::{
    collections::BTreeSet,
    fs::Metadata,
    io::ErrorKind,
    ops::Range,
    os::unix::{ffi::OsStrExt, fs::MetadataExt},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{SystemTime, UNIX_EPOCH},
};

use crate::{
    directory::{git_directory, read_small},
    sha1::blob_id,
};

#[cfg(test)]
mod tests;

/// What the index says of one path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexEntry {
    /// The name of its content.
    pub id: [u8; 20],
    /// Length of the file when git last looked, cut to 32 bits.
    pub size: u32,
    /// When the file had changed when git last looked, in nanoseconds since 1970.
    pub modified: i128,
    /// Whether it is in conflict: a merge left several versions.
    pub unmerged: bool,
}

/// The index, read.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct GitIndex {
    /// All paths, one behind the other.
    names: Vec<u8>,
    /// Where a path stands in `names`, and what is known of it; sorted by the bytes of the paths.
    entries: Vec<(Range<usize>, IndexEntry)>,
    /// Directories whose files are in a tree that git has written: a commit has them, or had.
    written: BTreeSet<PathBuf>,
}

/// The largest file that is compared with what git has of it.
const MAX_COMPARED: u64 = 4 << 20;

/// The largest index that is read.
const MAX_INDEX: u64 = 256 << 20;

impl GitIndex {
    /// Reads an index of version 2, 3 or 4 with names of 20 bytes; `None` for anything else.
    pub fn parse(bytes: &[u8]) -> Option<GitIndex> {
        let mut reader = IndexReader(bytes);
        if reader.take(4)? != b"DIRC" {
            return None;
        }
        let version = reader.number()?;
        if !(2..=4).contains(&version) {
            return None;
        }
        let mut index = GitIndex::default();
        let mut last: Vec<u8> = Vec::new();
        for _ in 0..reader.number()? {
            let entry = reader.entry(version, &mut last)?;
            let from = index.names.len();
            index.names.extend_from_slice(&last);
            index.entries.push((from..index.names.len(), entry));
        }
        index.arrange();
        // Extensions until the checksum.
        while reader.0.len() > 20 {
            let name = reader.take(4)?;
            let size = usize::try_from(reader.number()?).ok()?;
            let content = reader.take(size)?;
            match name {
                b"TREE" => {
                    let mut trees = IndexReader(content);
                    index.trees(&mut trees, Path::new(""), 0)?;
                }
                // The rest of the entries lies in another file.
                b"link" => return None,
                _ => {}
            }
        }
        Some(index)
    }

    /// Sorts the entries. A path that is there several times is in conflict.
    fn arrange(&mut self) {
        let names = std::mem::take(&mut self.names);
        let name = |at: &Range<usize>| names.get(at.clone()).unwrap_or_default();
        if !self.entries.is_sorted_by(|(a, _), (b, _)| name(a) <= name(b)) {
            self.entries.sort_by(|(a, _), (b, _)| name(a).cmp(name(b)));
        }
        self.entries.dedup_by(|(next, _), (kept, entry)| {
            let same = name(next) == name(kept);
            entry.unmerged |= same;
            same
        });
        self.names = names;
    }

    /// The path of an entry.
    fn name(&self, (at, _): &(Range<usize>, IndexEntry)) -> &[u8] {
        self.names.get(at.clone()).unwrap_or_default()
    }

    /// What it says of this path.
    pub fn get(&self, path: &Path) -> Option<&IndexEntry> {
        let path = path.as_os_str().as_bytes();
        let at = self.entries.binary_search_by(|it| self.name(it).cmp(path)).ok()?;
        self.entries.get(at).map(|(_, entry)| entry)
    }

    /// Every path that is tracked, in order.
    pub fn paths(&self) -> impl ExactSizeIterator<Item = &Path> {
        self.entries.iter().map(|it| Path::new(std::ffi::OsStr::from_bytes(self.name(it))))
    }

    /// True when git has written the directory of this path as a tree, and nothing in it was
    /// staged since.
    pub fn is_written(&self, path: &Path) -> bool {
        path.parent().is_some_and(|it| self.written.contains(it))
    }

    /// True when this path or something beneath it is tracked.
    pub fn tracks_beneath(&self, path: &Path) -> bool {
        let mut beneath = path.as_os_str().as_bytes().to_vec();
        if !beneath.is_empty() {
            beneath.push(b'/');
        }
        let at = self.entries.partition_point(|it| self.name(it) < beneath.as_slice());
        self.entries.get(at).is_some_and(|it| self.name(it).starts_with(&beneath))
            || self.get(path).is_some()
    }

    fn trees(&mut self, reader: &mut IndexReader<'_>, above: &Path, depth: usize) -> Option<()> {
        if depth > 256 {
            return None;
        }
        let name = Path::new(std::ffi::OsStr::from_bytes(reader.until(0)?));
        let path = if depth == 0 { PathBuf::new() } else { above.join(name) };
        let count: i64 = std::str::from_utf8(reader.until(b' ')?).ok()?.parse().ok()?;
        let trees: u32 = std::str::from_utf8(reader.until(b'\n')?).ok()?.parse().ok()?;
        if count >= 0 {
            reader.take(20)?;
            self.written.insert(path.clone());
        }
        for _ in 0..trees {
            self.trees(reader, &path, depth + 1)?;
        }
        Some(())
    }
}

/// What an index means, without what git only remembers of the files: path, mode, id, stage and flags of
/// each entry. Two indexes with the same meaning stage the same. `None` for one that is split or sparse,
/// has names of another length, or cannot be read.
#[must_use]
pub fn index_meaning(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut reader = IndexReader(bytes);
    if reader.take(4)? != b"DIRC" {
        return None;
    }
    let version = reader.number()?;
    if !(2..=4).contains(&version) {
        return None;
    }
    let (mut last, mut meaning) = (Vec::new(), Vec::new());
    for _ in 0..reader.number()? {
        let at = reader.0;
        reader.entry(version, &mut last)?;
        let (mode, id) = (at.get(24..28)?, at.get(40..60)?);
        let flags = u16::from_be_bytes(at.get(60..62)?.try_into().ok()?);
        let extended = version >= 3 && flags & 0x4000 != 0;
        let more = if extended { at.get(62..64)? } else { &[0, 0] };
        meaning.extend_from_slice(&last);
        meaning.push(0);
        meaning.extend_from_slice(mode);
        meaning.extend_from_slice(id);
        // Whether it counts as unchanged, and its stage; the rest is the length of the path.
        meaning.extend_from_slice(&(flags & 0xB000).to_be_bytes());
        meaning.extend_from_slice(more);
    }
    while reader.0.len() > 20 {
        let name = reader.take(4)?;
        let size = usize::try_from(reader.number()?).ok()?;
        reader.take(size)?;
        if matches!(name, b"link" | b"sdir") {
            return None;
        }
    }
    (reader.0.len() == 20).then_some(meaning)
}

/// True when git tracks this file of a workspace and has read it at some time.
///
/// An entry that was written into the index without looking at the file has no time: whoever cannot
/// read a file could make one, so that it says nothing.
#[must_use]
pub fn is_tracked(root: &Path, beneath: &Path) -> bool {
    let path = root.join(beneath);
    let found = path.ancestors().skip(1).find_map(|it| Some((it, git_directory(it)?)));
    let Some((tree, git)) = found else { return false };
    let index = read_index(&git);
    let entry = index.as_ref().zip(path.strip_prefix(tree).ok()).and_then(|(it, at)| it.get(at));
    entry.is_some_and(|it| it.modified != 0 && !it.unmerged)
}

/// True when git tracks this file of a workspace, and has exactly what is in it.
///
/// Whoever cannot read the file cannot make such an entry: its id is the digest of the content.
#[must_use]
pub fn is_clean(root: &Path, beneath: &Path) -> bool {
    let path = root.join(beneath);
    let found = path.ancestors().skip(1).find_map(|it| Some((it, git_directory(it)?)));
    let Some((tree, git)) = found else { return false };
    let index = read_index(&git);
    let entry = index.as_ref().zip(path.strip_prefix(tree).ok()).and_then(|(it, at)| it.get(at));
    let Some(entry) = entry.filter(|it| !it.unmerged) else { return false };
    read_small(&path, MAX_COMPARED).is_some_and(|it| blob_id(&it) == entry.id)
}

/// The index of a repository, from memory where the file is still the same. An empty one where
/// nothing was ever added; `None` where it cannot be understood.
#[must_use]
pub fn read_index(git: &Path) -> Option<Arc<GitIndex>> {
    static REMEMBERED: Mutex<Vec<(IndexStamp, Arc<GitIndex>)>> = Mutex::new(Vec::new());
    let path = git.join("index");
    let known = match path.symlink_metadata() {
        Ok(known) => known,
        Err(err) if err.kind() == ErrorKind::NotFound => return Some(Arc::default()),
        Err(_) => return None,
    };
    let stamp = IndexStamp::new(&known);
    let remembered = || REMEMBERED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, index)) = remembered().iter().find(|(it, _)| *it == stamp) {
        return Some(Arc::clone(index));
    }
    let index = Arc::new(GitIndex::parse(&read_small(&path, MAX_INDEX)?)?);
    // What was written a moment ago may be written again with the same stamp.
    let unchanged = path.symlink_metadata().is_ok_and(|it| IndexStamp::new(&it) == stamp);
    if unchanged && stamp.is_old() {
        let mut all = remembered();
        all.truncate(MAX_REMEMBERED - 1);
        all.insert(0, (stamp, Arc::clone(&index)));
    }
    Some(index)
}

/// How many indices are remembered.
const MAX_REMEMBERED: usize = 4;

/// An index this much younger than its reading, in seconds, may change unseen.
const SETTLED: i64 = 2;

/// What differs when a file was written again.
#[derive(PartialEq, Eq)]
struct IndexStamp {
    place: (u64, u64),
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl IndexStamp {
    fn new(known: &Metadata) -> IndexStamp {
        IndexStamp {
            place: (known.dev(), known.ino()),
            size: known.len(),
            modified: (known.mtime(), known.mtime_nsec()),
            changed: (known.ctime(), known.ctime_nsec()),
        }
    }

    fn is_old(&self) -> bool {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        i64::try_from(now).is_ok_and(|now| now.saturating_sub(self.changed.0) > SETTLED)
    }
}

/// What is left to read.
struct IndexReader<'a>(&'a [u8]);

impl<'a> IndexReader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<u32> {
        Some(u32::from_be_bytes(self.take(4)?.try_into().ok()?))
    }

    /// Up to a byte, which is passed over.
    fn until(&mut self, end: u8) -> Option<&'a [u8]> {
        let at = memchr::memchr(end, self.0)?;
        let taken = self.take(at)?;
        self.take(1)?;
        Some(taken)
    }

    /// One entry. `last` is the path of the one before it, on which version 4 builds, and then its own.
    fn entry(&mut self, version: u32, last: &mut Vec<u8>) -> Option<IndexEntry> {
        let before = self.0.len();
        self.take(8)?;
        let (seconds, nanoseconds) = (self.number()?, self.number()?);
        // Device, inode, mode, owner and group.
        self.take(20)?;
        let size = self.number()?;
        let id = self.take(20)?.try_into().ok()?;
        let flags = u16::from_be_bytes(self.take(2)?.try_into().ok()?);
        let extended = version >= 3 && flags & 0x4000 != 0;
        if extended {
            self.take(2)?;
        }
        if version == 4 {
            let strip = usize::try_from(self.variable()?).ok()?;
            let keep = last.len().checked_sub(strip)?;
            last.truncate(keep);
            last.extend_from_slice(self.until(0)?);
        } else {
            last.clear();
            last.extend_from_slice(self.until(0)?);
            // Entries are as long as a multiple of eight, with at least one byte behind the path.
            let taken = before - self.0.len();
            self.take(taken.next_multiple_of(8) - taken)?;
        }
        let modified = i128::from(seconds) * 1_000_000_000 + i128::from(nanoseconds);
        Some(IndexEntry { id, size, modified, unmerged: flags & 0x3000 != 0 })
    }

    /// A number of variable length, as packs have it for offsets.
    fn variable(&mut self) -> Option<u64> {
        let mut byte = *self.take(1)?.first()?;
        let mut value = u64::from(byte & 0x7F);
        while byte & 0x80 != 0 {
            byte = *self.take(1)?.first()?;
            value = value.checked_add(1)?.checked_mul(128)?.checked_add(u64::from(byte & 0x7F))?;
        }
        Some(value)
    }
}
