//! Undo and redo: one call, several, one in the middle, and who stands in the way.

use std::fs;

use eclusa_workspace::{ChangedBy, Clash, Content, Durability, Node, UndoError, UndoStatus};

use crate::tree::{World, directory, file, open};

const CRASH: Durability = Durability::Crash;

fn statuses(world: &World) -> Vec<(u64, UndoStatus)> {
    world.workspace.entries().unwrap().into_iter().map(|it| (it.call, it.status)).collect()
}

/// Shows U.
#[test]
fn one_in_the_middle_is_undone_when_nothing_later_touches_its_files() {
    let world = World::new();
    world.write("a", "0");
    world.write("b", "0");
    world.commit(7, &[("a", file("7")), ("new", file("7"))]);
    world.commit(8, &[("b", file("8"))]);
    world.commit(9, &[("c", file("9"))]);
    let would = world.workspace.would_undo(&[7]).unwrap();
    assert_eq!(would.paths, ["a", "new"].map(std::path::PathBuf::from));
    assert_eq!(world.read("a"), "7", "a dry run changes nothing");
    world.workspace.undo(10, &[7], CRASH).unwrap();
    assert_eq!(
        (world.read("a"), world.read("b"), world.read("c")),
        ("0".into(), "8".into(), "9".into())
    );
    assert!(!world.path("new").exists());
    let committed = |call| (call, UndoStatus::Committed);
    let expected = [(7, UndoStatus::Undone { by: 10 }), committed(8), committed(9), committed(10)];
    assert_eq!(statuses(&world), expected);
}

/// Shows U.
#[test]
fn a_later_call_or_an_edit_in_the_way_is_named_and_nothing_changes() {
    let world = World::new();
    world.write("a", "0");
    world.write("b", "0");
    world.write("e", "0");
    world.commit(7, &[("a", file("7")), ("b", file("7")), ("dir", directory(0o755))]);
    world.commit(8, &[("a", file("8")), ("e", file("8"))]);
    world.commit(9, &[("dir/inside", file("9"))]);
    fs::write(world.path("b"), "by hand").unwrap();
    let before = world.tree();
    for result in [world.workspace.would_undo(&[7]), world.workspace.undo(10, &[7], CRASH)] {
        let err = result.unwrap_err();
        let text = err.to_string();
        let UndoError::Conflicts(mut found) = err else { panic!("{text}") };
        found.sort_by(|a, b| a.conflict.path.cmp(&b.conflict.path));
        let told: Vec<_> =
            found.iter().map(|it| (it.conflict.path.to_str().unwrap(), it.by)).collect();
        let expected =
            [("a", ChangedBy::Call(8)), ("b", ChangedBy::Outside), ("dir", ChangedBy::Call(9))];
        assert_eq!(told, expected);
        assert!(matches!(found[2].conflict.clash, Clash::NotEmpty { .. }));
        assert!(text.contains("by call 8") && text.contains("outside"), "{text}");
        assert_eq!(world.tree(), before);
    }
    // What stands in the way may go with it, in reverse order.
    world.write("b", "7");
    world.workspace.undo(10, &[7, 8, 9], CRASH).unwrap();
    assert_eq!(
        (world.read("a"), world.read("b"), world.read("e")),
        ("0".into(), "0".into(), "0".into())
    );
    assert!(!world.path("dir").exists());
    // A call between two that are undone together stands in the way as well.
    world.commit(11, &[("a", file("11"))]);
    world.commit(12, &[("a", file("12"))]);
    world.commit(13, &[("a", file("13"))]);
    let err = world.workspace.undo(14, &[11, 13], CRASH).unwrap_err();
    let UndoError::Conflicts(found) = err else { panic!("{err}") };
    assert_eq!(found[0].by, ChangedBy::Call(12));
    assert_eq!(world.read("a"), "13");
}

/// Shows U.
#[test]
fn an_undo_is_undone_and_done_again_across_restarts() {
    let mut world = World::new();
    world.write("a", "0");
    world.commit(1, &[("a", file("1"))]);
    let inode = |world: &World| {
        use std::os::unix::fs::MetadataExt;
        fs::metadata(world.path("a")).unwrap().ino()
    };
    let committed = inode(&world);
    for round in 0..3 {
        world.workspace = open(world.dir.path());
        world.workspace.undo(10 + round * 2, &[1], CRASH).unwrap();
        assert_eq!(world.read("a"), "0");
        let err = world.workspace.undo(99, &[1], CRASH).unwrap_err();
        assert!(matches!(err, UndoError::Already { call: 1, .. }), "{err}");
        world.workspace = open(world.dir.path());
        world.workspace.redo(11 + round * 2, None, CRASH).unwrap();
        assert_eq!(world.read("a"), "1");
        assert_eq!(inode(&world), committed, "renamed, not copied");
    }
    let err = world.workspace.redo(98, None, CRASH).unwrap_err();
    assert!(matches!(err, UndoError::NoUndo(_)), "{err}");
    let err = world.workspace.undo(98, &[55], CRASH).unwrap_err();
    assert!(matches!(err, UndoError::Unknown(55)), "{err}");
}

/// Shows U.
#[test]
fn irreversible_entries_are_listed_and_the_rest_is_undone() {
    let world = World::new();
    world.write("a", "0");
    world.commit(1, &[("a", file("1"))]);
    world.workspace.note_irreversible(2, "it sent a message", CRASH).unwrap();
    let undone = world.workspace.undo(3, &[1, 2], CRASH).unwrap();
    assert_eq!(undone.calls, [1]);
    assert_eq!(undone.irreversible, [(2, "it sent a message".to_owned())]);
    assert_eq!(world.read("a"), "0");
    let err = world.workspace.undo(4, &[2], CRASH).unwrap_err();
    assert_eq!(err.to_string(), "call 2 cannot be undone: it sent a message");
    assert_eq!(statuses(&world)[1].1, UndoStatus::Irreversible("it sent a message".into()));
}

