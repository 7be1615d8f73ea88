//! A workspace on disk for a test: made, looked at, and changed.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
};

use eclusa_workspace::{
    Change, Changes, Committed, Content, ContentDigest, Durability, FileNode, Node, Stamp,
    Workspace,
};

/// What can be told of a node by looking at it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Snap {
    File(Vec<u8>, u32),
    Directory(u32),
    Link(PathBuf),
}

/// Everything below a directory.
pub(crate) type Tree = BTreeMap<PathBuf, Snap>;

/// A workspace and its state, side by side in a directory that goes with it.
pub(crate) struct World {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) workspace: Workspace,
}

impl World {
    pub(crate) fn new() -> World {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("ws")).unwrap();
        World::at(dir)
    }

    pub(crate) fn at(dir: tempfile::TempDir) -> World {
        let workspace = open(dir.path());
        World { dir, workspace }
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join("ws").join(path)
    }

    pub(crate) fn write(&self, path: &str, content: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    pub(crate) fn tree(&self) -> Tree {
        tree(&self.dir.path().join("ws"))
    }

    /// A change of a path from what is there now.
    pub(crate) fn change(&self, path: &str, after: Option<Node>) -> Change {
        change(&self.dir.path().join("ws"), path, after)
    }

    pub(crate) fn commit(&self, call: u64, changes: &[(&str, Option<Node>)]) -> Committed {
        let changes = changes.iter().map(|(path, after)| self.change(path, after.clone()));
        let changes = Changes::of(changes.collect::<Vec<_>>());
        self.workspace.commit(call, &changes, Durability::Crash).unwrap()
    }

    /// Nothing unfinished, and nothing of a transaction in sight.
    pub(crate) fn is_clean(&self) -> bool {
        let open = fs::read_dir(self.workspace.state().join("open")).unwrap().count();
        let stray = self.tree().keys().any(|it| it.to_string_lossy().contains(".eclusa"));
        open == 0 && !stray
    }
}

impl Drop for World {
    fn drop(&mut self) {
        unshut(self.dir.path());
    }
}

/// Opens every directory, so that whoever is no superuser can remove them.
pub(crate) fn unshut(dir: &Path) {
    let _ = fs::set_permissions(dir, fs::Permissions::from_mode(0o700));
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|it| it.is_dir()) {
            unshut(&entry.path());
        }
    }
}

/// The permissions of a node.
pub(crate) fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

pub(crate) fn open(dir: &Path) -> Workspace {
    let (workspace, _) = Workspace::open(dir.join("ws"), dir.join("state")).unwrap();
    workspace
}

pub(crate) fn change(root: &Path, path: &str, after: Option<Node>) -> Change {
    let before = node(&root.join(path));
    Change { path: path.into(), from: None, before, after }
}

pub(crate) fn file(content: &str) -> Option<Node> {
    Some(Node::File(FileNode::new(content.as_bytes(), 0o644)))
}

pub(crate) fn link(target: &str) -> Option<Node> {
    Some(Node::Link { target: target.into() })
}

pub(crate) fn directory(mode: u32) -> Option<Node> {
    Some(Node::Directory { mode })
}

/// What is at a path, as a tool would describe it.
pub(crate) fn node(path: &Path) -> Option<Node> {
    use std::os::unix::fs::MetadataExt;
    let meta = fs::symlink_metadata(path).ok()?;
    let mode = meta.permissions().mode() & 0o7777;
    if meta.is_symlink() {
        return Some(Node::Link { target: fs::read_link(path).unwrap() });
    }
    if meta.is_dir() {
        return Some(Node::Directory { mode });
    }
    let nanos = |seconds: i64, nanos: i64| i128::from(seconds) * 1_000_000_000 + i128::from(nanos);
    let stamp = Stamp {
        device: meta.dev(),
        inode: meta.ino(),
        size: meta.size(),
        modified: nanos(meta.mtime(), meta.mtime_nsec()),
        changed: nanos(meta.ctime(), meta.ctime_nsec()),
    };
    let content = fs::read(path).unwrap();
    Some(Node::File(FileNode {
        digest: ContentDigest::of(&content),
        size: meta.size(),
        mode,
        content: Content::InPlace,
        stamp: Some(stamp),
    }))
}

pub(crate) fn tree(root: &Path) -> Tree {
    let mut tree = Tree::new();
    walk(root, Path::new(""), &mut tree);
    tree
}

fn walk(root: &Path, below: &Path, tree: &mut Tree) {
    for entry in fs::read_dir(root.join(below)).unwrap() {
        let path = below.join(entry.unwrap().file_name());
        let meta = fs::symlink_metadata(root.join(&path)).unwrap();
        let mode = meta.permissions().mode() & 0o7777;
        if meta.is_symlink() {
            tree.insert(path.clone(), Snap::Link(fs::read_link(root.join(&path)).unwrap()));
        } else if meta.is_dir() {
            tree.insert(path.clone(), Snap::Directory(mode));
            walk(root, &path, tree);
        } else {
            tree.insert(path.clone(), Snap::File(fs::read(root.join(&path)).unwrap(), mode));
        }
    }
}

/// Makes a tree real.
pub(crate) fn build(root: &Path, tree: &Tree) {
    for (path, snap) in tree {
        let path = root.join(path);
        match snap {
            Snap::File(content, mode) => {
                fs::write(&path, content).unwrap();
                fs::set_permissions(&path, fs::Permissions::from_mode(*mode)).unwrap();
            }
            Snap::Directory(_) => fs::create_dir(&path).unwrap(),
            Snap::Link(target) => symlink(target, &path).unwrap(),
        }
    }
    for (path, snap) in tree.iter().rev() {
        if let Snap::Directory(mode) = snap {
            fs::set_permissions(root.join(path), fs::Permissions::from_mode(*mode)).unwrap();
        }
    }
}

/// The same change as a move, where a file like this leaves another path.
fn arrives(mut change: Change, before: &Tree, after: &Tree) -> Change {
    let Some(Node::File(file)) = &mut change.after else { return change };
    let snap = after.get(&change.path);
    let mut leaves = before.iter().filter(|(it, _)| !after.contains_key(*it));
    if let Some((from, _)) = leaves.find(|(_, it)| Some(*it) == snap) {
        file.content = Content::InPlace;
        change.from = Some(from.clone());
    }
    change
}

/// What makes one tree of another.
pub(crate) fn difference(root: &Path, before: &Tree, after: &Tree) -> Changes {
    let mut changes = Vec::new();
    for path in before.keys().chain(after.keys()) {
        if before.get(path) == after.get(path) {
            continue;
        }
        let wanted = after.get(path).map(|snap| match snap {
            Snap::File(content, mode) => Node::File(FileNode::new(content.as_slice(), *mode)),
            Snap::Directory(mode) => Node::Directory { mode: *mode },
            Snap::Link(target) => Node::Link { target: target.clone() },
        });
        let mut one = change(root, path.to_str().unwrap(), wanted);
        if !before.contains_key(path) {
            // A path beneath a link leads somewhere, and still nothing is there.
            one.before = None;
            one = arrives(one, before, after);
        }
        changes.push(one);
    }
    changes.dedup_by(|a, b| a.path == b.path);
    changes.sort_by(|a, b| a.path.cmp(&b.path));
    changes.dedup_by(|a, b| a.path == b.path);
    Changes::of(changes)
}
