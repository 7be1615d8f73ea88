//! Random trees and random changes against a model that is a map.

use std::{fs, path::PathBuf};

use eclusa_workspace::Durability;
use proptest::{collection::vec, prelude::*};

use crate::tree::{Snap, Tree, World, build, difference, tree};

/// A way to alter a tree, with numbers that choose where.
#[derive(Debug, Clone)]
enum Whim {
    File(usize, Vec<u8>, u32),
    Directory(usize, u32),
    Link(usize, String),
    Delete(usize),
    Mode(usize, u32),
    Move(usize, usize),
}

const NAMES: [&str; 5] = ["a", "b", "c", "d e", "ü"];

fn whim() -> impl Strategy<Value = Whim> {
    let mode = prop_oneof![Just(0o644), Just(0o755), Just(0o600), Just(0o4755)];
    let dirs = prop_oneof![Just(0o755), Just(0o700), Just(0o555)];
    prop_oneof![
        4 => (any::<usize>(), vec(any::<u8>(), 0..40), mode.clone())
            .prop_map(|(at, content, mode)| Whim::File(at, content, mode)),
        3 => (any::<usize>(), dirs).prop_map(|(at, mode)| Whim::Directory(at, mode)),
        2 => (any::<usize>(), "[a-z./]{1,9}").prop_map(|(at, to)| Whim::Link(at, to)),
        3 => any::<usize>().prop_map(Whim::Delete),
        2 => (any::<usize>(), mode).prop_map(|(at, mode)| Whim::Mode(at, mode)),
        1 => (any::<usize>(), any::<usize>()).prop_map(|(from, to)| Whim::Move(from, to)),
    ]
}

/// A path in an existing directory, free or not.
fn somewhere(tree: &Tree, at: usize) -> PathBuf {
    let mut dirs = vec![PathBuf::new()];
    dirs.extend(
        tree.iter().filter(|(_, it)| matches!(it, Snap::Directory(_))).map(|(it, _)| it.clone()),
    );
    dirs[at % dirs.len()].join(NAMES[at / 7 % NAMES.len()])
}

fn put(tree: &mut Tree, path: PathBuf, snap: Snap) {
    tree.retain(|it, _| !it.starts_with(&path));
    tree.insert(path, snap);
}

fn apply(tree: &mut Tree, whim: Whim) {
    let existing = |at: usize| tree.keys().nth(at % tree.len().max(1)).cloned();
    match whim {
        Whim::File(at, content, mode) => {
            let path = somewhere(tree, at);
            put(tree, path, Snap::File(content, mode));
        }
        Whim::Directory(at, mode) => {
            let path = somewhere(tree, at);
            put(tree, path, Snap::Directory(mode));
        }
        Whim::Link(at, to) => {
            let path = somewhere(tree, at);
            put(tree, path, Snap::Link(to.into()));
        }
        Whim::Delete(at) => {
            if let Some(path) = existing(at) {
                tree.retain(|it, _| !it.starts_with(&path));
            }
        }
        Whim::Mode(at, new) => {
            if let Some(path) = existing(at) {
                match tree.get_mut(&path) {
                    Some(Snap::File(_, mode)) => *mode = new,
                    Some(Snap::Directory(mode)) => *mode = new & 0o755 | 0o700,
                    _ => {}
                }
            }
        }
        Whim::Move(from, to) => {
            let Some(from) = existing(from) else { return };
            let to = somewhere(tree, to);
            if to.starts_with(&from) || from.starts_with(&to) {
                return;
            }
            let moved: Vec<(PathBuf, Snap)> = tree
                .iter()
                .filter(|(it, _)| it.starts_with(&from))
                .map(|(it, snap)| (it.strip_prefix(&from).unwrap().to_owned(), snap.clone()))
                .collect();
            tree.retain(|it, _| !it.starts_with(&from) && !it.starts_with(&to));
            for (below, snap) in moved {
                let path = if below.as_os_str().is_empty() { to.clone() } else { to.join(below) };
                tree.insert(path, snap);
            }
        }
    }
}

