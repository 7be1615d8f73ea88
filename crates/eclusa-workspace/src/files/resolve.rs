//! From a path to a place: judged in words, judged where it leads, and opened as far as its
//! directory.

use std::{
    ffi::OsString,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    sync::Arc,
};

use rustix::{
    fs::{AtFlags, CWD, Stat, fstat, statat},
    io::Errno,
};

use super::{
    FileError, Files, Kind, TRIES,
    beneath::SEARCH,
    error::display_path,
    follow::Last,
    requested_path::{self, RequestedPath},
};

/// A name that was judged, and the open directory that it is in.
pub(super) struct Resolved {
    pub(super) path: PathBuf,
    /// `None` when that directory is not there, or when the place is the workspace itself.
    pub(super) directory: Option<Arc<OwnedFd>>,
    /// What is there.
    pub(super) stat: Option<Stat>,
}

impl Files {
    /// Goes from a path to a place: judged, and opened as far as its directory.
    pub(super) fn resolve(&self, asked: &RequestedPath, last: Last) -> Result<Resolved, FileError> {
        let name = self.named(asked)?;
        // Nearly all paths are plain and have no links in them; then one look is enough.
        let mut quick = asked.plain().filter(|_| !self.any_case());
        for _ in 0..TRIES {
            let path = match quick.take() {
                Some(path) => path,
                None => self.follow(asked, last)?,
            };
            if path != name {
                self.judge(asked, &path)?;
            }
            if let Some(place) = self.place(asked, path, last)? {
                return Ok(place);
            }
        }
        Err(FileError::Changing { asked: asked.shown.clone() })
    }

    /// The place with this very name. `None`: there is a link in it.
    fn place(
        &self,
        asked: &RequestedPath,
        path: PathBuf,
        last: Last,
    ) -> Result<Option<Resolved>, FileError> {
        let failed = |err: Errno| FileError::io(&asked.shown, err);
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            let stat = Some(fstat(self.handle()).map_err(failed)?);
            return Ok(Some(Resolved { path, directory: None, stat }));
        };
        let directory = match parent.as_os_str().is_empty() {
            true => Ok(self.0.handle.clone()),
            false => self.beneath().directory(self.handle(), parent, SEARCH).map(Arc::new),
        };
        let directory = match directory {
            Ok(directory) => directory,
            Err(Errno::NOENT) => return self.nothing(path).map(Some),
            Err(err) if is_swapped(err) => return Ok(None),
            Err(err) => return Err(failed(err)),
        };
        match statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) if Kind::of(&stat) == Kind::Link && last == Last::Followed => Ok(None),
            Ok(stat) => Ok(Some(Resolved { path, directory: Some(directory), stat: Some(stat) })),
            Err(Errno::NOENT) => self.nothing(path).map(Some),
            Err(err) => Err(failed(err)),
        }
    }

    /// A place with nothing in it, in a workspace that is there.
    fn nothing(&self, path: PathBuf) -> Result<Resolved, FileError> {
        match self.gone() {
            Some(gone) => Err(gone),
            None => Ok(Resolved { path, directory: None, stat: None }),
        }
    }

    pub(super) fn gone(&self) -> Option<FileError> {
        let deleted = fstat(self.handle()).is_ok_and(|it| it.st_nlink == 0);
        let moved = || matches!(statat(CWD, self.root(), AtFlags::empty()), Err(Errno::NOENT));
        (deleted || moved()).then(|| FileError::vanished(self.root()))
    }

    /// The name in words, judged; empty for the workspace itself.
    pub(super) fn named(&self, asked: &RequestedPath) -> Result<PathBuf, FileError> {
        let name = match asked.plain() {
            Some(plain) => plain,
            None => self.in_words(asked)?,
        };
        self.judge(asked, &name)?;
        Ok(name)
    }

    fn in_words(&self, asked: &RequestedPath) -> Result<PathBuf, FileError> {
        for spelling in self.spellings() {
            let base: &[OsString] = if asked.absolute { &[] } else { spelling };
            let path = requested_path::climb(base, &asked.parts);
            let inside = path.len() >= spelling.len()
                && spelling.iter().zip(&path).all(|(root, name)| root == *name);
            if inside {
                return Ok(path.into_iter().skip(spelling.len()).collect());
            }
        }
        // Another spelling of the workspace, perhaps.
        match asked.absolute {
            true => self.follow(asked, Last::Itself),
            false => Err(FileError::Outside { asked: asked.shown.clone() }),
        }
    }

    /// Refuses a name that is blocked.
    pub(super) fn judge(&self, asked: &RequestedPath, path: &Path) -> Result<(), FileError> {
        let Some(pattern) = self.is_blocked(path) else { return Ok(()) };
        let reached = display_path(path);
        let reached = (reached != asked.shown).then_some(reached);
        Err(FileError::Blocked { asked: asked.shown.clone(), reached, pattern: pattern.to_owned() })
    }
}

/// True for what the system says when a name is not what it was a moment ago: a link, gone, moved
/// out of the workspace, or not a directory any more.
pub(super) fn is_swapped(err: Errno) -> bool {
    matches!(err, Errno::LOOP | Errno::NOTDIR | Errno::NOENT | Errno::MLINK | Errno::XDEV)
}
