//! Open handles of the directories that changes are made in, reached without following any link.

use std::{
    collections::HashMap,
    ffi::OsStr,
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::{Path, PathBuf},
    sync::Arc,
};

use rustix::{fs::OFlags, io::Errno};

use crate::{
    files::beneath::{SEARCH, open_directory},
    places::GIT,
};

/// How many handles are kept: well below what a process may have.
const MAX_OPEN: usize = 64;

/// The workspace, open, and the repository elsewhere that holds what is beneath its `.git`.
#[derive(Debug, Clone)]
pub(crate) struct RootDirs {
    pub(crate) root: Arc<OwnedFd>,
    pub(crate) linked: Option<Arc<OwnedFd>>,
}

impl AsFd for RootDirs {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.root.as_fd()
    }
}

/// Directories of the workspace by path. A stage of a commit uses handles of its own, so that it
/// sees a directory that was moved away since the stage before.
pub(crate) struct Parents<'a> {
    root: &'a RootDirs,
    open: HashMap<PathBuf, Arc<OwnedFd>>,
    last: Option<(PathBuf, Arc<OwnedFd>)>,
}

impl<'a> Parents<'a> {
    pub(crate) fn new(root: &'a RootDirs) -> Parents<'a> {
        Parents { root, open: HashMap::new(), last: None }
    }

    /// The directory that holds this path.
    ///
    /// Fails with `NotFound` or `NotADirectory` if it is not there, and with a loop if the
    /// way to it leads through a link.
    pub(crate) fn of(&mut self, path: &Path) -> io::Result<Arc<OwnedFd>> {
        let parent = path.parent().unwrap_or(Path::new(""));
        // The workspace itself was opened for this transaction.
        if parent.as_os_str().is_empty() {
            return Ok(self.root.root.clone());
        }
        if let Some((at, handle)) = &self.last
            && at == parent
        {
            return Ok(handle.clone());
        }
        let handle = match self.open.get(parent) {
            Some(handle) => handle.clone(),
            None => {
                let handle = self.open(parent)?;
                if self.open.len() >= MAX_OPEN {
                    self.open.clear();
                }
                self.open.insert(parent.to_owned(), handle.clone());
                handle
            }
        };
        self.last = Some((parent.to_owned(), handle.clone()));
        Ok(handle)
    }

    fn open(&self, parent: &Path) -> io::Result<Arc<OwnedFd>> {
        Ok(match self.root.linked.as_ref().zip(parent.strip_prefix(GIT).ok()) {
            Some((linked, rest)) if rest.as_os_str().is_empty() => linked.clone(),
            Some((linked, rest)) => Arc::new(open(linked, rest)?),
            None => Arc::new(open(&self.root.root, parent)?),
        })
    }

    /// Forgets all handles, because a directory was moved.
    pub(crate) fn forget(&mut self) {
        self.open.clear();
        self.last = None;
    }
}

/// Opens a directory. One that may not be listed is good for looking up names, which is all that
/// most steps need.
fn open(root: &OwnedFd, path: &Path) -> rustix::io::Result<OwnedFd> {
    match open_directory(root.as_fd(), path, OFlags::RDONLY) {
        Err(Errno::ACCESS) => open_directory(root.as_fd(), path, SEARCH),
        opened => opened,
    }
}

/// The last part of a path that has been checked to be made of names. The empty path is the
/// workspace itself.
pub(crate) fn name(path: &Path) -> &OsStr {
    path.file_name().unwrap_or(OsStr::new("."))
}

/// True for an error that says that a directory on the way may not be searched.
pub(crate) fn is_shut(err: &io::Error) -> bool {
    Errno::from_io_error(err) == Some(Errno::ACCESS)
}

/// True for an error of [`Parents::of`] that says that there is no such directory.
pub(crate) fn is_absent(err: &io::Error) -> bool {
    let errno = Errno::from_io_error(err);
    errno.is_some_and(|it| matches!(it, Errno::NOENT | Errno::NOTDIR | Errno::LOOP))
}
