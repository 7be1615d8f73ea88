//! Disks that refuse: a clear answer, and nothing half-written.

use std::{
    fs,
    process::{Command, Stdio},
};

use eclusa_workspace::{Changes, CommitError, Content, Durability, FileNode, Node, Workspace};

use crate::tree::{World, change, file, tree};

/// A directory with an immutable file cannot be changed, not even by the superuser.
#[test]
fn a_directory_that_may_not_be_written_stops_the_commit_and_all_is_as_before() {
    let world = World::new();
    world.write("a", "old");
    world.write("locked/b", "old");
    let changes = Changes::of([
        world.change("a", file("new")),
        world.change("locked/b", file("new")),
        world.change("locked/c", file("new")),
    ]);
    let locked = world.path("locked");
    let immutable = Command::new("chattr").arg("+i").arg(&locked).stderr(Stdio::null()).status();
    if !immutable.is_ok_and(|it| it.success()) {
        // Only the superuser may set it, and not on every filesystem.
        return;
    }
    let before = world.tree();
    let result = world.workspace.commit(1, &changes, Durability::Crash);
    let after = world.tree();
    let _ = Command::new("chattr").arg("-i").arg(&locked).status();
    let err = result.unwrap_err();
    assert!(matches!(err, CommitError::Failed(_)), "{err}");
    assert!(err.to_string().contains("`locked/"), "{err}");
    assert_eq!(after, before);
    assert!(world.is_clean());
    world.workspace.commit(1, &changes, Durability::Crash).unwrap();
    assert_eq!(world.read("locked/c"), "new");
}

/// A workspace on a small filesystem of its own, if this process may mount one.
struct Small(tempfile::TempDir);

impl Small {
    fn new() -> Option<Small> {
        let dir = tempfile::tempdir().unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=256k", "small"]).arg(dir.path());
        mount.status().is_ok_and(|it| it.success()).then_some(Small(dir))
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0.path()).status();
    }
}

#[test]
fn a_full_disk_stops_the_commit_and_all_is_as_before() {
    let Some(small) = Small::new() else { return };
    let root = small.0.path().join("ws");
    fs::create_dir(&root).unwrap();
    fs::write(root.join("a"), "old").unwrap();
    let before = tree(&root);
    let large = "x".repeat(1 << 20);
    let elsewhere = tempfile::tempdir().unwrap();
    for state in [small.0.path().join("state"), elsewhere.path().join("state")] {
        let ws = Workspace::attach(&root, state).unwrap();
        let changes =
            Changes::of([change(&root, "a", file("new")), change(&root, "large", file(&large))]);
        let err = ws.commit(1, &changes, Durability::Crash).unwrap_err();
        let CommitError::Failed(fault) = &err else { panic!("{err}") };
        assert_eq!(fault.kind(), std::io::ErrorKind::StorageFull, "{err}");
        assert!(err.to_string().contains("`large`"), "{err}");
        assert_eq!(tree(&root), before);
        let fits = Changes::of([change(&root, "a", file("new"))]);
        ws.commit(1, &fits, Durability::PowerLoss).unwrap();
        ws.undo(2, &[1], Durability::PowerLoss).unwrap();
        assert_eq!(tree(&root), before);
    }
}

#[test]
fn a_vanished_workspace_is_said_to_have_vanished() {
    let world = World::new();
    world.write("a", "old");
    let changes = Changes::of([world.change("a", file("new"))]);
    fs::rename(world.dir.path().join("ws"), world.dir.path().join("elsewhere")).unwrap();
    let err = world.workspace.commit(1, &changes, Durability::Crash).unwrap_err();
    assert!(err.to_string().contains("nothing has changed"), "{err}");
    assert!(err.to_string().contains("/ws`"), "{err}");
    assert_eq!(fs::read(world.dir.path().join("elsewhere/a")).unwrap(), b"old");
    assert!(Workspace::open(world.dir.path().join("ws"), world.dir.path().join("state")).is_err());
}

#[test]
fn a_state_inside_the_workspace_is_out_of_reach() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("ws");
    let (ws, _) = {
        fs::create_dir(&root).unwrap();
        Workspace::open(&root, root.join(".eclusa/state")).unwrap()
    };
    for path in [".eclusa/state/lock", ".eclusa/state", ".eclusa"] {
        let changes = Changes::of([change(&root, path, None)]);
        let changes = if changes.is_empty() {
            Changes::of([change(&root, path, file("x"))])
        } else {
            changes
        };
        let err = ws.commit(1, &changes, Durability::Crash).unwrap_err();
        let refused = matches!(err, CommitError::Unfit { .. } | CommitError::Conflicts(_));
        assert!(refused, "{path}: {err}");
    }
}

/// Content that nobody holds in memory, and a move of it, keep owner, mode and content.
#[test]
fn a_large_file_is_moved_without_being_held() {
    let world = World::new();
    world.write("from", &"0123456789abcdef".repeat(1 << 16));
    let Some(Node::File(node)) = crate::tree::node(&world.path("from")) else { panic!() };
    let after = FileNode { content: Content::InPlace, stamp: None, ..node };
    let moved = eclusa_workspace::Change {
        path: "to".into(),
        from: Some("from".into()),
        before: None,
        after: Some(Node::File(after)),
    };
    let changes = Changes::of([world.change("from", None), moved]);
    let before = world.tree();
    world.workspace.commit(1, &changes, Durability::Crash).unwrap();
    assert_eq!(world.read("to").len(), 1 << 20);
    assert!(!world.path("from").exists());
    world.workspace.undo(2, &[1], Durability::Crash).unwrap();
    assert_eq!(world.tree(), before);
}
