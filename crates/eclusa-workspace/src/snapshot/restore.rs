//! Puts a workspace back: what is new or other is moved aside, what was there is made again, and
//! modes and times come last. Doing it twice does no harm, so that whoever died in the middle is
//! followed by somebody who begins again.

use std::{
    collections::{BTreeSet, HashMap},
    ffi::OsStr,
    fs::{self, File},
    io,
    os::{fd::OwnedFd, unix::fs::DirBuilderExt as _},
    path::{Path, PathBuf},
    sync::Arc,
};

use rustix::{
    fs::{AtFlags, CWD, RenameFlags},
    io::Errno,
};

use super::{
    Journal, Manifest, SnapshotDirs, SnapshotError, What,
    compare::{Act, After, Difference},
    walk::{Meta, Seen},
};
use crate::commit::{
    IoFailure, Workspace,
    parents::{self, Parents},
    stat::{self, Kind},
};

pub(super) struct Restorer<'a> {
    pub(super) workspace: &'a Workspace,
    pub(super) place: &'a SnapshotDirs,
    pub(super) parents: Parents<'a>,
    pub(super) taken: PathBuf,
    /// There was no room for what the command changed.
    dropped: bool,
    pub(super) notes: Vec<String>,
    /// Directories whose mode or time may not be as it was.
    pub(super) disturbed: BTreeSet<PathBuf>,
    /// Where files with several names are.
    pub(super) linked: HashMap<(u64, u64), PathBuf>,
}

