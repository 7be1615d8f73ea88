//! A16: what changed since it was prepared is never overwritten, whenever it changed.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use eclusa_workspace::{
    Change, Changes, Clash, CommitError, Conflict, Content, Durability, FileNode, Node,
};

use crate::tree::{Tree, World, directory, file, tree};

/// A workspace where `d/target` is to be altered, between other changes.
fn world() -> World {
    let world = World::new();
    world.write("a", "old a");
    world.write("d/target", "old");
    world.write("z", "old z");
    world.write("gone", "gone");
    fs::create_dir(world.dir.path().join("outside")).unwrap();
    fs::write(world.dir.path().join("outside/target"), "not yours").unwrap();
    world
}

fn changes(world: &World) -> Changes {
    Changes::of([
        world.change("a", file("new a")),
        world.change("d/target", file("new")),
        world.change("d/fresh", file("fresh")),
        world.change("gone", None),
        world.change("z", file("new z")),
    ])
}

type Disturb = fn(&Path);

const DISTURBANCES: [(&str, &str, Disturb); 8] = [
    ("altered", "d/target", |root| fs::write(root.join("d/target"), "mine!").unwrap()),
    ("altered at the same length", "d/target", |root| {
        // The clock of the filesystem has ticked since the file was made.
        std::thread::sleep(std::time::Duration::from_millis(12));
        fs::write(root.join("d/target"), "MINE").unwrap();
        fs::write(root.join("d/target"), "odl").unwrap();
    }),
    ("deleted", "d/target", |root| fs::remove_file(root.join("d/target")).unwrap()),
    ("replaced by a file", "d/target", |root| {
        fs::write(root.join("temporary"), "other").unwrap();
        fs::rename(root.join("temporary"), root.join("d/target")).unwrap();
    }),
    ("replaced by a link", "d/target", |root| {
        fs::remove_file(root.join("d/target")).unwrap();
        symlink("../../outside/target", root.join("d/target")).unwrap();
    }),
    ("given another mode", "d/target", |root| {
        fs::set_permissions(root.join("d/target"), fs::Permissions::from_mode(0o600)).unwrap();
    }),
    ("appeared", "d/fresh", |root| fs::write(root.join("d/fresh"), "first").unwrap()),
    ("in a directory that is now a link", "d", |root| {
        fs::rename(root.join("d"), root.join("moved")).unwrap();
        symlink("../outside", root.join("d")).unwrap();
    }),
];

/// Whenever it happens up to the step on the very path, only the disturbance is left.
/// Shows A16.
#[test]
fn whatever_changes_at_any_stage_nothing_is_written() {
    for (what, path, disturb) in DISTURBANCES {
        for stage in ["check", "begin", "prepare", "check again", "journal", "apply"] {
            let world = world();
            let root = world.dir.path().join("ws");
            let changes = changes(&world);
            let (once, at) = (Arc::new(AtomicBool::new(false)), root.clone());
            let expected = Arc::new(std::sync::Mutex::new(Tree::new()));
            let (first, seen) = (once.clone(), expected.clone());
            let ws = world.workspace.clone().watched(move |next| {
                if next == stage && !first.swap(true, Ordering::SeqCst) {
                    let mut before = tree(&at);
                    disturb(&at);
                    before.clone_from(&tree(&at));
                    *seen.lock().unwrap() = before;
                }
            });
            let err = ws.commit(1, &changes, Durability::Crash).unwrap_err();
            assert!(once.load(Ordering::SeqCst), "{what} at {stage}: never disturbed");
            let CommitError::Conflicts(conflicts) = &err else {
                panic!("{what} at {stage}: {err}")
            };
            let named = conflicts.iter().all(|it| it.path.starts_with(path));
            assert!(named && !conflicts.is_empty(), "{what} at {stage}: {err}");
            assert!(err.to_string().contains("`d/"), "{err}");
            assert_eq!(tree(&root), *expected.lock().unwrap(), "{what} at {stage}");
            let outside = fs::read_to_string(world.dir.path().join("outside/target")).unwrap();
            assert_eq!(outside, "not yours", "{what} at {stage}");
            assert!(world.is_clean(), "{what} at {stage}");
            assert!(world.workspace.entries().unwrap().is_empty());
        }
    }
}

