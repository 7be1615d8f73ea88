//! What differs between a workspace after a command and its snapshot.

use std::{
    collections::{HashMap, HashSet},
    io,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

use super::{
    Manifest, SnapshotError, What,
    manifest::{Copied, Saved},
    walk::{self, Closed, Found, Meta, Seen, Visitor, failed},
};
use crate::{
    ContentDigest,
    commit::{
        parents::{self, Parents},
        stat::{self, Kind},
    },
};

/// What must be done so that a path is as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    /// It is gone, and is made again.
    Make,
    /// It is new, and is taken away.
    Take,
    /// Something else is there.
    Replace,
    /// Another content is in the same file, which has other names too.
    Rewrite,
    /// Its mode, time, owner or attributes may differ.
    Touch,
}

/// A path that may not be as it was.
#[derive(Debug)]
pub(super) struct Difference<'a> {
    pub(super) act: Act,
    pub(super) old: Option<&'a Saved>,
    pub(super) new: Option<Seen>,
    /// What the new file holds, as far as it was read.
    pub(super) digest: Option<ContentDigest>,
    /// What the new link says.
    pub(super) target: Option<PathBuf>,
}

impl Difference<'_> {
    pub(super) fn path(&self) -> &Path {
        let new = self.new.as_ref().map(|it| it.path.as_path());
        new.or(self.old.map(|it| it.path.as_path())).unwrap_or(Path::new(""))
    }
}

/// What a walk after a command found.
#[derive(Default)]
pub(super) struct After<'a> {
    state: Option<PathBuf>,
    live: HashSet<&'a Path>,
    /// When the command began.
    began: i64,
    seen: Vec<Seen>,
    /// Directories that had to be opened.
    pub(super) opened: Vec<PathBuf>,
    pub(super) notes: Vec<String>,
    /// Where files with several names are that have not lost them.
    pub(super) linked: HashMap<(u64, u64), PathBuf>,
}

impl Visitor for After<'_> {
    fn name(&mut self, found: &Found<'_>) -> Result<bool, SnapshotError> {
        if self.state.as_deref() == Some(found.path) {
            return Ok(false);
        }
        let (path, meta) = (found.path.to_owned(), found.meta);
        self.seen.push(Seen { path, meta, is_closed: false });
        if !self.live.contains(found.path) {
            return Ok(true);
        }
        if meta.kind() == Kind::Directory {
            let changed = count_changed(found, self.began);
            let files = if changed == 1 { "file" } else { "files" };
            let path = crate::one_line(&found.path.to_string_lossy());
            if changed > 0 {
                self.notes.push(format!("changed {changed} {files} in `{path}`, which stay"));
            }
        }
        Ok(false)
    }

    fn closed(&mut self, _: &Found<'_>, _: Closed) -> Result<(), SnapshotError> {
        self.seen.iter_mut().next_back().into_iter().for_each(|it| it.is_closed = true);
        Ok(())
    }

    fn leaves_open(&mut self, path: &Path) -> bool {
        self.opened.push(path.to_owned());
        true
    }
}

