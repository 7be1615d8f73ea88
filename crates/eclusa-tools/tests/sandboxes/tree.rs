//! A tree as a value, read in the plainest way there is.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

/// What somebody sees who looks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Seen {
    File { mode: u32, content: Vec<u8> },
    Directory { mode: u32 },
    Link { target: PathBuf },
}

pub(crate) type Tree = BTreeMap<PathBuf, Seen>;

/// Reads a whole tree.
pub(crate) fn read(root: &Path) -> Tree {
    let mut tree = Tree::new();
    let mut pending = vec![PathBuf::new()];
    while let Some(dir) = pending.pop() {
        for entry in fs::read_dir(root.join(&dir)).unwrap() {
            let entry = entry.unwrap();
            let path = dir.join(entry.file_name());
            let about = entry.metadata().unwrap();
            let mode = about.permissions().mode() & 0o7777;
            let seen = if about.is_symlink() {
                Seen::Link { target: fs::read_link(entry.path()).unwrap() }
            } else if about.is_dir() {
                pending.push(path.clone());
                Seen::Directory { mode }
            } else {
                Seen::File { mode, content: fs::read(entry.path()).unwrap() }
            };
            tree.insert(path, seen);
        }
    }
    tree
}
