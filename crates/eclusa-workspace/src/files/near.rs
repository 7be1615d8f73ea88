//! What was probably meant by a path that is not there.

use std::{
    ffi::OsStr,
    os::{fd::AsFd, unix::ffi::OsStrExt},
    path::{Path, PathBuf},
};

use rustix::fs::{AtFlags, Dir, OFlags, statat};

use super::Files;

/// So many names of a directory are compared.
const COMPARED: usize = 4096;

impl Files {
    /// A path that is there, differs in one name, and looks like this one. Nothing that is blocked
    /// is ever proposed.
    pub(super) fn near(&self, path: &Path) -> Option<PathBuf> {
        let mut names = path.iter();
        let mut there = PathBuf::new();
        let missing = names.find(|name| {
            there.push(name);
            let found = self.is_there(&there);
            if !found {
                there.pop();
            }
            !found
        })?;
        let near = self.nearest(&there, missing.to_str()?)?;
        let rest: PathBuf = names.collect();
        let candidate = there.join(near);
        let candidate = if rest.as_os_str().is_empty() { candidate } else { candidate.join(rest) };
        (self.is_blocked(&candidate).is_none() && self.is_there(&candidate)).then_some(candidate)
    }

    fn is_there(&self, path: &Path) -> bool {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return false };
        let parent = self.beneath().directory(self.handle(), parent, super::beneath::SEARCH);
        parent.is_ok_and(|it| statat(&it, name, AtFlags::SYMLINK_NOFOLLOW).is_ok())
    }

    /// The name in a directory that is nearest to a word, if one is near enough.
    fn nearest(&self, directory: &Path, word: &str) -> Option<String> {
        let handle = self.beneath().directory(self.handle(), directory, OFlags::RDONLY).ok()?;
        let far = (word.chars().count() / 3).max(1) + 1;
        let lower = word.to_lowercase();
        Dir::read_from(handle.as_fd())
            .ok()?
            .flatten()
            .take(COMPARED)
            .filter_map(|entry| {
                let name = OsStr::from_bytes(entry.file_name().to_bytes()).to_str()?.to_owned();
                (name != "." && name != "..").then_some(name)
            })
            .map(|name| (strsim::damerau_levenshtein(&lower, &name.to_lowercase()), name))
            .filter(|(distance, name)| {
                *distance <= far && self.is_blocked(&directory.join(name)).is_none()
            })
            .min()
            .map(|(_, name)| name)
    }
}