impl<'a> After<'a> {
    /// Walks over the workspace. `state` is where the state is in it, if it is.
    pub(super) fn walk(
        root: &OwnedFd,
        manifest: &'a Manifest,
        began: i64,
        state: Option<PathBuf>,
    ) -> Result<After<'a>, SnapshotError> {
        let live = manifest.entries.iter().filter(|it| it.what == What::Live);
        let live = live.map(|it| it.path.as_path()).collect();
        let mut after = After { state, live, began, ..After::default() };
        let about = rustix::fs::fstat(root).map_err(|err| failed(Path::new("."), err.into()))?;
        let (path, meta) = (PathBuf::new(), Meta::from(about));
        after.seen.push(Seen { path, meta, is_closed: false });
        walk::walk(root, Path::new(""), &mut after)?;
        Ok(after)
    }

    /// Compares with the snapshot, path by path: both are in order.
    pub(super) fn differences(
        &mut self,
        manifest: &'a Manifest,
        parents: &mut Parents<'_>,
    ) -> io::Result<Vec<Difference<'a>>> {
        let bare = |act, old, new| Difference { act, old, new, digest: None, target: None };
        let mut found = Vec::new();
        let mut seen = std::mem::take(&mut self.seen).into_iter().peekable();
        for old in &manifest.entries {
            while let Some(new) = seen.next_if(|it| it.path < old.path) {
                found.push(bare(Act::Take, None, Some(new)));
            }
            match seen.next_if(|it| it.path == old.path) {
                Some(new) => found.extend(self.pair(old, new, parents)?),
                None => match old.what {
                    What::Foreign => {}
                    What::Live => {
                        let path = crate::one_line(&old.path.to_string_lossy());
                        self.notes.push(format!("removed `{path}`, which is not put back"));
                    }
                    _ => found.push(bare(Act::Make, Some(old), None)),
                },
            }
        }
        found.extend(seen.map(|new| bare(Act::Take, None, Some(new))));
        for it in &mut found {
            if let (None, Some(new)) = (&it.target, &it.new)
                && new.meta.kind() == Kind::Link
            {
                it.target = Some(read_link(&new.path, parents)?);
            }
        }
        Ok(found)
    }

    /// What became of a path that is still there. `None`: nothing.
    fn pair(
        &mut self,
        old: &'a Saved,
        new: Seen,
        parents: &mut Parents<'_>,
    ) -> io::Result<Option<Difference<'a>>> {
        let is_same_inode = old.meta.is_same_inode(&new.meta);
        if is_same_inode && old.meta.links > 1 && old.file().is_some() {
            self.linked.insert((old.meta.device, old.meta.inode), old.path.clone());
        }
        let is_settled = old.file().is_none_or(|it| it.is_settled);
        if is_settled && old.meta.is_same(&new.meta) {
            return Ok(None);
        }
        let (mut digest, mut target) = (None, None);
        let act = match (&old.what, new.meta.kind()) {
            (What::Foreign, _) | (What::Live, Kind::Directory) => return Ok(None),
            (What::Live, _) => {
                let act = Act::Take;
                return Ok(Some(Difference { act, old: None, new: Some(new), digest, target }));
            }
            (What::Directory, Kind::Directory) => Act::Touch,
            (What::File(file), Kind::File) => {
                digest = read_file(&new.path, parents);
                let is_shared = old.meta.links > 1 || new.meta.links > 1;
                match file.at {
                    _ if digest == Some(file.digest) => Act::Touch,
                    Copied::Linked if is_same_inode => {
                        self.notes.push(format!(
                            "overwrote `{}` in place, which cannot be put back: fetch it again",
                            crate::one_line(&old.path.to_string_lossy())
                        ));
                        return Ok(None);
                    }
                    _ if is_same_inode && is_shared => Act::Rewrite,
                    _ => Act::Replace,
                }
            }
            (What::Link(was), Kind::Link) => {
                let is = read_link(&new.path, parents)?;
                let act = if is == *was { Act::Touch } else { Act::Replace };
                target = Some(is);
                act
            }
            (What::Special, Kind::Other) => {
                let sort = |it: &Meta| (it.file_type(), it.special);
                if sort(&old.meta) == sort(&new.meta) { Act::Touch } else { Act::Replace }
            }
            _ => Act::Replace,
        };
        Ok(Some(Difference { act, old: Some(old), new: Some(new), digest, target }))
    }
}

fn read_link(path: &Path, parents: &mut Parents<'_>) -> io::Result<PathBuf> {
    stat::target(&*parents.of(path)?, parents::name(path))
}

/// The digest of a file. What cannot be read is another content.
fn read_file(path: &Path, parents: &mut Parents<'_>) -> Option<ContentDigest> {
    let dir = parents.of(path).ok()?;
    stat::open_kept(&*dir, parents::name(path)).and_then(stat::digest_of).ok()
}

/// How many files below a directory have changed since.
fn count_changed(found: &Found<'_>, since: i64) -> usize {
    struct Counter(i64, usize);
    impl Visitor for Counter {
        fn name(&mut self, found: &Found<'_>) -> Result<bool, SnapshotError> {
            let is_file = found.meta.kind() != Kind::Directory;
            self.1 += usize::from(is_file && found.meta.changed >= self.0);
            Ok(true)
        }

        fn closed(&mut self, _: &Found<'_>, _: Closed) -> Result<(), SnapshotError> {
            Ok(())
        }
    }
    let mut counter = Counter(since, 0);
    if let Ok(dir) = stat::open_dir(found.dir, found.name) {
        // What cannot be looked at is not counted.
        let _ = walk::walk(&dir, found.path, &mut counter);
    }
    counter.1
}
