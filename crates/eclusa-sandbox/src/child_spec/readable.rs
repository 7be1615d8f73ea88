//! What to allow so that something stays hidden: Landlock can't take back beneath what it gave, so
//! where there are no mounts to hide with, everything around the hidden paths is allowed instead.

use std::path::{Path, PathBuf};

/// What may be read of `read` (empty: everything) without `hide`, both real paths.
pub(super) fn readable(read: &[PathBuf], hide: &[PathBuf]) -> Vec<PathBuf> {
    let root = [PathBuf::from("/")];
    let roots = if read.is_empty() { &root[..] } else { read };
    let mut allowed = Vec::new();
    for root in roots {
        allow(root, hide, &mut allowed);
    }
    allowed
}

/// Allows a directory whole if nothing in it is hidden, otherwise what is in it, one by one. That a
/// directory with something hidden can be listed is allowed apart.
fn allow(path: &Path, hide: &[PathBuf], allowed: &mut Vec<PathBuf>) {
    if hide.iter().any(|hidden| path.starts_with(hidden)) {
        return;
    }
    if !hide.iter().any(|hidden| hidden.starts_with(path)) {
        allowed.push(path.to_path_buf());
        return;
    }
    let Ok(entries) = std::fs::read_dir(path) else { return };
    for entry in entries.flatten() {
        // What a link points to is allowed, or not, where it really is.
        if entry.file_type().is_ok_and(|kind| !kind.is_symlink()) {
            allow(&entry.path(), hide, allowed);
        }
    }
}
