//! Whether the disk of the workspace tells small letters from capitals.

use std::{
    ffi::OsStr,
    os::{fd::BorrowedFd, unix::ffi::OsStrExt},
};

use rustix::fs::{AtFlags, Dir, FileType, statat};

/// So many names are looked at before giving up.
const LOOKED_AT: usize = 64;

/// True where a name in the other case finds the same thing. Nothing is written to find out, so of
/// an empty workspace nobody knows; names are then taken as they are written.
pub(super) fn is_any(directory: BorrowedFd<'_>) -> bool {
    let Ok(entries) = Dir::read_from(directory) else { return false };
    entries
        .flatten()
        .take(LOOKED_AT)
        .find_map(|it| {
            let name = it.file_name().to_bytes();
            let other = swapped(name)?;
            let stat = |name: &[u8]| {
                statat(directory, OsStr::from_bytes(name), AtFlags::SYMLINK_NOFOLLOW).ok()
            };
            let here = stat(name)?;
            // Two names of one file say nothing.
            let directory = FileType::from_raw_mode(here.st_mode) == FileType::Directory;
            if here.st_nlink > 1 && !directory {
                return None;
            }
            Some(
                stat(&other).is_some_and(|it| (it.st_dev, it.st_ino) == (here.st_dev, here.st_ino)),
            )
        })
        .unwrap_or(false)
}

/// The name in the other case, if it has letters.
fn swapped(name: &[u8]) -> Option<Vec<u8>> {
    let other: Vec<u8> = name
        .iter()
        .map(|it| {
            if it.is_ascii_lowercase() { it.to_ascii_uppercase() } else { it.to_ascii_lowercase() }
        })
        .collect();
    (other != name).then_some(other)
}
