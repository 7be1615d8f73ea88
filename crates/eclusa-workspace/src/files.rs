//! The one way to a file of the workspace, for every tool and every rule.
//!
//! [`Files`] holds an open handle of the workspace, and everything is opened beneath it. A path is
//! taken in three steps, and there is nothing between them that a swapped link could slip into:
//!
//! 1. The name asked for is judged in words, before anything is looked at ([`Files::name`]).
//! 2. Links are followed by hand (`follow.rs`) to the name reached, which is judged as well, and
//!    so is every name on the way. This gives a name and no access.
//! 3. The directory of that very name is opened from the handle without following any link
//!    (`beneath.rs`), and the file in it likewise. If a link is there now, step 2 is done again.
//!
//! So what is opened is what was judged. The opened object is then looked at: only regular files
//! are read, and a pipe or a device is never waited for. Hard links are not told from other files:
//! a second name of an outside file *is* a file of the workspace, made by somebody who could read
//! it, as package managers do. Writing replaces the name, leaves the other file alone and says so.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::{Component, Path, PathBuf},
    sync::Arc,
};

use rustix::{
    fs::{AtFlags, CWD, Dir, Mode, OFlags, Stat, fcntl_setfl, fstat, openat, readlinkat, statat},
    io::Errno,
};

use crate::Node;

pub(crate) mod beneath;
mod blocked;
mod case;
mod error;
mod follow;
mod hold;
mod in_memory;
mod links;
mod listing;
mod near;
mod read;
mod requested_path;
mod resolve;
mod secret_content;
mod secret_names;
mod secret_places;
#[cfg(test)]
mod tests;

pub use beneath::Beneath;
pub use blocked::Blocked;
pub use error::FileError;
pub use listing::{DirEntry, Kind, OpenedDirectory};
pub use read::Opened;
use read::{device, permission_bits};
pub use secret_content::{may_hold_secret, secret_in, secret_in_file};
pub use secret_names::SECRET_NAMES;
pub use secret_places::{SECRET_PLACES, SYSTEM_SECRETS, secret_places};

use error::display_path;
use follow::Last;
use hold::Hold;
use requested_path::RequestedPath;
use resolve::{Resolved, is_swapped};

/// How often a path is resolved again while links or contents change.
const TRIES: usize = 16;
/// How often a file is read again that was written to meanwhile.
const READS: usize = 3;

/// The files of a workspace. A clone is the same workspace.
#[derive(Debug, Clone)]
pub struct Files(Arc<Workspace>);

#[derive(Debug)]
struct Workspace {
    root: PathBuf,
    /// The names of the absolute paths that are known to mean the workspace.
    spellings: Vec<Vec<OsString>>,
    handle: Arc<OwnedFd>,
    device_and_inode: (u64, u64),
    beneath: Beneath,
    any_case: bool,
    blocked: Blocked,
}

/// What is at a place in the workspace now: the `before` of a [`Change`](crate::Change).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathState {
    /// The name that was reached, relative to the workspace, without a link in it.
    pub path: PathBuf,
    /// What is there. `None`: nothing.
    pub node: Option<Node>,
}

impl Files {
    /// The workspace at `root`.
    pub fn open(root: &Path, blocked: Blocked) -> Result<Files, FileError> {
        Files::open_as(root, blocked, None)
    }

    /// The same, with this way of opening beneath instead of the best that this machine has: for
    /// tests that hold both to the same.
    pub fn open_with(root: &Path, blocked: Blocked, how: Beneath) -> Result<Files, FileError> {
        Files::open_as(root, blocked, Some(how))
    }

