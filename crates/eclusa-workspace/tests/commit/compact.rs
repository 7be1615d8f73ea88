//! Compaction: smaller, deduplicated, capped, and nothing lost without being told.

use std::{
    fs,
    sync::{Arc, Mutex},
};

use eclusa_workspace::{
    Change, Changes, Durability, FileNode, Node, Retention, UndoEntry, UndoError, UndoStatus,
};

use crate::tree::{World, file};

const CRASH: Durability = Durability::Crash;
const ALL: u64 = u64::MAX;

fn files_below(path: &std::path::Path) -> usize {
    let entries = fs::read_dir(path).unwrap().map(|it| it.unwrap().path());
    entries.map(|it| if it.is_dir() { files_below(&it) } else { 1 }).sum()
}

/// Shows U.
#[test]
fn old_contents_are_kept_once_and_compressed_and_undo_works_from_there() {
    let world = World::new();
    let text = "the same line again\n".repeat(5000);
    for name in ["a", "b", "c"] {
        world.write(name, &text);
    }
    let start = world.tree();
    world.commit(1, &[("a", file("1")), ("b", file("1"))]);
    world.commit(2, &[("c", file("2"))]);
    world.commit(3, &[("d", file("3"))]);
    let done = world.workspace.compact(Retention { recent: 1, bytes: ALL }).unwrap();
    assert_eq!(done.packed, [1, 2]);
    assert!(done.evicted.is_empty());
    assert!(done.bytes < 10_000, "{done:?}");
    assert_eq!(files_below(&world.workspace.state().join("store")), 1, "one content, kept once");
    let again = world.workspace.compact(Retention { recent: 0, bytes: ALL }).unwrap();
    assert!(again.packed.is_empty(), "{again:?}");
    world.workspace.undo(4, &[1, 2, 3], CRASH).unwrap();
    assert_eq!(world.tree(), start);
    world.workspace.redo(5, None, CRASH).unwrap();
    world.workspace.compact(Retention { recent: 0, bytes: ALL }).unwrap();
    world.workspace.undo(6, &[2], CRASH).unwrap();
    assert_eq!(world.read("c"), text);
}

/// Contents that compress badly, so that sizes can be told.
fn noise(seed: u64) -> String {
    let mut state = seed;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(b' ' + (state >> 33) as u8 % 94)
    };
    (0..20_000).map(|_| next()).collect()
}

/// Shows U.
#[test]
fn eviction_takes_the_oldest_first_and_says_so() {
    let world = World::new();
    for call in 1..=4 {
        world.write(&format!("f{call}"), &noise(call));
    }
    for call in 1..=4 {
        world.commit(call, &[(&format!("f{call}"), file("short"))]);
    }
    let done = world.workspace.compact(Retention { recent: 1, bytes: 45_000 }).unwrap();
    let evicted: Vec<u64> = done.evicted.iter().map(|it| it.call).collect();
    assert_eq!(evicted, [1, 2], "{done:?}");
    assert_eq!(done.evicted[0].paths, [std::path::PathBuf::from("f1")]);
    assert!(done.bytes <= 45_000, "{done:?}");
    let statuses: Vec<UndoStatus> =
        world.workspace.entries().unwrap().into_iter().map(|it| it.status).collect();
    let (kept, gone) = (UndoStatus::Committed, UndoStatus::Evicted);
    assert_eq!(statuses, [gone.clone(), gone, kept.clone(), kept]);
    let err = world.workspace.undo(5, &[1], CRASH).unwrap_err();
    assert!(matches!(&err, UndoError::Irreversible(it) if it[0].0 == 1), "{err}");
    let undone = world.workspace.undo(5, &[1, 3, 4], CRASH).unwrap();
    assert_eq!((undone.calls, undone.irreversible.len()), (vec![4, 3], 1));
    assert_eq!(world.read("f3"), noise(3));
    assert_eq!(world.read("f4"), noise(4));
    assert_eq!(world.read("f1"), "short");
}

/// An undo renames what it undoes into the slots; compacted then, the redo still finds it.
/// Shows U.
#[test]
fn a_redo_works_after_the_undo_was_compacted() {
    let world = World::new();
    world.write("a", "0");
    world.commit(1, &[("a", file("1"))]);
    world.workspace.undo(2, &[1], CRASH).unwrap();
    world.workspace.compact(Retention { recent: 0, bytes: ALL }).unwrap();
    world.workspace.redo(3, None, CRASH).unwrap();
    assert_eq!(world.read("a"), "1");
    world.workspace.compact(Retention { recent: 0, bytes: ALL }).unwrap();
    world.workspace.undo(4, &[1], CRASH).unwrap();
    assert_eq!(world.read("a"), "0");
}

/// What is kept for undo, in bytes.
fn kept(world: &World) -> u64 {
    world.workspace.compact(Retention { recent: usize::MAX, bytes: ALL }).unwrap().bytes
}

/// Whoever changes the workspace, and however: nobody has to think of it afterwards.
#[test]
fn a_workspace_keeps_within_its_bounds_by_itself_and_tells_what_went() {
    let mut world = World::new();
    let told = Arc::new(Mutex::new(Vec::new()));
    let hears = told.clone();
    let keep = Retention { recent: 1, bytes: 70_000 };
    world.workspace = world.workspace.clone().compacting(keep, move |compacted| {
        let evicted = compacted.unwrap().evicted.into_iter().map(|it| it.call);
        hears.lock().unwrap().extend(evicted);
    });
    world.write("f", &noise(0));
    for call in 1..=12 {
        world.commit(call, &[("f", file(&noise(call)))]);
        assert!(kept(&world) <= 70_000, "after call {call}");
    }
    // The latest can be undone, and that is a change too.
    world.workspace.undo(13, &[12], CRASH).unwrap();
    assert_eq!(world.read("f"), noise(11));
    assert!(kept(&world) <= 70_000);
    let told = told.lock().unwrap().clone();
    assert!(told.starts_with(&[1, 2, 3]), "{told:?}");
    let gone = |it: &UndoEntry| it.status == UndoStatus::Evicted;
    let entries = world.workspace.entries().unwrap();
    let evicted: Vec<u64> = entries.iter().filter(|it| gone(it)).map(|it| it.call).collect();
    assert_eq!(evicted, told);
}

/// Old contents are compressed after a while, also where there is room for all.
#[test]
fn a_workspace_compresses_what_is_old_after_some_changes() {
    let mut world = World::new();
    let keep = Retention { recent: 0, bytes: ALL };
    world.workspace =
        world.workspace.clone().compacting(keep, |compacted| drop(compacted.unwrap()));
    let text = "the same line again\n".repeat(5000);
    world.write("f", &text);
    for call in 1..=18 {
        world.commit(call, &[("f", file(&format!("{call}{text}")))]);
    }
    assert!(kept(&world) < 4 * 100_000, "{}", kept(&world));
}

/// What somebody else has changed is adopted, and counts like any other change.
#[test]
fn what_is_adopted_counts_too() {
    let mut world = World::new();
    let keep = Retention { recent: 1, bytes: 50_000 };
    world.workspace =
        world.workspace.clone().compacting(keep, |compacted| drop(compacted.unwrap()));
    for call in 1..=5 {
        let (before, after) = (noise(call), noise(call + 1));
        world.write("f", &after);
        let node = |text: &str| Some(Node::File(FileNode::new(text.as_bytes(), 0o644)));
        let change =
            Change { path: "f".into(), from: None, before: node(&before), after: node(&after) };
        world.workspace.adopt(call, &Changes::of([change]), CRASH).unwrap();
        assert!(kept(&world) <= 50_000, "after call {call}");
    }
}
