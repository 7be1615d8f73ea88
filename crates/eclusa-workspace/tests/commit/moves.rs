//! What only moves is renamed: there and back again, whoever interferes.

use std::{fs, os::unix::fs::MetadataExt, path::Path};

use eclusa_workspace::{Change, Changes, CommitError, Durability, Node, Retention, Workspace};

use crate::tree::{World, change, node};

fn moved(root: &Path, from: &str, to: &str) -> Changes {
    let Some(Node::File(file)) = node(&root.join(from)) else { panic!("no file") };
    let after = Some(Node::File(eclusa_workspace::FileNode { stamp: None, ..file }));
    Changes::of([
        change(root, from, None),
        Change { from: Some(from.into()), ..change(root, to, after) },
    ])
}

fn inode(world: &World, path: &str) -> u64 {
    fs::metadata(world.path(path)).unwrap().ino()
}

fn move_in(world: &World, call: u64, from: &str, to: &str) {
    let changes = moved(&world.path(""), from, to);
    world.workspace.commit(call, &changes, Durability::Crash).unwrap();
}

/// Shows U.
#[test]
fn a_move_is_a_rename_and_so_are_its_undo_and_redo() {
    let world = World::new();
    world.write("a", "content");
    let file = inode(&world, "a");
    move_in(&world, 1, "a", "b");
    assert_eq!((inode(&world, "b"), world.path("a").exists()), (file, false));
    world.workspace.undo(2, &[1], Durability::Crash).unwrap();
    assert_eq!((inode(&world, "a"), world.path("b").exists()), (file, false));
    world.workspace.redo(3, None, Durability::PowerLoss).unwrap();
    assert_eq!((inode(&world, "b"), world.path("a").exists()), (file, false));
    assert!(world.is_clean());
}

/// Shows U.
#[test]
fn moves_and_edits_are_undone_together_also_from_the_store() {
    for packed in [false, true] {
        let world = World::new();
        world.write("a", "content");
        let start = world.tree();
        move_in(&world, 1, "a", "b");
        world.commit(2, &[("b", crate::tree::file("other"))]);
        move_in(&world, 3, "b", "c");
        let end = world.tree();
        if packed {
            world.workspace.compact(Retention { recent: 0, bytes: u64::MAX }).unwrap();
        }
        world.workspace.undo(4, &[1, 2, 3], Durability::Crash).unwrap();
        assert_eq!(world.tree(), start);
        world.workspace.redo(5, None, Durability::Crash).unwrap();
        assert_eq!(world.tree(), end);
        for (undo, call) in [(6, 3), (7, 2), (8, 1)] {
            world.workspace.undo(undo, &[call], Durability::Crash).unwrap();
        }
        assert_eq!(world.tree(), start);
    }
}

/// Shows U.
#[test]
fn a_move_that_was_packed_or_came_twice_is_undone() {
    let world = World::new();
    world.write("a", "content");
    let start = world.tree();
    move_in(&world, 1, "a", "b");
    move_in(&world, 2, "b", "c");
    world.workspace.compact(Retention { recent: 0, bytes: u64::MAX }).unwrap();
    world.workspace.undo(3, &[1, 2], Durability::Crash).unwrap();
    assert_eq!(world.tree(), start);
}

/// Shows U.
#[test]
fn a_move_shows_what_was_moved() {
    let world = World::new();
    world.write("a", "content");
    move_in(&world, 1, "a", "b");
    let changes = world.workspace.changes(1).unwrap();
    let to: Vec<_> = changes.iter().filter_map(|it| it.from.as_deref()).collect();
    assert_eq!(to, [Path::new("a")]);
}

/// Shows A16.
#[test]
fn a_move_refuses_what_changed_meanwhile() {
    let world = World::new();
    world.write("a", "content");
    let root = world.path("");
    let changes = moved(&root, "a", "b");
    world.write("a", "somebody else's");
    let err = world.workspace.commit(1, &changes, Durability::Crash).unwrap_err();
    assert!(matches!(err, CommitError::Conflicts(_)), "{err}");
    world.write("b", "in the way");
    let changes = moved(&root, "a", "b");
    let changes = Changes::of(
        changes
            .iter()
            .cloned()
            .map(|it| match it.from {
                Some(_) => Change { before: None, ..it },
                None => it,
            })
            .collect::<Vec<_>>(),
    );
    let before = world.tree();
    let err = world.workspace.commit(1, &changes, Durability::Crash).unwrap_err();
    assert!(matches!(err, CommitError::Conflicts(_)), "{err}");
    assert_eq!(world.tree(), before);
}

/// Whoever puts something in the way in the middle of a move finds it there afterwards, and the
/// file where it was.
/// Shows A16.
#[test]
fn a_move_that_is_disturbed_is_taken_back() {
    for step in 0..40 {
        let world = World::new();
        world.write("a", "content");
        let root = world.path("");
        let changes = moved(&root, "a", "b");
        let steps = std::sync::atomic::AtomicUsize::new(0);
        let target = world.path("b");
        let ws = Workspace::attach(&root, world.dir.path().join("state")).unwrap();
        let ws = ws.watched(move |_| {
            if steps.fetch_add(1, std::sync::atomic::Ordering::SeqCst) == step && !target.exists() {
                fs::write(&target, "in the way").unwrap();
            }
        });
        match ws.commit(1, &changes, Durability::Crash) {
            Ok(_) => assert_eq!(world.read("b"), "content"),
            Err(err) => {
                assert_eq!(world.read("a"), "content", "step {step}: {err}");
                assert_eq!(world.read("b"), "in the way", "step {step}: {err}");
            }
        }
        assert!(world.is_clean(), "step {step}");
    }
}