    fn open_as(root: &Path, blocked: Blocked, how: Option<Beneath>) -> Result<Files, FileError> {
        let failed = |err: Errno| match err {
            Errno::NOENT => FileError::vanished(root),
            err => FileError::io(&display_path(root), err),
        };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = openat(CWD, root, flags, Mode::empty()).map_err(failed)?;
        let stat = fstat(&handle).map_err(failed)?;
        let given =
            std::path::absolute(root).map_err(|err| FileError::io(&display_path(root), err))?;
        let real = root.canonicalize().map_err(|err| FileError::io(&display_path(root), err))?;
        // What was opened and what has this path are the same, or the path was swapped meanwhile.
        let named = statat(CWD, &real, AtFlags::empty()).map_err(failed)?;
        if (named.st_dev, named.st_ino) != (stat.st_dev, stat.st_ino) {
            return Err(FileError::vanished(root));
        }
        let mut spellings: Vec<_> =
            [&real, &given].into_iter().filter_map(|it| requested_path::names(it)).collect();
        spellings.dedup();
        Ok(Files(Arc::new(Workspace {
            root: real,
            spellings,
            device_and_inode: (device(&stat), stat.st_ino),
            beneath: how.unwrap_or_else(|| Beneath::new(handle.as_fd())),
            any_case: case::is_any(handle.as_fd()),
            handle: Arc::new(handle),
            blocked,
        })))
    }

    /// Where the workspace is: absolute, without links. For showing, and for programs that are
    /// started there; files are reached through the methods here.
    pub fn root(&self) -> &Path {
        &self.0.root
    }

    /// How directories are opened beneath the workspace on this machine.
    pub fn beneath(&self) -> Beneath {
        self.0.beneath
    }

    /// True where the disk takes names that differ only in the case of letters for the same.
    pub fn any_case(&self) -> bool {
        self.0.any_case
    }

    /// Which files nobody may see.
    pub fn blocked(&self) -> &Blocked {
        &self.0.blocked
    }

    /// The pattern that blocks a path, which is relative to the workspace.
    pub fn is_blocked(&self, path: &Path) -> Option<&str> {
        self.0.blocked.by(path)
    }

    /// The name asked for, relative to the workspace, in words alone: `..` takes back the name
    /// before it, and `.` is the workspace itself. It is judged; where it leads is not known yet.
    /// Only an absolute path that does not begin like the workspace's is looked at, in case it is
    /// another way there.
    pub fn name(&self, asked: &str) -> Result<PathBuf, FileError> {
        let name = self.named(&RequestedPath::new(OsStr::new(asked))?)?;
        Ok(if name.as_os_str().is_empty() { PathBuf::from(".") } else { name })
    }

    /// Opens a file for reading.
    pub fn file(&self, asked: &str) -> Result<Opened, FileError> {
        self.read(&RequestedPath::new(OsStr::new(asked))?)
    }

    /// Opens a file that was found by walking the workspace, whose name need not be UTF-8. It is
    /// judged and checked like any other.
    pub fn reach(&self, path: &Path) -> Result<Opened, FileError> {
        match self.at_once(path) {
            Some(opened) => Ok(opened),
            None => self.read(&RequestedPath::new(path.as_os_str())?),
        }
    }

    /// A file with this very name, opened in one call: whoever walks has just seen one there.
    fn at_once(&self, path: &Path) -> Option<Opened> {
        let is_name = |it: &Component<'_>| matches!(it, Component::Normal(_));
        let plain: PathBuf = path.components().filter(is_name).collect();
        // Spelt in the one way in which it was judged.
        let path = Some(plain).filter(|it| it.as_os_str() == path.as_os_str())?;
        if self.any_case() || self.is_blocked(&path).is_some() {
            return None;
        }
        let file = File::from(self.beneath().file(self.handle(), &path)?);
        let stat = fstat(&file).ok().filter(|it| Kind::of(it) == Kind::File)?;
        if self.judge_content(&path, &file).is_some() {
            return None;
        }
        Some(Opened::new(file, path, &stat))
    }

    /// What a path leads to, links followed: for what reads or writes a file. Content of up to
    /// `hold` bytes is held, that of a larger file is hashed and stays where it is.
    pub fn node(&self, asked: impl AsRef<OsStr>, hold: u64) -> Result<PathState, FileError> {
        self.led_to(&RequestedPath::new(asked.as_ref())?, Hold::OrHash(hold))
    }

