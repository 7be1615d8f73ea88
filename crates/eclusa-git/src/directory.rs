//! Where a repository is, and the way its files are read.

use std::{
    fs::{File, OpenOptions},
    io::Read,
    os::unix::fs::OpenOptionsExt,
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
    } else if let Ok(text) = std::fs::read_to_string(&git)
        && let Some(to) = text.trim_end().strip_prefix("gitdir: ")
    {
        found.push(tree.join(to));
    }
    // A directory of plain files that git takes for a repository.
    if tree.join("HEAD").exists() && tree.join("config").is_file() {
        found.push(tree.to_path_buf());
    }
    found
}