/// The directory goes away after the first file in it was changed: that one is changed back.
/// Shows A16.
#[test]
fn a_directory_that_moves_in_the_middle_gets_its_files_back() {
    let world = World::new();
    world.write("d/a", "old a");
    world.write("d/b", "old b");
    let outside = world.dir.path().join("outside");
    fs::create_dir(&outside).unwrap();
    let changes =
        Changes::of([world.change("d/a", file("new a")), world.change("d/b", file("new b"))]);
    let steps = AtomicUsize::new(0);
    let root = world.dir.path().join("ws");
    let ws = world.workspace.clone().watched(move |next| {
        if next == "apply" && steps.fetch_add(1, Ordering::SeqCst) == 1 {
            fs::rename(root.join("d"), root.join("moved")).unwrap();
            symlink("../outside", root.join("d")).unwrap();
        }
    });
    let err = ws.commit(1, &changes, Durability::Crash).unwrap_err();
    assert!(matches!(err, CommitError::Conflicts(_)), "{err}");
    assert_eq!((world.read("moved/a"), world.read("moved/b")), ("old a".into(), "old b".into()));
    assert_eq!(fs::read_dir(outside).unwrap().count(), 0);
}

/// Shows A16.
#[test]
fn every_conflict_is_named_with_what_happened() {
    let world = world();
    world.write("full/known", "x");
    world.write("kind", "x");
    let changes = Changes::of([
        world.change("a", file("new")),
        world.change("z", None),
        world.change("gone", file("new")),
        world.change("full", None),
        world.change("full/known", None),
        world.change("kind", file("new")),
        world.change("missing/file", file("new")),
        world.change("fresh", file("new")),
    ]);
    world.write("a", "somebody else's");
    fs::remove_file(world.path("z")).unwrap();
    fs::set_permissions(world.path("gone"), fs::Permissions::from_mode(0o640)).unwrap();
    world.write("full/unknown", "y");
    fs::remove_file(world.path("kind")).unwrap();
    fs::create_dir(world.path("kind")).unwrap();
    world.write("fresh", "first");
    let before = world.tree();
    let err = world.workspace.commit(1, &changes, Durability::Crash).unwrap_err();
    let CommitError::Conflicts(mut found) = err else { panic!("{err}") };
    found.sort_by(|a, b| a.path.cmp(&b.path));
    let conflict = |path: &str, clash| Conflict { path: path.into(), clash };
    let expected = [
        conflict("a", Clash::Altered),
        conflict("fresh", Clash::Appeared),
        conflict("full", Clash::NotEmpty { holds: "full/unknown".into() }),
        conflict("gone", Clash::Mode { expected: 0o644, found: 0o640 }),
        conflict("kind", Clash::Replaced { by: "a directory" }),
        conflict("missing/file", Clash::NoDirectory),
        conflict("z", Clash::Deleted),
    ];
    assert_eq!(found, expected);
    assert_eq!(world.tree(), before);
}

/// Shows A16.
#[test]
fn a_file_that_was_only_touched_is_no_conflict() {
    let world = world();
    let changes = changes(&world);
    let content = fs::read(world.path("a")).unwrap();
    fs::write(world.path("a"), content).unwrap();
    world.workspace.commit(1, &changes, Durability::Crash).unwrap();
    assert_eq!(world.read("a"), "new a");
}

/// What was judged is what is written: a content that has become another is refused.
/// Shows A16.
#[test]
fn a_staged_content_that_changed_is_not_committed() {
    let world = world();
    let staged = world.dir.path().join("staged");
    fs::write(&staged, "judged").unwrap();
    let mut node = FileNode::new(*b"judged", 0o644);
    node.content = Content::At(staged.clone());
    let changes = Changes::of([world.change("a", Some(Node::File(node)))]);
    fs::write(&staged, "swapped").unwrap();
    let before = world.tree();
    let err = world.workspace.commit(1, &changes, Durability::Crash).unwrap_err();
    assert!(err.to_string().contains("not the one that was judged"), "{err}");
    assert_eq!(world.tree(), before);
    fs::write(&staged, "judged").unwrap();
    world.workspace.commit(1, &changes, Durability::Crash).unwrap();
    assert_eq!(world.read("a"), "judged");
}

