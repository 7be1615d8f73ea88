//! Takes a snapshot: walks over the workspace, and copies what the last snapshot does not know.

use std::{
    collections::{HashMap, HashSet},
    fs::File,
    io,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

use rustix::{
    fs::{Access, AtFlags, Mode},
    io::Errno,
};

use super::{
    Manifest, SnapshotDirs, SnapshotError, SnapshotOptions, What,
    foreign::{self, has_trusted_times},
    journal,
    live::is_live,
    manifest::{self, Copied, Saved, SavedFile},
    pack::{self, Pack},
    walk::{self, Closed, Found, Meta, Visitor, failed},
};
use crate::commit::{
    IoFailure, Workspace, attributes,
    stat::{self, Kind},
};

/// The clocks of filesystems are coarser than this at no setting: what changed so shortly before it
/// was read may change again with the same time.
const COARSE: i64 = 100_000_000;

/// Objects of git that are larger are linked and not copied: git never writes to them again.
const MAX_COPIED_OBJECT: u64 = 1 << 20;

/// What nothing refers to any more may take up so much of a pack, besides as much as is referred to.
const MAX_WASTED: u64 = 64 << 20;

/// Copies what is there and is not known yet.
pub(super) fn take(
    workspace: &Workspace,
    place: &SnapshotDirs,
    options: &SnapshotOptions,
) -> Result<Manifest, SnapshotError> {
    let at = place.path.join("pack");
    let boot = journal::boot().unwrap_or_default().into_bytes();
    let last = Manifest::load(&place.dir).filter(|it| is_good(it, &boot, place));
    if last.is_none() {
        let removed = manifest::remove(&place.dir, "manifest");
        removed.map_err(IoFailure::at("remove a manifest in", &place.path))?;
    }
    let old = last.unwrap_or_default();
    let pack = Pack::open(&place.dir, old.packed).map_err(IoFailure::at("open", &at))?;
    if !has_trusted_times(&place.root.root)
        && let Some(why) = foreign::shortcoming(&place.root.root)
    {
        return Err(SnapshotError::Uncovered { path: ".".into(), why });
    }
    workspace.step("walk before the command");
    let mut taker = Taker {
        workspace,
        place,
        options,
        state: workspace.state().strip_prefix(workspace.root()).ok().map(Path::to_owned),
        old: &old.entries,
        pack,
        entries: Vec::with_capacity(old.entries.len() + 64),
        bytes: 0,
        trusted: HashMap::new(),
    };
    let taken = taker.everything();
    if let Err(err) = taken {
        // What was added belongs to nobody, and may have filled the disk.
        let _ = taker.pack.shrink(old.packed);
        return Err(err);
    }
    workspace.step("end of the pack");
    taker.pack.flush().map_err(IoFailure::at("write", &at))?;
    let (packed, entries) = (taker.pack.len(), taker.entries);
    if entries == old.entries && packed == old.packed {
        return Ok(old);
    }
    workspace.step("manifest");
    let mut new = Manifest { entries, packed, boot, check: [0; 32] };
    new.save(&place.dir).map_err(IoFailure::at("write", &place.path.join("manifest")))?;
    drop_links(place, &new);
    Ok(new)
}

/// Whether the next snapshot can rest on this one: its pack is whole, as far as the power has not failed
/// since, and is not mostly what nothing refers to.
fn is_good(last: &Manifest, boot: &[u8], place: &SnapshotDirs) -> bool {
    let known = last.entries.iter().filter_map(|it| match it.file()?.at {
        Copied::Packed(_) => Some(it.file()?.size),
        Copied::Linked => None,
    });
    let wasted = last.packed.saturating_sub(known.sum());
    let pack = pack::open(&place.dir).and_then(|it| it.metadata());
    let is_whole = last.boot == boot && pack.is_ok_and(|it| it.len() >= last.packed);
    is_whole && wasted <= MAX_WASTED + last.packed / 2
}

struct Taker<'a> {
    workspace: &'a Workspace,
    place: &'a SnapshotDirs,
    options: &'a SnapshotOptions,
    /// The state, should it be inside the workspace.
    state: Option<PathBuf>,
    /// What is left of the last manifest.
    old: &'a [Saved],
    pack: Pack,
    entries: Vec<Saved>,
    bytes: u64,
    /// Whether times tell of every change, by device.
    trusted: HashMap<u64, bool>,
}