    /// The same for files of up to `most` bytes: a larger one is refused and not read.
    pub fn small_node(&self, asked: impl AsRef<OsStr>, most: u64) -> Result<PathState, FileError> {
        self.led_to(&RequestedPath::new(asked.as_ref())?, Hold::OrRefuse(most))
    }

    fn led_to(&self, asked: &RequestedPath, hold: Hold) -> Result<PathState, FileError> {
        let found = self.found(asked, hold, Last::Followed)?;
        if found.node.is_none() && asked.parts.last().is_some_and(|it| it == ".") {
            return Err(self.missing(&asked.shown));
        }
        Ok(found)
    }

    /// What has this very name, a link at its end not followed: for what deletes, moves or makes.
    pub fn entry(&self, asked: impl AsRef<OsStr>, hold: u64) -> Result<PathState, FileError> {
        self.found(&RequestedPath::new(asked.as_ref())?, Hold::OrHash(hold), Last::Itself)
    }

    /// Opens a directory to list it.
    pub fn directory(&self, asked: impl AsRef<OsStr>) -> Result<OpenedDirectory, FileError> {
        let asked = RequestedPath::new(asked.as_ref())?;
        for _ in 0..TRIES {
            let place = self.resolve(&asked, Last::Followed)?;
            let Some(stat) = &place.stat else { return Err(self.missing(&asked.shown)) };
            if Kind::of(stat) != Kind::Directory {
                let (path, kind) = (display_path(&place.path), Kind::of(stat));
                return Err(FileError::NotADirectory { asked: asked.shown, path, kind });
            }
            let handle = self.beneath().directory(self.handle(), &place.path, OFlags::RDONLY);
            match handle.and_then(Dir::new) {
                Ok(entries) => {
                    return Ok(OpenedDirectory::new(
                        self.clone(),
                        place.path,
                        asked.shown,
                        entries,
                    ));
                }
                Err(err) if is_swapped(err) => {}
                Err(err) => return Err(FileError::io(&asked.shown, err)),
            }
        }
        Err(FileError::Changing { asked: asked.shown })
    }

    /// The open directory that a path is in, and the path's last name: for changing what is there.
    /// The path is one that was reached before; no link is followed on the way, nor in the end by
    /// whoever uses the name with `renameat` or `unlinkat`.
    pub fn parent(&self, path: &Path) -> Result<(OwnedFd, OsString), FileError> {
        let asked = RequestedPath::new(path.as_os_str())?;
        let Some(plain) = asked.plain() else {
            return Err(FileError::Outside { asked: asked.shown });
        };
        self.judge(&asked, &plain)?;
        let (Some(parent), Some(name)) = (plain.parent(), plain.file_name()) else {
            return Err(FileError::Workspace { asked: asked.shown });
        };
        let handle = self.beneath().directory(self.handle(), parent, OFlags::RDONLY);
        let handle = handle.map_err(|err| match err {
            Errno::NOENT => self.gone().unwrap_or_else(|| self.missing(&asked.shown)),
            err if is_swapped(err) => FileError::Linked { asked: asked.shown.clone() },
            err => FileError::io(&asked.shown, err),
        })?;
        Ok((handle, name.to_owned()))
    }

    /// The error for a path at which nothing is, with a guess at what was meant.
    pub fn missing(&self, asked: &str) -> FileError {
        let near = RequestedPath::new(OsStr::new(asked)).and_then(|it| self.named(&it));
        let near = near.ok().and_then(|it| self.near(&it)).map(|it| display_path(&it));
        FileError::NotFound { asked: crate::one_line(asked), near }
    }

    /// An error unless the workspace still has its path: for whoever walks it by that path. What is
    /// opened here is the workspace wherever it is by now.
    pub fn still_there(&self) -> Result<(), FileError> {
        let here = statat(CWD, self.root(), AtFlags::SYMLINK_NOFOLLOW);
        match here.is_ok_and(|it| (device(&it), it.st_ino) == self.0.device_and_inode) {
            true => Ok(()),
            false => Err(FileError::vanished(self.root())),
        }
    }

