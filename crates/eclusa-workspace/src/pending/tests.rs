//! Tests of runs that wait to be applied.

use std::{
    fs,
    io::Write as _,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use serde_json::json;

use super::{
    PendingError, PendingOutcome, PendingRun, PendingTerms,
    room::{MAX_BYTES, MAX_RUNS},
};
use crate::{Change, Changes, Content, Durability, FileNode, Node, Workspace};

struct World {
    dir: tempfile::TempDir,
    workspace: Workspace,
}

impl World {
    fn new() -> World {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("ws");
        fs::create_dir(&root).unwrap();
        let (workspace, _) = Workspace::open(&root, dir.path().join("state")).unwrap();
        World { dir, workspace }
    }

    fn file(&self, path: &str) -> Option<Node> {
        let content = fs::read(self.dir.path().join("ws").join(path)).ok()?;
        Some(Node::File(FileNode::new(content, 0o644)))
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.dir.path().join("ws").join(path);
        fs::File::create(path).unwrap().write_all(text.as_bytes()).unwrap();
    }

    fn keep(&self, call: u64, changes: &Changes, asked: bool) -> Result<PendingRun, PendingError> {
        let keep = Duration::from_secs(60);
        let terms = PendingTerms { asked, keep, survives: Durability::PowerLoss };
        self.workspace.keep_pending(call, json!({"call": call}), changes, terms)
    }
}

fn new(text: &str) -> Option<Node> {
    Some(Node::File(FileNode::new(text.as_bytes().to_vec(), 0o644)))
}

fn change(path: &str, before: Option<Node>, after: Option<Node>) -> Change {
    Change { path: path.into(), from: None, before, after }
}

#[test]
fn what_is_pending_is_committed_unless_the_workspace_has_changed() {
    let world = World::new();
    world.write("a.txt", "old\n");
    world.write("gone.txt", "bye\n");
    let changes = Changes::of([
        change("a.txt", world.file("a.txt"), new("new\n")),
        change("gone.txt", world.file("gone.txt"), None),
        change("d", None, Some(Node::Directory { mode: 0o755 })),
        change("d/link", None, Some(Node::Link { target: "../a.txt".into() })),
    ]);
    world.keep(7, &changes, true).unwrap();
    assert_eq!(world.workspace.pending_calls(), [7]);
    let kept = world.workspace.claim_pending(7).unwrap();
    assert_eq!((kept.changes.digest(), &kept.about), (changes.digest(), &json!({"call": 7})));
    assert!(matches!(world.workspace.claim_pending(7), Err(PendingError::Busy(7))));
    world.write("a.txt", "somebody else\n");
    let err = world.workspace.commit(8, &kept.changes, Durability::Crash).unwrap_err();
    assert!(err.to_string().contains("a.txt"), "{err}");
    world.write("a.txt", "old\n");
    world.workspace.commit(9, &kept.changes, Durability::Crash).unwrap();
    kept.finish(&PendingOutcome::Applied { by: 9 }).unwrap();
    drop(kept);
    let root = world.dir.path().join("ws");
    assert_eq!(fs::read_to_string(root.join("d/link")).unwrap(), "new\n");
    assert!(!root.join("gone.txt").exists());
    let again = world.workspace.claim_pending(7);
    assert!(matches!(again, Err(PendingError::Applied { call: 7, by: 9 })), "{again:?}");
    assert_eq!(world.workspace.pending_calls(), [0; 0]);
}

/// Killed after the commit and before that is noted: it is not applied twice.
#[test]
fn a_taker_that_died_after_its_commit_has_applied_it() {
    let world = World::new();
    let changes = Changes::of([change("a.txt", None, new("a\n"))]);
    world.keep(3, &changes, true).unwrap();
    let kept = world.workspace.claim_pending(3).unwrap();
    kept.begin(4).unwrap();
    drop(kept);
    // It died before the commit: whoever comes next has it.
    let kept = world.workspace.claim_pending(3).unwrap();
    kept.begin(5).unwrap();
    world.workspace.commit(5, &kept.changes, Durability::Crash).unwrap();
    drop(kept);
    let again = world.workspace.claim_pending(3);
    assert!(matches!(again, Err(PendingError::Applied { call: 3, by: 5 })), "{again:?}");
    assert_eq!(world.workspace.pending_outcome(3), Some(PendingOutcome::Applied { by: 5 }));
}

#[test]
fn what_nobody_is_asked_about_goes_first_and_what_has_no_room_is_refused() {
    let world = World::new();
    let small = |call: u64| Changes::of([change("a.txt", None, new(&format!("{call}\n")))]);
    world.keep(1, &small(1), true).unwrap();
    for call in 2..=110 {
        world.keep(call, &small(call), false).unwrap();
    }
    let calls = world.workspace.pending_calls();
    assert_eq!((calls.len(), calls.first(), calls.last()), (MAX_RUNS, Some(&1), Some(&110)));
    // Whoever has the new one is told which had to go: the oldest that nobody is asked about.
    assert_eq!(world.keep(111, &small(111), false).unwrap().dropped, [12]);
    let Some(Node::File(mut file)) = new("x") else { unreachable!() };
    (file.size, file.content) = (MAX_BYTES + 1, Content::InPlace);
    let large = Changes::of([change("b.txt", None, Some(Node::File(file)))]);
    assert!(matches!(world.keep(112, &large, true), Err(PendingError::Full(_))));
}

#[test]
fn what_cannot_be_read_back_leaves_nothing_behind() {
    let world = World::new();
    let Some(Node::File(mut file)) = new("x") else { unreachable!() };
    file.content = Content::Staged(world.dir.path().join("gone"));
    let changes = Changes::of([change("b.txt", None, Some(Node::File(file)))]);
    assert!(world.keep(1, &changes, true).is_err());
    let left = fs::read_dir(world.workspace.state().join("pending")).unwrap();
    assert_eq!(left.count(), 0);
}

/// A content that is no longer the one that was judged is not applied, nor is another list.
#[test]
fn what_was_damaged_is_refused() {
    let world = World::new();
    let changes = Changes::of([change("a.txt", None, new("a\n"))]);
    world.keep(1, &changes, true).unwrap();
    let kept = world.workspace.pending_run(1).unwrap();
    let place = world.workspace.state().join("pending/1");
    fs::File::create(place.join("0")).unwrap().write_all(b"b\n").unwrap();
    let err = world.workspace.commit(2, &kept.changes, Durability::Crash).unwrap_err();
    assert!(err.to_string().contains("not the one that was judged"), "{err}");
    fs::File::create(place.join("run.json")).unwrap().write_all(b"{").unwrap();
    let err = world.workspace.pending_run(1).unwrap_err();
    assert!(err.to_string().contains("damaged"), "{err}");
}

impl World {
    /// The workspace as somebody has it who dies before this step.
    fn dying_at(&self, step: usize) -> Workspace {
        let taken = AtomicUsize::new(0);
        self.workspace.clone().watched(move |_| {
            assert!(taken.fetch_add(1, Ordering::Relaxed) != step, "killed");
        })
    }

    /// The workspace as the next process has it.
    fn next(&self) -> Workspace {
        let (root, state) = (self.dir.path().join("ws"), self.dir.path().join("state"));
        Workspace::open(root, state).unwrap().0
    }
}

fn take(workspace: &Workspace, call: u64, by: u64) {
    let run = workspace.claim_pending(call).unwrap();
    run.begin(by).unwrap();
    workspace.commit_kept(by, &run.changes, &run.git, Durability::Crash).unwrap();
    run.finish(&PendingOutcome::Applied { by }).unwrap();
}

/// Killed at each step of keeping: it is there whole, or not at all.
#[test]
fn killed_while_it_is_kept_it_is_there_whole_or_not_at_all() {
    for step in 0.. {
        let world = World::new();
        let changes = Changes::of([change("a.txt", None, new("a\n"))]);
        let dying = world.dying_at(step);
        let keep = || dying.keep_pending(1, json!({}), &changes, PendingTerms::DISCARDED).is_ok();
        let lived = catch_unwind(AssertUnwindSafe(keep)).is_ok();
        let next = world.next();
        if next.pending_calls() == [1] {
            take(&next, 1, 2);
            assert_eq!(fs::read(next.root().join("a.txt")).unwrap(), b"a\n");
        }
        if lived {
            break;
        }
    }
}

/// Killed at each step of taking: whoever comes next finishes it, and nothing is applied twice.
#[test]
fn killed_while_it_is_taken_nothing_is_lost_and_nothing_applied_twice() {
    for step in 0.. {
        let world = World::new();
        world.write("a.txt", "old\n");
        let changes = Changes::of([
            change("a.txt", world.file("a.txt"), new("new\n")),
            change("b.txt", None, new("b\n")),
        ]);
        world.keep(1, &changes, true).unwrap();
        let dying = world.dying_at(step);
        let lived = catch_unwind(AssertUnwindSafe(|| take(&dying, 1, 2))).is_ok();
        let next = world.next();
        match next.claim_pending(1) {
            Ok(run) => {
                drop(run);
                take(&next, 1, 3);
            }
            Err(err) => {
                assert!(matches!(err, PendingError::Applied { by: 2, .. }), "{step}: {err}")
            }
        }
        assert_eq!(world.file("a.txt").unwrap(), new("new\n").unwrap(), "step {step}");
        assert_eq!(next.entries().unwrap().len(), 1, "step {step}");
        if lived {
            assert!(step > 5, "there were steps to die at");
            break;
        }
    }
}
