//! Tests of changes that are kept although they were discarded.

use std::{fs, io::Write as _};

use super::{MAX_BYTES, MAX_CALLS};
use crate::{Change, Changes, Content, Durability, FileNode, Node, Workspace};

struct World {
    dir: tempfile::TempDir,
    workspace: Workspace,
}

impl World {
    fn new() -> World {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("ws");
        fs::create_dir(&root).unwrap();
        let (workspace, _) = Workspace::open(&root, dir.path().join("state")).unwrap();
        World { dir, workspace }
    }

    fn file(&self, path: &str) -> Option<Node> {
        let content = fs::read(self.dir.path().join("ws").join(path)).ok()?;
        Some(Node::File(FileNode::new(content, 0o644)))
    }
}

fn new(text: &str) -> Option<Node> {
    Some(Node::File(FileNode::new(text.as_bytes().to_vec(), 0o644)))
}

fn change(path: &str, before: Option<Node>, after: Option<Node>) -> Change {
    Change { path: path.into(), from: None, before, after }
}

#[test]
fn what_was_discarded_is_committed_after_all_unless_the_workspace_has_changed() {
    let world = World::new();
    let root = world.dir.path().join("ws");
    let write = |path: &str, text: &str| {
        fs::File::create(root.join(path)).unwrap().write_all(text.as_bytes()).unwrap();
    };
    write("a.txt", "old\n");
    write("gone.txt", "bye\n");
    let changes = Changes::of([
        change("a.txt", world.file("a.txt"), new("new\n")),
        change("gone.txt", world.file("gone.txt"), None),
        change("d", None, Some(Node::Directory { mode: 0o755 })),
        change("d/link", None, Some(Node::Link { target: "../a.txt".into() })),
    ]);
    assert!(world.workspace.keep_discarded(7, &changes).unwrap());
    assert_eq!(world.workspace.discarded_calls(), [7]);
    let kept = world.workspace.discarded_changes(7).unwrap().unwrap();
    assert_eq!(kept.digest(), changes.digest());
    write("a.txt", "somebody else\n");
    let err = world.workspace.commit(8, &kept, Durability::Crash).unwrap_err();
    assert!(err.to_string().contains("a.txt"), "{err}");
    write("a.txt", "old\n");
    world.workspace.commit(9, &kept, Durability::Crash).unwrap();
    assert_eq!(fs::read_to_string(root.join("d/link")).unwrap(), "new\n");
    assert!(!root.join("gone.txt").exists());
    world.workspace.forget_discarded(7);
    assert!(world.workspace.discarded_changes(7).unwrap().is_none());
}

#[test]
fn the_oldest_and_what_is_too_large_are_not_kept() {
    let world = World::new();
    for call in 1..=30 {
        let changes = Changes::of([change("a.txt", None, new(&format!("{call}\n")))]);
        assert!(world.workspace.keep_discarded(call, &changes).unwrap());
    }
    let calls = world.workspace.discarded_calls();
    assert_eq!((calls.len(), calls.last()), (MAX_CALLS, Some(&30)));
    let Some(Node::File(mut file)) = new("x") else { unreachable!() };
    (file.size, file.content) = (MAX_BYTES + 1, Content::InPlace);
    let large = Changes::of([change("b.txt", None, Some(Node::File(file)))]);
    assert!(!world.workspace.keep_discarded(31, &large).unwrap());
    assert!(world.workspace.discarded_changes(31).unwrap().is_none());
}

#[test]
fn what_cannot_be_read_back_leaves_nothing_behind() {
    let world = World::new();
    let Some(Node::File(mut file)) = new("x") else { unreachable!() };
    file.content = Content::Staged(world.dir.path().join("gone"));
    let changes = Changes::of([change("b.txt", None, Some(Node::File(file)))]);
    assert!(world.workspace.keep_discarded(1, &changes).is_err());
    let left = fs::read_dir(world.workspace.state().join("discarded")).unwrap();
    assert_eq!(left.count(), 0);
}