    fn found(&self, asked: &RequestedPath, hold: Hold, last: Last) -> Result<PathState, FileError> {
        let mut reads = 0;
        for _ in 0..TRIES {
            let place = self.resolve(asked, last)?;
            let Some(stat) = &place.stat else {
                return Ok(PathState { path: place.path, node: None });
            };
            let name = place.path.file_name();
            let (Some(directory), Some(name)) = (&place.directory, name) else {
                return Err(FileError::Workspace { asked: asked.shown.clone() });
            };
            let node = match Kind::of(stat) {
                Kind::Directory => Node::Directory { mode: permission_bits(stat) },
                Kind::Link => match readlinkat(directory, name, Vec::new()) {
                    Ok(target) => Node::Link { target: follow::to_os(target).into() },
                    Err(Errno::INVAL | Errno::NOENT) => continue,
                    Err(err) => return Err(FileError::io(&asked.shown, err)),
                },
                _ => {
                    let Some(opened) = self.opened(asked, &place)? else { continue };
                    let hold = hold.checked(asked, opened.size)?;
                    match opened.node(hold).map_err(|err| FileError::io(&asked.shown, err))? {
                        Some(node) => Node::File(node),
                        None if reads + 1 == READS => break,
                        None => {
                            reads += 1;
                            continue;
                        }
                    }
                }
            };
            return Ok(PathState { path: place.path, node: Some(node) });
        }
        Err(FileError::Changing { asked: asked.shown.clone() })
    }

    fn read(&self, asked: &RequestedPath) -> Result<Opened, FileError> {
        for _ in 0..TRIES {
            let place = self.resolve(asked, Last::Followed)?;
            if place.stat.is_none() {
                return Err(self.missing(&asked.shown));
            }
            if let Some(opened) = self.opened(asked, &place)? {
                return Ok(opened);
            }
        }
        Err(FileError::Changing { asked: asked.shown.clone() })
    }

    /// Opens what is at a place, if it is a file. `None`: something else is there by now.
    fn opened(&self, asked: &RequestedPath, place: &Resolved) -> Result<Option<Opened>, FileError> {
        let not_a_file = |stat: &Stat| {
            Err(FileError::NotAFile { asked: asked.shown.clone(), kind: Kind::of(stat) })
        };
        // Opening alone can have effects (it wakes who waits at the other end of a pipe), so what
        // is no file is not even opened. What is swapped in after this look is opened without
        // waiting, and found out.
        if let Some(stat) = place.stat.filter(|it| Kind::of(it) != Kind::File) {
            return not_a_file(&stat);
        }
        let (Some(directory), Some(name)) = (&place.directory, place.path.file_name()) else {
            return Ok(None);
        };
        let wary = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = match openat(directory, name, OFlags::RDONLY | wary, Mode::empty()) {
            Ok(handle) => File::from(handle),
            Err(err) if is_swapped(err) => return Ok(None),
            Err(err) => return Err(FileError::io(&asked.shown, err)),
        };
        let failed = |err: Errno| FileError::io(&asked.shown, err);
        let stat = fstat(&file).map_err(failed)?;
        if Kind::of(&stat) != Kind::File {
            return not_a_file(&stat);
        }
        fcntl_setfl(&file, OFlags::empty()).map_err(failed)?;
        if let Some((pattern, holds)) = self.judge_content(&place.path, &file) {
            let (asked, pattern) = (asked.shown.clone(), pattern.to_owned());
            return Err(FileError::SecretContent { asked, pattern, holds });
        }
        Ok(Some(Opened::new(file, place.path.clone(), &stat)))
    }

    fn handle(&self) -> BorrowedFd<'_> {
        self.0.handle.as_fd()
    }

    fn spellings(&self) -> &[Vec<OsString>] {
        &self.0.spellings
    }

    /// The names of the directory that the workspace is in.
    fn above(&self) -> Vec<OsString> {
        let mut names = self.spellings().first().cloned().unwrap_or_default();
        names.pop();
        names
    }

    fn is_root(&self, directory: BorrowedFd<'_>) -> bool {
        fstat(directory).is_ok_and(|it| (device(&it), it.st_ino) == self.0.device_and_inode)
    }
}