impl Visitor for Taker<'_> {
    fn name(&mut self, found: &Found<'_>) -> Result<bool, SnapshotError> {
        if self.state.as_deref() == Some(found.path) {
            return Ok(false);
        }
        if self.entries.len() > self.options.max_names {
            return Err(SnapshotError::TooLarge(format!("{} names", self.options.max_names)));
        }
        let old = self.last(found.path);
        let saved = match found.meta.kind() {
            Kind::File => self.file(found, old)?,
            Kind::Directory => self.directory(found, old)?,
            Kind::Link => {
                let target = stat::target(found.dir, found.name);
                saved(found, What::Link(target.map_err(|err| failed(found.path, err))?))
            }
            Kind::Other => saved(found, What::Special),
        };
        let enters = saved.what == What::Directory;
        self.entries.push(saved);
        Ok(enters)
    }

    fn closed(&mut self, found: &Found<'_>, why: Closed) -> Result<(), SnapshotError> {
        let Closed::Foreign = why else {
            let path = found.path.to_owned();
            return Err(SnapshotError::Uncovered { path, why: "it lies too deep" });
        };
        let foreign = self.foreign(found)?;
        self.entries.pop();
        self.entries.push(foreign);
        Ok(())
    }
}

fn saved(found: &Found<'_>, what: What) -> Saved {
    Saved { path: found.path.to_owned(), meta: found.meta, what, attributes: Vec::new() }
}

impl<'a> Taker<'a> {
    /// The workspace itself, and everything in it.
    fn everything(&mut self) -> Result<(), SnapshotError> {
        let (root, path) = (&self.place.root.root, self.workspace.root());
        let about = rustix::fs::fstat(root).map_err(|err| failed(path, err.into()))?;
        let attributes = attributes::read(root);
        let (path, meta) = (PathBuf::new(), Meta::from(about));
        self.entries.push(Saved { path, meta, what: What::Directory, attributes });
        walk::walk(root, Path::new(""), self)
    }

