//! Where a repository is, and the way its files are read.

use std::{
    ffi::OsStr,
    fs::{File, OpenOptions},
    io::{self, Read},
    os::unix::{ffi::OsStrExt as _, fs::OpenOptionsExt},
    path::{Path, PathBuf},
};

/// The directory of the repository whose working tree begins here.
#[must_use]
pub fn git_directory(tree: &Path) -> Option<PathBuf> {
    let git = tree.join(".git");
    let kind = git.symlink_metadata().ok()?.file_type();
    if kind.is_dir() {
        return git.join("HEAD").symlink_metadata().is_ok().then_some(git);
    }
    let text = read_small(&git, 4096)?;
    let text = String::from_utf8_lossy(&text);
    let elsewhere = tree.join(text.strip_prefix("gitdir:")?.trim());
    elsewhere.join("HEAD").is_file().then_some(elsewhere)
}

/// What is in a file, if it is one, is no link and is not too large.
#[must_use]
pub fn read_small(path: &Path, most: u64) -> Option<Vec<u8>> {
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(flags.bits().cast_signed());
    let file: File = options.open(path).ok()?;
    let known = file.metadata().ok()?;
    if !known.is_file() || known.len() > most {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= most).then_some(bytes)
}

/// Bytes of a file that says where a repository is. Git takes no longer one.
const MAX_POINTER: u64 = 1 << 20;

/// What is in a file that says where a repository is, followed where it is a link as git follows it.
/// `None` where there is none. A pipe, a device or a file that is too large is an error, and is not
/// read: a repository can hold any of them.
pub fn read_pointer(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let opened = OpenOptions::new().read(true).custom_flags(flags).open(path);
    let file = match opened {
        Err(err)
            if matches!(err.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            return Ok(None);
        }
        opened => opened?,
    };
    let known = file.metadata()?;
    if known.is_dir() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    if known.is_file() {
        file.take(MAX_POINTER + 1).read_to_end(&mut bytes)?;
    }
    match known.is_file() && bytes.len() as u64 <= MAX_POINTER {
        true => Ok(Some(bytes)),
        false => Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "it is not a regular file, or is too large",
        )),
    }
}

/// The directory that the working trees of a repository share: the repository itself, or what its
/// `commondir` names.
#[must_use]
pub fn common_directory(git: &Path) -> PathBuf {
    match read_small(&git.join("commondir"), 4096) {
        Some(to) => git.join(String::from_utf8_lossy(&to).trim()),
        None => git.to_owned(),
    }
}

/// Every directory that git, standing in `tree`, could take for its repository: more than
/// [`git_directory`] finds, for whoever must know what git might read.
#[must_use]
pub fn git_directories(tree: &Path) -> Vec<PathBuf> {
    let git = tree.join(".git");
    let mut found = Vec::new();
    if git.is_dir() {
        found.push(git);
    } else if let Ok(Some(text)) = read_pointer(&git)
        && let Some(to) = text.strip_prefix(b"gitdir:")
    {
        found.push(tree.join(OsStr::from_bytes(to.trim_ascii())));
    }
    // A directory of plain files that git takes for a repository.
    if tree.join("HEAD").exists() && tree.join("config").is_file() {
        found.push(tree.to_path_buf());
    }
    found
}