impl<'a> Restorer<'a> {
    pub(super) fn new(workspace: &'a Workspace, place: &'a SnapshotDirs) -> Restorer<'a> {
        Restorer {
            workspace,
            place,
            parents: Parents::new(&place.root),
            taken: place.path.join("taken"),
            dropped: false,
            notes: Vec::new(),
            disturbed: BTreeSet::new(),
            linked: HashMap::new(),
        }
    }

    /// Whether what the command changed is lost.
    pub(super) fn is_dropped(&self) -> bool {
        self.dropped
    }

    /// Makes the workspace what it was, and says what was not.
    pub(super) fn put_back<'m>(
        &mut self,
        manifest: &'m Manifest,
        journal: &Journal,
    ) -> Result<Vec<Difference<'m>>, IoFailure> {
        let root = self.workspace.root();
        let state = self.workspace.state().strip_prefix(root).ok().map(Path::to_owned);
        self.workspace.step("walk after the command");
        let walked = After::walk(&self.place.root.root, manifest, journal.began, state);
        let mut after = walked.map_err(|err| match err {
            SnapshotError::Failed(fault) => fault,
            other => IoFailure::at("walk over", root)(io::Error::other(other.to_string())),
        })?;
        let differences = after.differences(manifest, &mut self.parents);
        let differences = differences.map_err(IoFailure::at("compare", root))?;
        self.notes.append(&mut after.notes);
        self.linked = std::mem::take(&mut after.linked);
        self.disturbed.extend(after.opened.drain(..));
        for it in differences.iter().rev() {
            let away = match (&it.new, it.act) {
                (Some(new), Act::Take | Act::Replace) => self.take(new),
                (Some(new), Act::Rewrite) => self.copy_aside(new),
                _ => Ok(()),
            };
            away.map_err(IoFailure::at("move aside", it.path()))?;
        }
        for it in &differences {
            let back = match (it.old, &it.new, it.act) {
                (Some(old), _, Act::Make | Act::Replace) => self.make(old),
                (Some(old), _, Act::Rewrite) => self.rewrite(old),
                (Some(old), Some(new), Act::Touch) => self.touch(old, new),
                _ => Ok(()),
            };
            back.map_err(IoFailure::at("put back", it.path()))?;
        }
        self.workspace.step("directories of the snapshot");
        // The deepest first: it is reached through the others.
        let directories = manifest.entries.iter().rev().filter(|it| it.what == What::Directory);
        for old in directories.filter(|it| self.disturbed.contains(&it.path)).collect::<Vec<_>>() {
            self.settle(old).map_err(IoFailure::at("put back", &old.path))?;
        }
        Ok(differences)
    }

    /// The directory of a path, in which names can be made and removed.
    pub(super) fn parent(&mut self, path: &Path) -> io::Result<Arc<OwnedFd>> {
        let dir = self.parents.of(path)?;
        let parent = path.parent().unwrap_or(Path::new(""));
        if self.disturbed.insert(parent.to_owned()) {
            let meta = Meta::from(rustix::fs::fstat(&*dir)?);
            if meta.permissions() & 0o300 != 0o300 && meta.is_ours() {
                rustix::fs::fchmod(&*dir, stat::mode(meta.permissions() | 0o700))?;
            }
        }
        Ok(dir)
    }

    /// Removes what is new, and keeps its content.
    fn take(&mut self, seen: &Seen) -> io::Result<()> {
        self.workspace.step("take");
        let (dir, name) = (self.parent(&seen.path)?, parents::name(&seen.path));
        let flags = match seen.meta.kind() {
            Kind::File => return self.take_file(&dir, name, seen),
            Kind::Directory if seen.is_closed => {
                let to = self.aside(&seen.path)?;
                return Ok(rustix::fs::renameat(&*dir, name, CWD, to)?);
            }
            Kind::Directory => {
                self.parents.forget();
                AtFlags::REMOVEDIR
            }
            Kind::Link | Kind::Other => AtFlags::empty(),
        };
        remove(&dir, name, flags)
    }

    fn take_file(&mut self, dir: &OwnedFd, name: &OsStr, seen: &Seen) -> io::Result<()> {
        if !self.dropped && seen.meta.links == 1 {
            let mut to = self.aside(&seen.path)?;
            let moved = loop {
                match rustix::fs::renameat_with(dir, name, CWD, &to, RenameFlags::NOREPLACE) {
                    // It was taken before whoever did died: this is what somebody has saved since, or a
                    // part of what was being put back.
                    Err(Errno::EXIST) => to = another(&to),
                    moved => break moved,
                }
            };
            match moved {
                Ok(()) if seen.meta.permissions() & 0o600 == 0o600 => return Ok(()),
                // Whoever judges it reads it. One that is not ours cannot be read, and is told.
                Ok(()) => {
                    let mode = stat::mode(seen.meta.permissions() | 0o600);
                    let _ = rustix::fs::chmod(&to, mode);
                    return Ok(());
                }
                Err(Errno::NOENT) => return Ok(()),
                Err(Errno::XDEV | Errno::INVAL) => {}
                Err(err) => return Err(err.into()),
            }
        }
        self.copy_aside(seen)?;
        remove(dir, name, AtFlags::empty())
    }

    /// Copies what is in a file now, which has other names or lies on another filesystem.
    fn copy_aside(&mut self, seen: &Seen) -> io::Result<()> {
        if self.dropped {
            return Ok(());
        }
        self.workspace.step("copy aside");
        let dir = self.parent(&seen.path)?;
        // What cannot be read is left out, and told.
        let Ok(mut from) = stat::open_kept(&*dir, parents::name(&seen.path)) else {
            return Ok(());
        };
        let copied = self.aside(&seen.path).and_then(|to| copy_to(&mut from, to));
        match copied {
            Ok(()) => Ok(()),
            Err(err) if self.makes_room(&err) => Ok(()),
            Err(err) => Err(err),
        }
    }

    /// Where what was changed at a path is kept.
    fn aside(&mut self, path: &Path) -> io::Result<PathBuf> {
        let to = self.taken.join(path);
        if let Some(parent) = to.parent() {
            let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(parent);
            match made {
                Err(err) if self.makes_room(&err) => self.aside(path),
                made => made.map(|()| to),
            }
        } else {
            Ok(to)
        }
    }

    /// Does something, and again where the disk was full and there is room to be had.
    pub(super) fn retrying(
        &mut self,
        act: impl Fn(&Restorer<'a>) -> io::Result<()>,
    ) -> io::Result<()> {
        match act(self) {
            Err(err) if self.makes_room(&err) => act(self),
            done => done,
        }
    }

    /// Where the disk is full, drops what the command changed: what was there before matters more.
    fn makes_room(&mut self, err: &io::Error) -> bool {
        let full = matches!(Errno::from_io_error(err), Some(Errno::NOSPC | Errno::DQUOT));
        if !full || self.dropped {
            return false;
        }
        super::clear(&self.taken);
        self.dropped = true;
        true
    }
}

/// Copies to a new file, under another name where this one is taken.
fn copy_to(from: &mut File, mut to: PathBuf) -> io::Result<()> {
    loop {
        match File::options().write(true).create_new(true).open(&to) {
            Ok(mut made) => return io::copy(from, &mut made).map(drop),
            Err(err) if err.kind() == io::ErrorKind::AlreadyExists => to = another(&to),
            Err(err) => return Err(err),
        }
    }
}

/// The next name for what would have this one: `a.2` after `a`, `a.3` after that.
fn another(path: &Path) -> PathBuf {
    let count = path.extension().and_then(OsStr::to_str).and_then(|it| it.parse::<u32>().ok());
    match count {
        Some(count) if count > 1 => path.with_extension((count + 1).to_string()),
        _ => {
            let mut name = path.as_os_str().to_owned();
            name.push(".2");
            PathBuf::from(name)
        }
    }
}

/// Removes a name. Somebody else may have done so.
pub(super) fn remove(dir: &OwnedFd, name: &OsStr, flags: AtFlags) -> io::Result<()> {
    match rustix::fs::unlinkat(dir, name, flags) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(err) => Err(err.into()),
    }
}