    /// What the last snapshot says of a path. Paths come in order.
    fn last(&mut self, path: &Path) -> Option<&'a Saved> {
        while let Some((first, rest)) = self.old.split_first() {
            if first.path.as_path() > path {
                return None;
            }
            self.old = rest;
            if first.path == path {
                return Some(first);
            }
        }
        None
    }

    fn directory(&self, found: &Found<'_>, old: Option<&Saved>) -> Result<Saved, SnapshotError> {
        let named = || self.options.live.iter().any(|it| it == found.path);
        if named() || is_live(self.workspace.root(), found.path) {
            return Ok(saved(found, What::Live));
        }
        let known = |it: &&Saved| it.what == What::Directory && it.meta.is_same(&found.meta);
        if let Some(old) = old.filter(known) {
            return Ok(old.clone());
        }
        let mut saved = saved(found, What::Directory);
        if let Ok(dir) = stat::open_dir(found.dir, found.name) {
            saved.attributes = attributes::read(&dir);
        }
        Ok(saved)
    }

    /// What cannot be read, and is not ours. Whoever may not remove it cannot change it.
    fn foreign(&self, found: &Found<'_>) -> Result<Saved, SnapshotError> {
        let writable = rustix::fs::accessat(found.dir, ".", Access::WRITE_OK, AtFlags::empty());
        if writable.is_ok() {
            let why = "it belongs to another user and cannot be read; make it readable, or name \
                       its directory in `commands.live`";
            return Err(SnapshotError::Uncovered { path: found.path.to_owned(), why });
        }
        Ok(saved(found, What::Foreign))
    }

    /// A file: as it is known, or copied.
    fn file(&mut self, found: &Found<'_>, old: Option<&'a Saved>) -> Result<Saved, SnapshotError> {
        let trusted = self.is_trusted(found);
        let known = old.and_then(|it| Some((it, it.file()?)));
        if let Some((saved, file)) = known
            && saved.meta.is_same(&found.meta)
            && file.is_settled
        {
            self.count(file.size)?;
            return Ok(saved.clone());
        }
        let now = now();
        let Some(mut file) = open(found).map_err(|err| failed(found.path, err))? else {
            return self.foreign(found);
        };
        let copy = |err| SnapshotError::Failed(IoFailure::at("copy", found.path)(err));
        let linked = self.link(found, &file).map_err(copy)?;
        let (digest, size, at) = match linked {
            Some((digest, size)) => (digest, size, Copied::Linked),
            None => {
                self.workspace.step("copy");
                let start = self.pack.len();
                let left = self.options.max_bytes.saturating_sub(self.bytes);
                if found.meta.size > left {
                    return Err(self.too_large());
                }
                let added = self.pack.add(&mut file, left).map_err(copy)?;
                let (digest, size) = added.ok_or_else(|| self.too_large())?;
                self.count(size)?;
                let same = known.filter(|(_, it)| it.digest == digest && it.at != Copied::Linked);
                if same.is_some() {
                    self.pack.shrink(start).map_err(copy)?;
                }
                (digest, size, same.map_or(Copied::Packed(start), |(_, it)| it.at))
            }
        };
        let meta = Meta::from(rustix::fs::fstat(&file).map_err(|err| copy(err.into()))?);
        let is_settled = trusted && meta.size == size && meta.changed < now - COARSE;
        let what = What::File(SavedFile { digest, size, at, is_settled });
        let attributes = attributes::read(&file);
        Ok(Saved { path: found.path.to_owned(), meta, what, attributes })
    }

    fn count(&mut self, bytes: u64) -> Result<(), SnapshotError> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > self.options.max_bytes { Err(self.too_large()) } else { Ok(()) }
    }

    fn too_large(&self) -> SnapshotError {
        SnapshotError::TooLarge(match self.options.max_bytes >> 20 {
            0 => format!("{} bytes", self.options.max_bytes),
            mib => format!("{mib} MiB in files"),
        })
    }

    /// Gives a large object of git another name in the state. `None`: it is none, or must be copied.
    fn link(
        &self,
        found: &Found<'_>,
        file: &File,
    ) -> io::Result<Option<(crate::ContentDigest, u64)>> {
        let mut parts = found.path.iter().skip_while(|it| *it != ".git");
        if found.meta.size <= MAX_COPIED_OBJECT || !parts.any(|it| it == "objects") {
            return Ok(None);
        }
        let links = self.place.links()?;
        let name = Saved::link_name(&found.meta);
        let none = AtFlags::empty();
        match rustix::fs::linkat(found.dir, found.name, &links, &*name, none) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(_) => return Ok(None),
        }
        Ok(Some((stat::digest_of(file.try_clone()?)?, found.meta.size)))
    }

    /// Whether times tell of every change on this filesystem.
    fn is_trusted(&mut self, found: &Found<'_>) -> bool {
        let compares_all = self.options.compares_all;
        let tells = || !compares_all && has_trusted_times(found.dir);
        *self.trusted.entry(found.dir_device).or_insert_with(tells)
    }
}

impl SnapshotDirs {
    /// The directory of links.
    pub(super) fn links(&self) -> io::Result<OwnedFd> {
        match rustix::fs::mkdirat(&self.dir, "links", Mode::from_raw_mode(0o700)) {
            Ok(()) | Err(Errno::EXIST) => stat::open_dir(&self.dir, "links".as_ref()),
            Err(err) => Err(err.into()),
        }
    }
}

/// Removes links that no file of a manifest has.
fn drop_links(place: &SnapshotDirs, manifest: &Manifest) {
    let Ok(links) = stat::open_dir(&place.dir, "links".as_ref()) else { return };
    let linked = manifest.entries.iter().filter(|it| match it.file() {
        Some(file) => file.at == Copied::Linked,
        None => false,
    });
    let linked: HashSet<String> = linked.map(|it| Saved::link_name(&it.meta)).collect();
    for name in stat::names(&links).unwrap_or_default() {
        if !name.to_str().is_some_and(|it| linked.contains(it)) {
            let _ = rustix::fs::unlinkat(&links, &name, AtFlags::empty());
        }
    }
}

/// Opens a file to read it. One of ours that we may not read is opened for a moment. `None`: it is
/// somebody else's.
fn open(found: &Found<'_>) -> io::Result<Option<File>> {
    let Found { dir, name, meta, .. } = found;
    match stat::open_file(dir, name) {
        Err(err) if err.kind() != io::ErrorKind::PermissionDenied => Err(err),
        Err(_) if !meta.is_ours() => Ok(None),
        Err(_) => {
            walk::set_mode(dir, name, meta.permissions() | 0o400)?;
            let opened = stat::open_file(dir, name);
            walk::set_mode(dir, name, meta.permissions())?;
            opened.map(Some)
        }
        opened => opened.map(Some),
    }
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}
