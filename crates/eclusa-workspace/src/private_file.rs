//! Files of the program's own that only their owner reads: written beside and renamed, so that
//! whoever reads one reads all of it, also after a crash.

use std::{
    fs::{self, File},
    io::{self, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

use crate::Durability;

/// The rights of a private file.
const MODE: u32 = 0o600;

/// Makes a directory that only its owner looks into, with those above it.
pub fn make_directory(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Writes a file, in the place of one that may be there.
pub fn write(path: &Path, content: impl AsRef<[u8]>, survives: Durability) -> io::Result<()> {
    write_with(path, content, survives, |_| Ok(())).map(drop)
}

/// The same, after something was done with the file that nobody sees yet, such as locking it.
pub fn write_with(
    path: &Path,
    content: impl AsRef<[u8]>,
    survives: Durability,
    before: impl FnOnce(&File) -> io::Result<()>,
) -> io::Result<File> {
    let part = PartialFile::make(path)?;
    before(&part.file)?;
    part.fill(content.as_ref(), survives)?;
    part.become_file(path)
}

/// Writes a file where there is none; an error where there is one.
pub fn create(path: &Path, content: impl AsRef<[u8]>, survives: Durability) -> io::Result<()> {
    let part = PartialFile::make(path)?;
    part.fill(content.as_ref(), survives)?;
    match fs::hard_link(&part.path, path) {
        // Where a file cannot have two names, nobody else is expected to make this one right now.
        Err(err) if err.kind() != io::ErrorKind::AlreadyExists && !path.try_exists()? => {
            part.become_file(path).map(drop)
        }
        linked => linked,
    }
}

/// A file to lock, made if it is not there. Nothing is in it.
pub fn open_lock(path: &Path) -> io::Result<File> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    File::options().write(true).create(true).truncate(false).mode(MODE).open(path)
}

/// True for the name of a file that is not finished.
pub fn is_part(path: &Path) -> bool {
    let name = path.file_name().and_then(|it| it.to_str()).unwrap_or_default();
    name.starts_with('.') && name.ends_with(".part")
}

/// A file that is being written. It goes unless it becomes the one that is meant.
struct PartialFile {
    path: PathBuf,
    file: File,
    renamed: bool,
}

impl PartialFile {
    /// Makes one beside the file that it will be.
    fn make(path: &Path) -> io::Result<PartialFile> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let name = path.file_name().ok_or_else(|| io::Error::other("it has no name"))?;
        let mut options = File::options();
        options.write(true).create_new(true).mode(MODE);
        loop {
            let count = NEXT.fetch_add(1, Ordering::Relaxed);
            let name = format!(".{}.{}-{count}.part", name.display(), std::process::id());
            let path = path.with_file_name(name);
            match options.open(&path) {
                // A process of the same number has left it behind.
                Err(err) if err.kind() == io::ErrorKind::AlreadyExists => {}
                made => return Ok(PartialFile { path, file: made?, renamed: false }),
            }
        }
    }

    fn fill(&self, content: &[u8], survives: Durability) -> io::Result<()> {
        (&self.file).write_all(content)?;
        match survives {
            Durability::PowerLoss => self.file.sync_all(),
            Durability::Crash => Ok(()),
        }
    }

    #[expect(clippy::disallowed_methods, reason = "the program's own file, in no workspace")]
    fn become_file(mut self, path: &Path) -> io::Result<File> {
        fs::rename(&self.path, path)?;
        self.renamed = true;
        self.file.try_clone()
    }
}

impl Drop for PartialFile {
    #[expect(clippy::disallowed_methods, reason = "the program's own file, in no workspace")]
    fn drop(&mut self) {
        if !self.renamed {
            // Nobody reads it under this name.
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests;
