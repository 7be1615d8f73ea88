//! Following a path by hand, link by link, to the name that it reaches.
//!
//! What comes out is a *name*: relative, no `..`, and without a link in it when it was looked at.
//! It gives no access. Whoever uses it opens it with [`Beneath::directory`](super::Beneath), which
//! refuses links, so that a link that was put there meanwhile is noticed and nothing is lost but
//! time.

use std::{
    ffi::{CString, OsStr, OsString},
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::ffi::OsStrExt,
    },
    path::PathBuf,
};

use rustix::{
    fs::{AtFlags, CWD, Dir, Mode, OFlags, fstat, openat, readlinkat, statat},
    io::Errno,
};

use super::{
    FileError, Files, Kind,
    beneath::SEARCH,
    error::{display_path, shown_names},
    requested_path::{RequestedPath, split},
};

/// So many links may be on the way: what Linux allows itself.
const LINKS: usize = 40;

/// Whether a link at the end of a path is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Last {
    /// Yes: what it leads to is meant.
    Followed,
    /// No: the link itself is meant.
    Itself,
}

/// What a name in a directory is.
enum PathStep {
    Directory(OwnedFd),
    Link(OsString),
    Other(Kind),
    Missing,
}

impl Files {
    /// The name that a path reaches. Every name that it passes through on the way is judged.
    pub(super) fn follow(&self, asked: &RequestedPath, last: Last) -> Result<PathBuf, FileError> {
        let mut todo = asked.parts.clone();
        let mut links = 0;
        if asked.absolute {
            todo = self.enter(asked, todo, &mut links)?;
        }
        todo.reverse();
        let mut done: Vec<OsString> = Vec::new();
        let mut here: Option<OwnedFd> = None;
        while let Some(name) = todo.pop() {
            match name.as_bytes() {
                b"." => continue,
                b".." if done.pop().is_some() => {
                    here = Some(self.reopened(asked, &done)?);
                    continue;
                }
                b".." => {
                    // Out of the workspace; it may still come back.
                    let mut path = self.above();
                    path.extend(todo.into_iter().rev());
                    todo = self.enter(asked, path, &mut links)?;
                    todo.reverse();
                    continue;
                }
                _ => {}
            }
            let above = here.as_ref().map_or_else(|| self.handle(), |it| it.as_fd());
            match step(above, &name).map_err(|err| FileError::io(&asked.shown, err))? {
                PathStep::Directory(handle) => {
                    done.push(self.spelled(above, name));
                    here = Some(handle);
                }
                PathStep::Link(_) if last == Last::Itself && todo.is_empty() => {
                    done.push(self.spelled(above, name));
                }
                PathStep::Link(_) if last == Last::Itself && todo.iter().all(|it| it == ".") => {
                    done.push(name);
                    return Err(not_a_directory(asked, &done, Kind::Link));
                }
                PathStep::Link(target) => {
                    links += 1;
                    if links > LINKS {
                        return Err(FileError::Loop { asked: asked.shown.clone() });
                    }
                    let on_the_way = done.iter().chain([&name]).chain(todo.iter().rev());
                    self.judge(asked, &on_the_way.filter(|it| *it != ".").collect::<PathBuf>())?;
                    let (absolute, mut path) = split(&target);
                    if absolute {
                        path.extend(todo.into_iter().rev());
                        path = self.enter(asked, path, &mut links)?;
                        todo = Vec::new();
                        (done, here) = (Vec::new(), None);
                    }
                    todo.extend(path.into_iter().rev());
                }
                PathStep::Other(kind) if !todo.is_empty() => {
                    done.push(name);
                    return Err(not_a_directory(asked, &done, kind));
                }
                PathStep::Other(_) => done.push(self.spelled(above, name)),
                PathStep::Missing if todo.iter().any(|it| it == "..") => {
                    return Err(self.missing_at(asked, &done, &name));
                }
                PathStep::Missing => {
                    done.push(name);
                    done.extend(todo.drain(..).rev().filter(|it| it != "."));
                }
            }
        }
        Ok(done.iter().collect())
    }

