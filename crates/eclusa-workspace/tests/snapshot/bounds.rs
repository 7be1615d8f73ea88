//! What a snapshot covers, and how much at most.

use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use eclusa_workspace::{Durability, SnapshotError, SnapshotOptions, Workspace};

use crate::world::{World, told};

#[test]
fn beyond_its_bounds_a_snapshot_is_refused_and_says_which() {
    let world =
        World::new("for i in $(seq 20); do echo $i > $i; done; head -c 100000 /dev/zero > large");
    let few = SnapshotOptions { max_names: 10, ..SnapshotOptions::default() };
    let err = world.workspace.snapshot(&few).unwrap_err().to_string();
    assert!(err.contains("more than 10 names") && err.contains("commands.live"), "{err}");
    let small = SnapshotOptions { max_bytes: 50_000, ..SnapshotOptions::default() };
    let err = world.workspace.snapshot(&small).unwrap_err().to_string();
    assert!(err.contains("more than 50000 bytes"), "{err}");
    assert!(!world.workspace.is_unfinished());
    // What is live does not count, and nothing of a refused one is in the way.
    let live = SnapshotOptions { live: vec!["big".into()], ..small };
    world.run("mkdir big; mv large big");
    drop(world.workspace.snapshot(&live).unwrap());
    // The bounds hold for what is known already, too.
    let err = world.workspace.snapshot(&few).unwrap_err().to_string();
    assert!(err.contains("more than 10 names"), "{err}");
}

/// As on filesystems whose times prove nothing.
#[test]
fn where_times_prove_nothing_all_contents_are_compared() {
    let world = World::new("echo one > one; echo two > two; touch -d 2001-01-01 one two");
    let options = SnapshotOptions { compares_all: true, ..SnapshotOptions::default() };
    let step = Arc::new(AtomicUsize::new(0));
    let count = step.clone();
    let state = world.dir.path().join("state");
    let workspace = Workspace::attach(world.root(), state).unwrap().watched(move |next| {
        count.fetch_add(usize::from(next == "copy"), Ordering::SeqCst);
    });
    for round in 1..4 {
        let before = world.tree();
        let snapshot = workspace.snapshot(&options).unwrap();
        // Read again each time, and kept once.
        assert_eq!(step.load(Ordering::SeqCst), 2 * round);
        world.run("echo more >> one; rm two");
        let outcome = snapshot.put_back(&world.layer()).unwrap();
        assert_eq!(told(&outcome), ["altered one", "gone two"]);
        assert_eq!(world.tree(), before);
    }
    let pack = world.dir.path().join("state/snapshot/pack");
    assert_eq!(fs::metadata(pack).unwrap().len(), 8);
}

#[test]
fn build_output_that_git_does_not_track_stays_and_is_told() {
    let world = World::new(
        "git init -q .; mkdir -p target/debug node_modules/x dist build/sub src/vendor
         echo a > target/debug/a; echo n > node_modules/x/n; echo d > dist/d; echo b > build/sub/b
         echo v > src/vendor/v; git add -f dist/d build/sub/b; mkdir -p .git/refs/heads/build
         echo 1 > .git/refs/heads/build/x",
    );
    let outcome = world.stage(
        "echo new > target/debug/a; echo new > target/b; echo x > node_modules/evil
         echo x > dist/d; rm -r build; echo x > src/vendor/v; echo 2 > .git/refs/heads/build/x",
    );
    let outcome = outcome.unwrap();
    let expected = [
        "altered .git/refs/heads/build/x",
        "gone build",
        "gone build/sub",
        "gone build/sub/b",
        "altered dist/d",
    ];
    assert_eq!(told(&outcome), expected);
    assert_eq!((world.read("dist/d"), world.read("build/sub/b")), ("d\n".into(), "b\n".into()));
    assert_eq!(
        (world.read("target/b"), world.read("src/vendor/v")),
        ("new\n".into(), "x\n".into())
    );
    let notes = outcome.notes.join("\n");
    // What was made at nearly the same moment may be counted too: nothing is kept to compare it with.
    for told in ["changed 2 files in `target`", " in `node_modules`, which stay", "in `src/vendor`"]
    {
        assert!(notes.contains(told), "{told}: {notes}");
    }
    // What takes the place of a live directory is a change like any other.
    let outcome = world.stage("rm -r target; ln -s / target; rm -r node_modules").unwrap();
    assert_eq!(told(&outcome), ["made target"]);
    assert!(!world.root().join("target").exists() && !world.root().join("node_modules").exists());
    assert!(outcome.notes.join("").contains("removed `node_modules`"), "{:?}", outcome.notes);
}

