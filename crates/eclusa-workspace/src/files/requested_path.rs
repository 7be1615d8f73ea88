//! A path as it was asked for, taken apart. Nothing here looks at a disk.

use std::{
    ffi::{OsStr, OsString},
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use super::FileError;

/// The longest path that Linux takes, without its final NUL.
const MAX_PATH: usize = 4095;
/// The longest name that the common filesystems take.
const MAX_NAME: usize = 255;
/// So much of a path that is too long is shown.
const SHOWN: usize = 60;

/// A path that somebody asked for.
#[derive(Debug)]
pub(super) struct RequestedPath {
    /// As it stands in messages.
    pub(super) shown: String,
    /// It starts at the root of the machine.
    pub(super) absolute: bool,
    /// Its names. `..` is one of them; `.` only at the end, where it says that the path means a
    /// directory.
    pub(super) parts: Vec<OsString>,
}

impl RequestedPath {
    /// Takes a path apart that a model wrote.
    pub(super) fn new(text: &OsStr) -> Result<RequestedPath, FileError> {
        let bytes = text.as_bytes();
        if bytes.is_empty() {
            return Err(FileError::Empty);
        }
        let shown = crate::one_line(&text.to_string_lossy());
        if bytes.contains(&0) {
            return Err(FileError::Nul { asked: shown });
        }
        let names = || bytes.split(|it| *it == b'/');
        if bytes.len() > MAX_PATH || names().any(|it| it.len() > MAX_NAME) {
            return Err(FileError::TooLong { asked: shown.chars().take(SHOWN).collect() });
        }
        let mut first = names();
        if let Some([b'~', rest @ ..]) = first.next()
            && (rest.is_empty() || first.next().is_some())
        {
            return Err(FileError::Home { asked: shown });
        }
        let (absolute, parts) = split(text);
        Ok(RequestedPath { shown, absolute, parts })
    }

    /// The path itself, if it is nothing but names: relative, no `..`, not ending in a slash.
    pub(super) fn plain(&self) -> Option<PathBuf> {
        let plain = !self.absolute && self.parts.iter().all(|it| it != ".." && it != ".");
        plain.then(|| self.parts.iter().collect())
    }
}

/// The names of a path, and whether it is absolute. A slash or a dot at the end becomes a `.`.
pub(super) fn split(path: &OsStr) -> (bool, Vec<OsString>) {
    let bytes = path.as_bytes();
    let mut parts: Vec<OsString> = bytes
        .split(|it| *it == b'/')
        .filter(|it| !it.is_empty() && *it != b".")
        .map(|it| OsStr::from_bytes(it).to_owned())
        .collect();
    if bytes.ends_with(b"/") || bytes.ends_with(b"/.") || bytes == b"." {
        parts.push(".".into());
    }
    (bytes.starts_with(b"/"), parts)
}

/// The names of an absolute path that has no `.` and no `..`.
pub(super) fn names(path: &Path) -> Option<Vec<OsString>> {
    let (absolute, parts) = split(path.as_os_str());
    let parts: Vec<OsString> = parts.into_iter().filter(|it| it != ".").collect();
    (absolute && !parts.iter().any(|it| it == "..")).then_some(parts)
}

/// Where parts lead from a directory at `base`, in words alone: `..` takes back the name before
/// it.
pub(super) fn climb<'a>(
    base: &'a [OsString],
    parts: impl IntoIterator<Item = &'a OsString>,
) -> Vec<&'a OsString> {
    let mut path: Vec<&OsString> = base.iter().collect();
    for part in parts {
        match part.as_bytes() {
            b"." => {}
            b".." => {
                path.pop();
            }
            _ => path.push(part),
        }
    }
    path
}