/// A content that is the change's to take is moved: nothing is copied, and the mode is set.
#[test]
fn a_staged_file_is_moved_into_place() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let world = world();
    let staged = world.dir.path().join("staged");
    fs::write(&staged, "judged").unwrap();
    fs::set_permissions(&staged, fs::Permissions::from_mode(0o000)).unwrap();
    let inode = fs::metadata(&staged).unwrap().ino();
    let mut node = FileNode::new(*b"judged", 0o640);
    node.content = Content::Staged(staged.clone());
    let changes = Changes::of([world.change("a", Some(Node::File(node)))]);
    let before = world.tree();
    world.workspace.commit(1, &changes, Durability::Crash).unwrap();
    assert_eq!(world.read("a"), "judged");
    let now = fs::metadata(world.path("a")).unwrap();
    assert_eq!((now.ino(), now.mode() & 0o7777), (inode, 0o640));
    assert!(!staged.exists());
    world.workspace.undo(2, &[1], Durability::Crash).unwrap();
    assert_eq!(world.tree(), before);
}

/// Shows A16.
#[test]
fn a_staged_file_that_became_another_is_not_taken() {
    let world = world();
    let staged = world.dir.path().join("staged");
    let mut node = FileNode::new(*b"judged", 0o644);
    node.content = Content::Staged(staged.clone());
    let changes = Changes::of([world.change("a", Some(Node::File(node)))]);
    let before = world.tree();
    fs::write(&staged, "swapped").unwrap();
    let err = world.workspace.commit(1, &changes, Durability::Crash).unwrap_err();
    assert!(err.to_string().contains("not the one that was judged"), "{err}");
    symlink("/etc/passwd", &staged).unwrap();
    let err = world.workspace.commit(1, &changes, Durability::Crash).unwrap_err();
    assert!(err.to_string().contains("not the one that was judged"), "{err}");
    assert_eq!(world.tree(), before);
}

#[test]
fn a_path_that_leads_elsewhere_is_refused() {
    let world = world();
    for path in ["../outside/target", "/etc/passwd", "d/../../outside/target", ""] {
        let change = Change { path: path.into(), from: None, before: None, after: file("x") };
        let err = world.workspace.commit(1, &Changes::of([change]), Durability::Crash).unwrap_err();
        assert!(matches!(err, CommitError::Unfit { .. }), "{path}: {err}");
    }
    let before = world.tree();
    symlink("../outside", world.path("way")).unwrap();
    let change = Change { path: "way/new".into(), from: None, before: None, after: file("x") };
    let err = world.workspace.commit(1, &Changes::of([change]), Durability::Crash).unwrap_err();
    assert!(matches!(err, CommitError::Conflicts(_)), "{err}");
    fs::remove_file(world.path("way")).unwrap();
    assert_eq!(world.tree(), before);
}

#[test]
fn a_link_may_be_replaced_by_a_directory_with_files() {
    let world = world();
    symlink("../outside", world.path("way")).unwrap();
    let made = Change { path: "way/new".into(), from: None, before: None, after: file("x") };
    let changes = Changes::of([world.change("way", directory(0o755)), made]);
    world.workspace.commit(1, &changes, Durability::Crash).unwrap();
    assert_eq!(world.read("way/new"), "x");
    assert_eq!(fs::read_dir(world.dir.path().join("outside")).unwrap().count(), 1);
}

/// Shows A8.
#[test]
fn a_call_commits_once() {
    let world = world();
    world.commit(1, &[("a", file("one"))]);
    let again = Changes::of([world.change("a", file("two"))]);
    let err = world.workspace.commit(1, &again, Durability::Crash).unwrap_err();
    assert!(matches!(err, CommitError::Twice(1)), "{err}");
    assert_eq!(world.read("a"), "one");
    assert!(world.is_clean());
}