    /// What is left of an absolute path once it has come to the workspace.
    ///
    /// The workspace's own spellings are recognised in words. Any other way there is walked; links
    /// on it count like others, and links of `/proc`, which lead each process somewhere else, are
    /// not followed. Of a path that never gets there, nothing is told but that.
    fn enter(
        &self,
        asked: &RequestedPath,
        path: Vec<OsString>,
        links: &mut usize,
    ) -> Result<Vec<OsString>, FileError> {
        for spelling in self.spellings() {
            if let Some(rest) = path.strip_prefix(spelling.as_slice()) {
                return Ok(rest.to_vec());
            }
        }
        let outside = || FileError::Outside { asked: asked.shown.clone() };
        let mut todo: Vec<OsString> = path.into_iter().rev().collect();
        let top = || openat(CWD, "/", SEARCH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
        let mut here = top().map_err(|_| outside())?;
        while let Some(name) = todo.pop() {
            if name == "." {
                continue;
            }
            match step(here.as_fd(), &name).map_err(|_| outside())? {
                PathStep::Directory(handle) => here = handle,
                PathStep::Link(target) => {
                    *links += 1;
                    if *links > LINKS || is_proc(here.as_fd()) {
                        return Err(outside());
                    }
                    let (absolute, path) = split(&target);
                    if absolute {
                        here = top().map_err(|_| outside())?;
                    }
                    todo.extend(path.into_iter().rev());
                }
                PathStep::Other(_) | PathStep::Missing => return Err(outside()),
            }
            if self.is_root(here.as_fd()) {
                todo.reverse();
                return Ok(todo);
            }
        }
        Err(outside())
    }

    /// A directory that was passed already, opened again to go on from there.
    fn reopened(&self, asked: &RequestedPath, done: &[OsString]) -> Result<OwnedFd, FileError> {
        let name: PathBuf = done.iter().collect();
        let opened = self.beneath().directory(self.handle(), &name, SEARCH);
        opened.map_err(|err| match err {
            Errno::NOENT | Errno::LOOP | Errno::NOTDIR => {
                FileError::Changing { asked: asked.shown.clone() }
            }
            err => FileError::io(&asked.shown, err),
        })
    }

    fn missing_at(&self, asked: &RequestedPath, done: &[OsString], name: &OsStr) -> FileError {
        let path: PathBuf = done.iter().map(OsString::as_os_str).chain([name]).collect();
        let near = self.near(&path);
        FileError::NotFound { asked: asked.shown.clone(), near: near.map(|it| display_path(&it)) }
    }

    /// The name as the disk has it. Where the disk takes letters in either case, the name that was
    /// asked for can be another spelling, and one file would have two names.
    fn spelled(&self, directory: BorrowedFd<'_>, name: OsString) -> OsString {
        if !self.any_case() {
            return name;
        }
        stored(directory, &name).unwrap_or(name)
    }
}

/// Looks at one name, and follows nothing.
fn step(directory: BorrowedFd<'_>, name: &OsStr) -> rustix::io::Result<PathStep> {
    let flags = SEARCH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match openat(directory, name, flags, Mode::empty()) {
        Ok(handle) => return Ok(PathStep::Directory(handle)),
        Err(Errno::NOENT) => return Ok(PathStep::Missing),
        Err(Errno::LOOP | Errno::NOTDIR | Errno::MLINK) => {}
        Err(err) => return Err(err),
    }
    match readlinkat(directory, name, Vec::new()) {
        Ok(target) => Ok(PathStep::Link(to_os(target))),
        Err(Errno::INVAL) => match statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(PathStep::Other(Kind::of(&stat))),
            Err(Errno::NOENT) => Ok(PathStep::Missing),
            Err(err) => Err(err),
        },
        Err(Errno::NOENT) => Ok(PathStep::Missing),
        Err(err) => Err(err),
    }
}

/// The name under which a directory has what it also finds under `name`.
pub(super) fn stored(directory: BorrowedFd<'_>, name: &OsStr) -> Option<OsString> {
    let stat = statat(directory, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    let mut other = None;
    for entry in Dir::read_from(directory).ok()?.flatten() {
        let entry = OsStr::from_bytes(entry.file_name().to_bytes());
        if entry == name {
            return Some(name.to_owned());
        }
        // `..` of the workspace is nobody's business.
        if other.is_some() || entry == "." || entry == ".." {
            continue;
        }
        let found = statat(directory, entry, AtFlags::SYMLINK_NOFOLLOW).ok();
        if found.is_some_and(|it| (it.st_dev, it.st_ino) == (stat.st_dev, stat.st_ino)) {
            other = Some(entry.to_owned());
        }
    }
    other
}

/// True for a directory of `/proc`.
fn is_proc(directory: BorrowedFd<'_>) -> bool {
    // Every machine has one `/proc`, and its root tells its device from all others.
    let proc = statat(CWD, "/proc", AtFlags::SYMLINK_NOFOLLOW);
    proc.is_ok_and(|proc| fstat(directory).is_ok_and(|it| it.st_dev == proc.st_dev))
}

pub(super) fn to_os(text: CString) -> OsString {
    use std::os::unix::ffi::OsStringExt;
    OsString::from_vec(text.into_bytes())
}

fn not_a_directory(asked: &RequestedPath, path: &[OsString], kind: Kind) -> FileError {
    FileError::NotADirectory { asked: asked.shown.clone(), path: shown_names(path), kind }
}
