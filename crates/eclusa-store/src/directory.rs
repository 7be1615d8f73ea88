//! Makes the place where a store lives: directories for the owner alone, a file for the owner
//! alone, and all of it still there after a power loss.

use std::{
    fs::{DirBuilder, File, OpenOptions},
    io,
    path::Path,
    sync::{Mutex, PoisonError},
};

use crate::{StoreError, error::InStore};

/// One at a time: see [`prepare`].
static MAKING: Mutex<()> = Mutex::new(());

/// Makes sure that the file is there, and that others cannot read it. SQLite gives the files
/// beside it the same permissions.
///
/// INVARIANT: a store that may be open is never opened here, not even to look. Whoever closes a
/// file takes all locks of this process on it away, and with them SQLite's; then another process
/// could take itself for the last user, and throw the write-ahead log away. So the file is
/// opened only to be made, and nobody in this process gets to see it before it is closed again.
pub(crate) fn prepare(path: &Path) -> Result<(), StoreError> {
    let _making = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
    if path.is_dir() {
        return Err(StoreError::Directory(path.to_owned()));
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    if !parent.is_dir() {
        make_directories(parent).in_store(path)?;
    }
    match private(OpenOptions::new().write(true).create_new(true)).open(path) {
        Ok(_) => sync(parent).in_store(path),
        Err(err) if err.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(err) => Err(err).in_store(path),
    }
}

/// Makes sure that there is a file to read.
pub(crate) fn find(path: &Path) -> Result<(), StoreError> {
    let _making = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
    match path.metadata() {
        Ok(file) if file.is_dir() => Err(StoreError::Directory(path.to_owned())),
        Ok(_) => Ok(()),
        Err(err) => Err(err).in_store(path),
    }
}

/// Makes what is missing of a directory, and syncs the directory that each new one is entered in.
fn make_directories(path: &Path) -> io::Result<()> {
    let missing: Vec<&Path> =
        path.ancestors().take_while(|it| !it.as_os_str().is_empty() && !it.exists()).collect();
    for directory in missing.into_iter().rev() {
        match private_directory().create(directory) {
            Err(err) if err.kind() == io::ErrorKind::AlreadyExists && directory.is_dir() => {}
            made => made?,
        }
        let parent = directory.parent().filter(|parent| !parent.as_os_str().is_empty());
        sync(parent.unwrap_or(Path::new(".")))?;
    }
    Ok(())
}

/// Which file this is, whatever it is called.
#[cfg(unix)]
pub(crate) fn identity(path: &Path) -> io::Result<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    path.metadata().map(|file| (file.dev(), file.ino()))
}

/// Elsewhere an open file can be neither moved nor deleted.
#[cfg(not(unix))]
pub(crate) fn identity(path: &Path) -> io::Result<(u64, u64)> {
    path.metadata().map(|_| (0, 0))
}

#[cfg(unix)]
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600)
}

#[cfg(unix)]
fn private_directory() -> DirBuilder {
    let mut builder = DirBuilder::new();
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

/// Makes a directory's entries durable.
#[cfg(unix)]
fn sync(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}

#[cfg(not(unix))]
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

#[cfg(not(unix))]
fn private_directory() -> DirBuilder {
    DirBuilder::new()
}

/// Elsewhere a directory cannot be opened, and its entries are durable with the file.
#[cfg(not(unix))]
fn sync(_directory: &Path) -> io::Result<()> {
    let _: Option<File> = None;
    Ok(())
}
