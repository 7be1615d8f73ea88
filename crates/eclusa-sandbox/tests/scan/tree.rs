//! A tree as a value, read in the plainest way there is.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use eclusa_sandbox::scan::{Effects, ScannedNode};

/// What somebody sees who looks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Seen {
    File { mode: u32, digest: [u8; 32] },
    Directory { mode: u32 },
    Link { target: PathBuf },
    Other,
}

pub(crate) type Tree = BTreeMap<PathBuf, Seen>;
pub(crate) type Differences = BTreeMap<PathBuf, (Option<Seen>, Option<Seen>)>;

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
            } else if about.is_file() {
                let content = fs::read(entry.path()).unwrap();
                Seen::File { mode, digest: *blake3::hash(&content).as_bytes() }
            } else {
                Seen::Other
            };
            tree.insert(path, seen);
        }
    }
    tree
}

/// What differs between two trees.
pub(crate) fn differences(before: &Tree, after: &Tree) -> Differences {
    let paths = before.keys().chain(after.keys());
    let pairs = paths.map(|it| (it.clone(), (before.get(it).cloned(), after.get(it).cloned())));
    pairs.filter(|(_, (before, after))| before != after).collect()
}

/// The same from effects.
pub(crate) fn told(effects: &Effects) -> Differences {
    let entries = effects.entries.iter();
    entries
        .map(|it| (it.path.clone(), (it.before.as_ref().map(seen), it.after.as_ref().map(seen))))
        .collect()
}

fn seen(node: &ScannedNode) -> Seen {
    match node {
        ScannedNode::File(file) => Seen::File { mode: file.mode, digest: file.digest.unwrap().0 },
        ScannedNode::Directory { mode } => Seen::Directory { mode: *mode },
        ScannedNode::Link { target } => Seen::Link { target: target.clone() },
        ScannedNode::Other(_) => Seen::Other,
    }
}