/// An edit in place, and back to the same content, is no obstacle; its digest is what counts.
/// Shows U.
#[test]
fn a_file_that_was_only_touched_since_is_undone() {
    let world = World::new();
    world.write("a", "0");
    world.commit(1, &[("a", file("1"))]);
    fs::write(world.path("a"), "1").unwrap();
    world.workspace.undo(2, &[1], CRASH).unwrap();
    assert_eq!(world.read("a"), "0");
}

/// A pre-image that somebody still wrote to through an open handle is not passed off as the old.
/// Shows U.
#[test]
fn a_pre_image_that_changed_aside_is_not_restored() {
    use std::io::Write;
    let world = World::new();
    world.write("a", "0");
    let mut handle = fs::OpenOptions::new().append(true).open(world.path("a")).unwrap();
    world.commit(1, &[("a", file("1"))]);
    handle.write_all(b" and more").unwrap();
    let err = world.workspace.undo(2, &[1], CRASH).unwrap_err();
    assert!(err.to_string().contains("`a` cannot be changed"), "{err}");
    assert_eq!(world.read("a"), "1");
}

/// Shows U.
#[test]
fn what_a_past_call_did_can_be_shown() {
    let world = World::new();
    world.write("a", "before");
    world.commit(1, &[("a", file("after")), ("b", file("made"))]);
    world.commit(2, &[("a", file("later"))]);
    let text = |node: &Option<Node>, path: &str| match node {
        Some(Node::File(it)) => match &it.content {
            Content::At(at) | Content::Staged(at) => fs::read_to_string(at).unwrap(),
            Content::InPlace => world.read(path),
            Content::Bytes(bytes) => String::from_utf8(bytes.to_vec()).unwrap(),
        },
        other => panic!("{other:?}"),
    };
    for compacted in [false, true] {
        let changes = world.workspace.changes(1).unwrap();
        let a = changes.get("a".as_ref()).unwrap();
        assert_eq!((text(&a.before, "a"), text(&a.after, "a")), ("before".into(), "after".into()));
        let b = changes.get("b".as_ref()).unwrap();
        assert!(b.before.is_none());
        assert_eq!(text(&b.after, "b"), "made");
        if !compacted {
            world
                .workspace
                .compact(eclusa_workspace::Retention { recent: 0, bytes: u64::MAX })
                .unwrap();
        }
    }
}

#[test]
fn naming_a_workspace_makes_nothing_until_something_changes() {
    let dir = tempfile::tempdir().unwrap();
    let (root, state) = (dir.path().join("root"), dir.path().join("state"));
    std::fs::create_dir(&root).unwrap();
    let workspace = eclusa_workspace::Workspace::named(&root, &state).unwrap();
    assert!(!state.exists());
    let node = eclusa_workspace::Node::File(eclusa_workspace::FileNode::new(*b"x", 0o644));
    let change =
        eclusa_workspace::Change { path: "a".into(), from: None, before: None, after: Some(node) };
    workspace
        .commit(1, &eclusa_workspace::Changes::of([change]), eclusa_workspace::Durability::Crash)
        .unwrap();
    assert_eq!(std::fs::read(root.join("a")).unwrap(), b"x");
    // Another one, of the same names, finds what was done.
    let other = eclusa_workspace::Workspace::named(&root, &state).unwrap();
    assert_eq!(other.entries().unwrap().len(), 1);
    other.undo(2, &[1], eclusa_workspace::Durability::Crash).unwrap();
    assert!(!root.join("a").exists());
}

/// Somebody else has made the changes: they are kept as if we had.
/// Shows U.
#[test]
fn changes_of_somebody_else_are_adopted_and_undone() {
    let world = World::new();
    world.write("a", "0");
    world.write("gone", "0");
    let changes =
        [("a", file("1")), ("gone", None), ("dir", directory(0o755)), ("dir/new", file("1"))];
    // What was there is held: nobody could read it afterwards.
    let changes = changes.map(|(path, after)| {
        let mut change = world.change(path, after);
        if let Some(Node::File(file)) = &mut change.before {
            *file = eclusa_workspace::FileNode::new(fs::read(world.path(path)).unwrap(), file.mode);
        }
        change
    });
    let changes = eclusa_workspace::Changes::of(changes);
    let before = world.tree();
    // Not made yet: nothing is kept.
    let err = world.workspace.adopt(7, &changes, CRASH).unwrap_err();
    assert!(matches!(err, eclusa_workspace::CommitError::Conflicts(_)), "{err}");
    assert!(world.is_clean() && statuses(&world).is_empty());
    world.write("a", "1");
    fs::remove_file(world.path("gone")).unwrap();
    world.write("dir/new", "1");
    let made = world.tree();
    world.workspace.adopt(7, &changes, Durability::PowerLoss).unwrap();
    assert_eq!(world.tree(), made, "adopting changes nothing in the workspace");
    assert!(world.is_clean());
    assert_eq!(statuses(&world), [(7, UndoStatus::Committed)]);
    assert_eq!(world.workspace.changes(7).unwrap().len(), 4);
    let twice = world.workspace.adopt(7, &changes, CRASH).unwrap_err();
    assert!(matches!(twice, eclusa_workspace::CommitError::Twice(7)), "{twice}");
    world.workspace.undo(8, &[7], CRASH).unwrap();
    assert_eq!(world.tree(), before);
    world.workspace.redo(9, Some(8), CRASH).unwrap();
    assert_eq!(world.tree(), made);
}