/// Where no git says what somebody wrote, only what nobody writes by hand is live.
#[test]
fn without_git_what_may_be_somebodys_own_is_covered() {
    let world = World::new(
        "mkdir build out node_modules; echo b > build/b; echo o > out/o; echo n > node_modules/n",
    );
    let outcome = world.stage("echo x > build/b; rm out/o; echo x > node_modules/n").unwrap();
    assert_eq!(told(&outcome), ["altered build/b", "gone out/o"]);
    assert_eq!((world.read("build/b"), world.read("node_modules/n")), ("b\n".into(), "x\n".into()));
}

#[test]
fn large_objects_of_git_are_linked_and_survive_their_removal() {
    let world = World::new(
        "mkdir -p .git/objects/pack; head -c 2000000 /dev/urandom > .git/objects/pack/p.pack
         chmod 444 .git/objects/pack/p.pack; touch -d 2020-01-01 .git/objects/pack/p.pack",
    );
    let content = fs::read(world.root().join(".git/objects/pack/p.pack")).unwrap();
    let outcome = world.stage("rm -rf .git/objects").unwrap();
    assert_eq!(told(&outcome).len(), 3);
    assert_eq!(fs::read(world.root().join(".git/objects/pack/p.pack")).unwrap(), content);
    let pack = world.dir.path().join("state/snapshot/pack");
    assert!(fs::metadata(&pack).unwrap().len() < 1_000_000, "it was not copied");
    let outcome = world.stage("mv .git/objects/pack/p.pack .git/objects/pack/q.pack").unwrap();
    assert_eq!(
        told(&outcome),
        [
            "gone .git/objects/pack/p.pack",
            "made .git/objects/pack/q.pack from .git/objects/pack/p.pack",
        ]
    );
    // One that is overwritten where it is has no copy, and that is told.
    let outcome =
        world.stage("cd .git/objects/pack; chmod u+w p.pack; echo evil > p.pack").unwrap();
    assert!(outcome.notes.join("").contains("overwrote"), "{:?}", outcome.notes);
}

/// A pack that has lost its end, or most of which nothing refers to, is begun anew.
#[test]
fn a_pack_that_is_not_whole_is_not_relied_on() {
    let world = World::new("for i in $(seq 50); do echo $i > $i; done; touch -d 2001-01-01 *");
    world.stage("true").unwrap();
    let pack = world.dir.path().join("state/snapshot/pack");
    fs::File::options().write(true).open(&pack).unwrap().set_len(10).unwrap();
    let before = world.tree();
    let outcome = world.stage("rm *").unwrap();
    assert_eq!(world.tree(), before, "{:?}", outcome.notes);
    // What a large file held is dropped with it.
    world.run("head -c 200000000 /dev/zero > large");
    world.stage("true").unwrap();
    assert!(fs::metadata(&pack).unwrap().len() > 200_000_000);
    world.run("rm large");
    world.stage("true").unwrap();
    world.stage("true").unwrap();
    assert!(fs::metadata(&pack).unwrap().len() < 1_000_000);
}

#[test]
fn one_command_at_a_time_and_others_wait_for_it() {
    let world = World::new("echo a > a");
    let snapshot = world.snapshot();
    let at_once = SnapshotOptions { patience: Duration::ZERO, ..SnapshotOptions::default() };
    let err = world.workspace.snapshot(&at_once).unwrap_err();
    assert!(matches!(err, SnapshotError::Busy), "{err}");
    // It is going on, and nobody who only looks waits for it.
    assert!(!world.workspace.is_unfinished());
    let root = world.root();
    let (other, _) = {
        let dir = world.dir.path().to_owned();
        let waits = std::thread::spawn(move || Workspace::open(root, dir.join("state")).unwrap());
        world.run("echo b > a");
        snapshot.put_back(&world.layer()).unwrap();
        waits.join().unwrap()
    };
    assert_eq!(world.read("a"), "a\n");
    drop(other.snapshot(&at_once).unwrap());
}

/// What is dropped is put back, and what the command did goes with it.
#[test]
fn a_snapshot_that_is_dropped_puts_everything_back() {
    let world = World::new("echo a > a");
    let before = world.tree();
    let snapshot = world.snapshot();
    world.run("echo b > a; echo c > c");
    drop(snapshot);
    assert_eq!(world.tree(), before);
    assert!(!world.workspace.is_unfinished());
    assert!(!world.dir.path().join("state/snapshot/taken").exists());
}

#[test]
fn what_somebody_changes_after_it_was_put_back_is_a_conflict() {
    let world = World::new("echo a > a");
    let outcome = world.stage("echo b > a").unwrap();
    world.run("echo somebody > a");
    let err = world.workspace.commit(1, &outcome.changes, Durability::Crash).unwrap_err();
    assert!(err.to_string().contains("have changed meanwhile"), "{err}");
    assert_eq!(world.read("a"), "somebody\n");
}