fn grown(whims: Vec<Whim>, from: Tree) -> Tree {
    whims.into_iter().fold(from, |mut tree, whim| {
        apply(&mut tree, whim);
        tree
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    /// U, S3.39: what a commit makes is what the changes say, and an undo restores every content,
    /// mode, link and empty directory; undone in reverse or together, redone, or undone again
    /// from the store.
    /// Shows U.
    #[test]
    fn commit_then_undo_restores_the_tree_bit_for_bit(
        first in vec(whim(), 0..20),
        second in vec(whim(), 1..14),
        third in vec(whim(), 1..8),
        together in any::<bool>(),
        packed in any::<bool>(),
    ) {
        let world = World::new();
        let root = world.dir.path().join("ws");
        let start = grown(first, Tree::new());
        build(&root, &start);
        let middle = grown(second, start.clone());
        let end = grown(third, middle.clone());

        let ws = &world.workspace;
        let changes = difference(&root, &start, &middle);
        let one = !changes.is_empty();
        ws.commit(1, &changes, Durability::Crash).unwrap();
        prop_assert_eq!(&tree(&root), &middle);
        let changes = difference(&root, &middle, &end);
        let two = !changes.is_empty();
        ws.commit(2, &changes, Durability::Crash).unwrap();
        prop_assert_eq!(&tree(&root), &end);

        if packed {
            ws.compact(eclusa_workspace::Retention { recent: 0, bytes: u64::MAX }).unwrap();
        }
        if together && one && two {
            ws.undo(3, &[1, 2], Durability::Crash).unwrap();
            prop_assert_eq!(&tree(&root), &start);
            ws.redo(4, None, Durability::Crash).unwrap();
            prop_assert_eq!(&tree(&root), &end);
        }
        if two {
            ws.undo(5, &[2], Durability::Crash).unwrap();
            prop_assert_eq!(&tree(&root), &middle);
        }
        if one {
            ws.undo(6, &[1], Durability::Crash).unwrap();
            prop_assert_eq!(&tree(&root), &start);
            ws.redo(7, Some(6), Durability::Crash).unwrap();
            prop_assert_eq!(&tree(&root), &middle);
            ws.undo(8, &[1], Durability::Crash).unwrap();
            prop_assert_eq!(&tree(&root), &start);
        }
        prop_assert!(world.is_clean());
    }
}

/// The same where the state is on another filesystem, so that nothing can be renamed to it.
/// Shows U.
#[test]
fn a_state_on_another_filesystem_copies_and_undoes_as_well() {
    use std::os::unix::fs::MetadataExt;
    let Ok(elsewhere) = tempfile::tempdir_in("/dev/shm") else { return };
    let dir = tempfile::tempdir().unwrap();
    let device = |path: &std::path::Path| fs::metadata(path).unwrap().dev();
    if device(elsewhere.path()) == device(dir.path()) {
        return;
    }
    let root = dir.path().join("ws");
    fs::create_dir(&root).unwrap();
    let (ws, _) = eclusa_workspace::Workspace::open(&root, elsewhere.path().join("state")).unwrap();
    assert_eq!(ws.aside(), eclusa_workspace::KeepStrategy::Copied);
    let whims = |seed: usize| {
        (0..12).map(move |n| match (n * 5 + seed) % 4 {
            0 => Whim::Directory(n * 31 + seed, 0o755),
            1 => Whim::Link(n * 17 + seed, "a/b".to_owned()),
            2 => Whim::Delete(n * 13 + seed),
            _ => Whim::File(n * 29 + seed, vec![b'x'; n + seed], 0o640),
        })
    };
    let start = grown(whims(3).collect(), Tree::new());
    build(&root, &start);
    let middle = grown(whims(8).collect(), start.clone());
    let end = grown(whims(22).collect(), middle.clone());
    assert!(start != middle && middle != end);
    ws.commit(1, &difference(&root, &start, &middle), Durability::PowerLoss).unwrap();
    assert_eq!(tree(&root), middle);
    ws.commit(2, &difference(&root, &middle, &end), Durability::PowerLoss).unwrap();
    assert_eq!(tree(&root), end);
    ws.undo(3, &[1, 2], Durability::PowerLoss).unwrap();
    assert_eq!(tree(&root), start);
    ws.redo(4, None, Durability::PowerLoss).unwrap();
    assert_eq!(tree(&root), end);
    ws.undo(5, &[2], Durability::PowerLoss).unwrap();
    assert_eq!(tree(&root), middle);
}

/// What a commit or undo that was killed at its very end left in the workspace is removed by the
/// next recovery, and that one is due can be seen without making anything.
#[test]
fn what_a_killed_commit_left_in_the_workspace_is_removed_by_recovery() {
    use std::os::unix::fs::{FileExt, MetadataExt};
    let Ok(elsewhere) = tempfile::tempdir_in("/dev/shm") else { return };
    let dir = tempfile::tempdir().unwrap();
    let device = |path: &std::path::Path| fs::metadata(path).unwrap().dev();
    if device(elsewhere.path()) == device(dir.path()) {
        return;
    }
    let (root, state) = (dir.path().join("ws"), elsewhere.path().join("state"));
    fs::create_dir(&root).unwrap();
    let ws = eclusa_workspace::Workspace::named(&root, &state).unwrap();
    assert!(!ws.is_unfinished() && !state.exists());
    let end = grown(vec![Whim::File(1, b"x".to_vec(), 0o644)], Tree::new());
    ws.commit(1, &difference(&root, &Tree::new(), &end), Durability::Crash).unwrap();
    ws.undo(2, &[1], Durability::Crash).unwrap();
    assert!(!ws.is_unfinished());
    // As it is when the process is killed after the last step, before it has cleared up.
    let names: Vec<_> =
        fs::read_dir(state.join("done")).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2);
    for name in &names {
        let left = root.join(format!(".eclusa-{}", name.to_str().unwrap()));
        fs::create_dir(&left).unwrap();
        fs::write(left.join("0"), "content").unwrap();
    }
    let lock = fs::OpenOptions::new().write(true).open(state.join("lock")).unwrap();
    lock.write_all_at(&[1], 8).unwrap();
    let ws = eclusa_workspace::Workspace::named(&root, &state).unwrap();
    assert!(ws.is_unfinished());
    ws.recover().unwrap();
    assert!(!ws.is_unfinished());
    assert_eq!(tree(&root), Tree::new());
}
