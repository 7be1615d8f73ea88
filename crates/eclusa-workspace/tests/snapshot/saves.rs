//! Somebody else saves while a command runs, while it is put back, and after a crash: nothing that they wrote
//! is lost.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use eclusa_workspace::{Durability, SnapshotError, SnapshotOptions, Workspace};

use crate::{
    crash::{START, killed},
    world::{World, told},
};

/// As editors save: a new file takes the place of the old one.
fn save(path: &Path, text: &str) {
    let new = path.with_extension("swp");
    fs::write(&new, text).unwrap();
    fs::rename(new, path).unwrap();
}

#[test]
fn what_is_saved_while_the_command_runs_is_in_its_changes() {
    let world = World::new("echo one > one; echo mine > mine");
    let before = world.tree();
    let layer = world.layer();
    let snapshot = world.snapshot();
    world.run("echo more >> one");
    save(&world.root().join("mine"), "saved\n");
    let outcome = snapshot.put_back(&layer).unwrap();
    assert_eq!(world.tree(), before);
    assert_eq!(told(&outcome), ["altered mine", "altered one"]);
    assert_eq!(fs::read_to_string(layer.join("mine")).unwrap(), "saved\n");
    world.workspace.commit(1, &outcome.changes, Durability::Crash).unwrap();
    assert_eq!(world.read("mine"), "saved\n");
}

/// A workspace in which somebody writes once, right before the first of these steps.
fn disturbed(
    world: &World,
    step: &'static str,
    write: impl Fn() + Send + Sync + 'static,
) -> Workspace {
    let done = AtomicBool::new(false);
    let watch = move |next: &'static str| {
        if next == step && !done.swap(true, Ordering::SeqCst) {
            write();
        }
    };
    let state = world.dir.path().join("state");
    Workspace::attach(world.root(), state).unwrap().watched(watch)
}

/// Where a text is, in the workspace, the layer or among what was rescued.
fn places(world: &World, text: &str) -> Vec<PathBuf> {
    let (mut found, mut todo) = (Vec::new(), vec![world.dir.path().to_owned()]);
    while let Some(dir) = todo.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let (path, kind) = entry.map(|it| (it.path(), it.file_type().unwrap())).unwrap();
            match kind {
                it if it.is_dir() => todo.push(path),
                it if it.is_file() && !path.ends_with("snapshot/pack") => {
                    let content = fs::read(&path).unwrap_or_default();
                    let is_there = content.windows(text.len()).any(|it| it == text.as_bytes());
                    found.extend(is_there.then_some(path));
                }
                _ => {}
            }
        }
    }
    found
}

/// In each step of putting back, over what the command wrote, over what is put back, and beside both.
#[test]
fn what_is_saved_while_it_is_put_back_is_kept() {
    let steps = ["take", "make", "fill", "touch", "directories of the snapshot", "hand over"];
    for step in steps {
        for name in ["one", "two", "d/new", "e/b", "untouched"] {
            let world = World::new(
                "echo one > one; echo two > two; mkdir d; echo b > d/b; echo u > untouched",
            );
            let (path, saved) = (world.root().join(name), Arc::new(AtomicBool::new(false)));
            let tell = saved.clone();
            let write = move || {
                if path.parent().is_some_and(Path::is_dir) {
                    save(&path, "saved by somebody");
                    tell.store(true, Ordering::SeqCst);
                }
            };
            let workspace = disturbed(&world, step, write);
            let layer = world.layer();
            let snapshot = workspace.snapshot(&SnapshotOptions::default()).unwrap();
            world.run("echo more >> one; rm two; mv d e; chmod 600 untouched; touch untouched");
            let case = format!("{name} before `{step}`");
            match snapshot.put_back(&layer) {
                // Their file is in the place of what was there: it is kept, and the rest comes back.
                Err(SnapshotError::Stuck(_)) => drop(world.workspace.recover().unwrap()),
                // What they wrote last is a conflict, and never what a person said yes to.
                Ok(it) => drop(world.workspace.commit(1, &it.changes, Durability::Crash)),
                Err(other) => panic!("{case}: {other}"),
            }
            assert!(!world.workspace.is_unfinished(), "{case}");
            let kept = places(&world, "saved by somebody");
            assert_eq!(kept.is_empty(), !saved.load(Ordering::SeqCst), "{case}: {kept:?}");
        }
    }
}

/// The program dies while it puts back, and a person works on before it is started again.
#[test]
fn what_is_saved_after_a_crash_is_rescued() {
    for (step, name) in [("make", "one"), ("make", "two"), ("fill", "two"), ("hand over", "one")] {
        let world = World::new(START);
        let before = world.tree();
        assert!(killed("run", world.dir.path(), step), "{step}");
        save(&world.root().join(name), "saved by somebody");
        world.workspace.recover().unwrap();
        assert_eq!(world.tree(), before, "{step}");
        let kept = places(&world, "saved by somebody");
        assert!(kept.iter().any(|it| it.to_string_lossy().contains("rescued")), "{step}: {kept:?}");
    }
}
