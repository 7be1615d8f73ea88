//! A file of our own that has no name: for long outputs, and for the input of programs.

use std::{
    fs::{self, File},
    io,
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
    sync::atomic::{AtomicU64, Ordering},
};

use super::private;

/// A file that nobody else can open, and that is gone with the last handle.
#[expect(clippy::disallowed_methods, reason = "its name goes at once")]
pub(crate) fn unnamed_file(directory: &Path) -> io::Result<File> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    private(directory)?;
    let (id, number) = (std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let path = directory.join(format!("output-{id}-{number}"));
    let mut options = File::options();
    let file =
        options.read(true).write(true).create(true).truncate(true).mode(0o600).open(&path)?;
    fs::remove_file(&path)?;
    Ok(file)
}
