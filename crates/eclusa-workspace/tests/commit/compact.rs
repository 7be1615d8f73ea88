//! Compaction: smaller, deduplicated, capped, and nothing lost without being told.

use std::fs;

use eclusa_workspace::{Durability, Retention, UndoError, UndoStatus};

use crate::tree::{World, file};

const CRASH: Durability = Durability::Crash;
const ALL: u64 = u64::MAX;

fn files_below(path: &std::path::Path) -> usize {
    let entries = fs::read_dir(path).unwrap().map(|it| it.unwrap().path());
    entries.map(|it| if it.is_dir() { files_below(&it) } else { 1 }).sum()
}

#[test]
fn u_old_contents_are_kept_once_and_compressed_and_undo_works_from_there() {
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

#[test]
fn u_eviction_takes_the_oldest_first_and_says_so() {
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
#[test]
fn u_a_redo_works_after_the_undo_was_compacted() {
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
