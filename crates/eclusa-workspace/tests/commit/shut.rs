//! Directories and files that their owner may not write to, or may not even read: they are changed
//! all the same, and their modes are as they were. A superuser meets none; see `ordinary`.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::Path,
    sync::{Arc, Mutex},
};

use eclusa_workspace::{
    Change, Changes, CommitError, Durability, FileNode, Node, Retention, Workspace,
};

use crate::tree::{World, change, directory, file, mode, node};

const CRASH: Durability = Durability::Crash;

fn shut(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn private(content: &str) -> Option<Node> {
    Some(Node::File(FileNode::new(content.as_bytes(), 0o400)))
}

/// The workspace itself, a directory in it, and one in that.
fn scene() -> World {
    let world = World::new();
    world.write("file", "old");
    world.write("a/b/file", "old");
    world.write("a/b/gone", "old");
    world.write("a/leaves", "moves");
    for (path, mode) in
        [("a/b/file", 0o444), ("a/b", 0o555), ("a/leaves", 0o400), ("a", 0o500), ("", 0o555)]
    {
        shut(&world.path(path), mode);
    }
    world
}

fn changes(world: &World) -> Changes {
    let root = world.path("");
    let Some(Node::File(leaves)) = node(&world.path("a/leaves")) else { panic!() };
    let arrives = Some(Node::File(FileNode { stamp: None, ..leaves }));
    Changes::of([
        world.change("file", file("new")),
        world.change("new", private("new")),
        world.change("a/b/file", file("new")),
        world.change("a/b/gone", None),
        world.change("a/b/new", file("new")),
        world.change("a/made", directory(0o555)),
        world.change("a/made/deep", directory(0o500)),
        world.change("a/made/deep/file", file("new")),
        world.change("a/leaves", None),
        Change { from: Some("a/leaves".into()), ..change(&root, "a/b/arrived", arrives) },
    ])
}

/// Shows U.
#[test]
fn what_is_shut_is_changed_undone_and_redone_and_stays_shut() {
    for packed in [false, true] {
        let world = scene();
        let look = || (mode(&world.path("")), world.tree());
        let start = look();
        let changes = changes(&world);
        let ws = &world.workspace;
        ws.commit(1, &changes, Durability::PowerLoss).unwrap();
        let end = look();
        assert_eq!((end.0, world.read("a/b/new"), world.read("a/b/arrived")), {
            (0o555, "new".to_owned(), "moves".to_owned())
        });
        assert_eq!([mode(&world.path("a")), mode(&world.path("a/b"))], [0o500, 0o555]);
        assert_eq!([mode(&world.path("a/made")), mode(&world.path("new"))], [0o555, 0o400]);
        if packed {
            ws.compact(Retention { recent: 0, bytes: u64::MAX }).unwrap();
        }
        let undone = ws.undo(2, &[1], CRASH).unwrap();
        assert_eq!(look(), start);
        // What was open for a moment is nothing that the call did.
        let told: Vec<_> = undone.paths.iter().map(|it| it.to_str().unwrap()).collect();
        assert!(!told.iter().any(|it| ["", "a", "a/b"].contains(it)), "{told:?}");
        assert_eq!(ws.changes(1).unwrap().len(), changes.len());
        ws.redo(3, None, Durability::PowerLoss).unwrap();
        assert_eq!(look(), end);
        ws.undo(4, &[1], CRASH).unwrap();
        assert_eq!(look(), start);
        assert!(world.is_clean());
    }
}

/// While a commit goes on, somebody gives a directory another mode, or takes the steps that shut
/// it: whatever the error, no directory stays open that was shut.
#[test]
fn a_commit_that_fails_at_any_step_leaves_what_was_shut_shut() {
    let world = scene();
    let start = (mode(&world.path("")), world.tree());
    let changes = changes(&world);
    let mut failed = 0;
    for step in 0.. {
        let taken = Arc::new(Mutex::new(0));
        let seen = taken.clone();
        let place = world.path("a/b/new");
        let dir = world.path("a/b");
        let ws = Workspace::attach(world.path(""), world.dir.path().join("state")).unwrap();
        let ws = ws.watched(move |_| {
            let mut taken = seen.lock().unwrap();
            if *taken == step && !place.exists() {
                let was = mode(&dir);
                shut(&dir, 0o700);
                fs::write(&place, "in the way").unwrap();
                shut(&dir, was);
            }
            *taken += 1;
        });
        match ws.commit(1, &changes, CRASH) {
            Ok(_) => break,
            Err(err) => {
                failed += 1;
                assert!(matches!(err, CommitError::Conflicts(_)), "step {step}: {err}");
            }
        }
        let was = mode(&world.path("a/b"));
        assert_eq!(was, 0o555, "step {step}");
        shut(&world.path("a/b"), 0o700);
        fs::remove_file(world.path("a/b/new")).unwrap();
        shut(&world.path("a/b"), was);
        assert_eq!((mode(&world.path("")), world.tree()), start, "step {step}");
        assert!(world.is_clean(), "step {step}");
    }
    assert!(failed > 20, "{failed}");
}

/// A mode that somebody gave a directory after a call does not stand in the way of its undo.
/// Shows U.
#[test]
fn a_directory_that_was_opened_or_shut_since_does_not_stop_an_undo() {
    for (before, since) in [(0o555, 0o755), (0o755, 0o555), (0o555, 0o500)] {
        let world = World::new();
        world.write("dir/file", "old");
        shut(&world.path("dir"), before);
        world.commit(1, &[("dir/file", file("new")), ("dir/new", file("new"))]);
        assert_eq!(mode(&world.path("dir")), before);
        shut(&world.path("dir"), since);
        world.workspace.undo(2, &[1], CRASH).unwrap();
        assert_eq!((world.read("dir/file"), mode(&world.path("dir"))), ("old".to_owned(), since));
        assert!(!world.path("dir/new").exists());
    }
}

/// A call may make what its owner cannot even look into; its undo takes it away again.
/// Shows U.
#[test]
fn what_was_made_unreadable_is_undone_and_redone() {
    for dark in [0o000, 0o200, 0o300, 0o400, 0o100] {
        let world = World::new();
        let unreadable = Some(Node::File(FileNode::new(*b"secret", 0o000)));
        world.commit(
            1,
            &[
                ("dark", directory(dark)),
                ("dark/file", unreadable.clone()),
                ("dark/inner", directory(dark)),
                ("dark/inner/file", unreadable),
            ],
        );
        assert_eq!(mode(&world.path("dark")), dark);
        for (undo, redo) in [(2, 3), (4, 5)] {
            world
                .workspace
                .undo(undo, &[1], CRASH)
                .unwrap_or_else(|err| panic!("{dark:o}, {undo}: {err}"));
            assert!(!world.path("dark").exists(), "{dark:o}");
            world.workspace.redo(redo, Some(undo), Durability::PowerLoss).unwrap();
            assert_eq!(mode(&world.path("dark")), dark);
        }
        let ws = world.dir.path().join("ws");
        crate::tree::unshut(&ws);
        assert_eq!(mode(&ws.join("dark/inner/file")), 0);
        shut(&ws.join("dark/inner/file"), 0o400);
        assert_eq!(world.read("dark/inner/file"), "secret");
    }
}

/// What is kept of a file that its owner may not read is kept like anything else.
/// Shows U.
#[test]
fn an_unreadable_file_is_packed_and_copied_for_an_undo() {
    let elsewhere = tempfile::tempdir_in("/dev/shm").unwrap();
    for (copied, packed) in [(false, true), (true, false), (true, true)] {
        let world = World::new();
        let state = if copied { elsewhere.path() } else { world.dir.path() };
        let root = world.path("");
        let ws = Workspace::attach(&root, state.join(format!("state-{packed}"))).unwrap();
        let unreadable = Some(Node::File(FileNode::new(*b"secret", 0o200)));
        let made = Changes::of([change(&root, "file", unreadable)]);
        ws.commit(1, &made, CRASH).unwrap();
        ws.undo(2, &[1], CRASH).unwrap();
        assert!(!world.path("file").exists());
        if packed {
            ws.compact(Retention { recent: 0, bytes: u64::MAX }).unwrap();
        }
        ws.redo(3, None, CRASH).unwrap();
        assert_eq!(mode(&world.path("file")), 0o200);
        shut(&world.path("file"), 0o600);
        assert_eq!(world.read("file"), "secret");
    }
}

/// What somebody else has made of shut directories, and deleted of them, is adopted.
/// Shows U.
#[test]
fn shut_directories_that_somebody_else_made_or_removed_are_adopted_and_undone() {
    let world = World::new();
    world.write("old/file", "old");
    shut(&world.path("old"), 0o555);
    let start = world.tree();
    let held = Some(Node::File(FileNode::new(*b"old", 0o644)));
    let changes = Changes::of([
        world.change("old", None),
        Change { before: held, ..world.change("old/file", None) },
        world.change("new", directory(0o555)),
        world.change("new/file", file("new")),
    ]);
    shut(&world.path("old"), 0o755);
    fs::set_permissions(world.path("old/file"), fs::Permissions::from_mode(0o644)).unwrap();
    fs::remove_dir_all(world.path("old")).unwrap();
    world.write("new/file", "new");
    fs::set_permissions(world.path("new/file"), fs::Permissions::from_mode(0o644)).unwrap();
    shut(&world.path("new"), 0o555);
    let end = world.tree();
    world.workspace.adopt(1, &changes, CRASH).unwrap();
    world.workspace.undo(2, &[1], CRASH).unwrap();
    let mut expected = start;
    expected.insert("old/file".into(), crate::tree::Snap::File(b"old".to_vec(), 0o644));
    assert_eq!(world.tree(), expected);
    world.workspace.redo(3, None, CRASH).unwrap();
    assert_eq!(world.tree(), end);
}
