//! A real process, killed at every step of a commit, an undo and a recovery.
//!
//! The child is this very program: it is told on its standard input what to do and before which
//! step to kill itself.

use std::{
    fs,
    io::{Read, Write},
    os::unix::{fs::PermissionsExt, process::ExitStatusExt},
    path::Path,
    process::{Command, Stdio},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use eclusa_workspace::{Changes, Durability, UndoStatus, Workspace};

use crate::tree::{Snap, Tree, build, change, directory, file, link, mode, node, unshut};

/// Tells the child that it is one.
const CHILD: &str = "ECLUSA_TEST_KILLED_CHILD";

/// Started by the tests below; by itself it does nothing.
#[test]
fn child() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    let mut told = String::new();
    std::io::stdin().read_to_string(&mut told).unwrap();
    let mut told = told.lines();
    let what = told.next().unwrap();
    let (root, state) = (told.next().unwrap(), told.next().unwrap());
    let fatal: usize = told.next().unwrap().parse().unwrap();
    let steps = AtomicUsize::new(0);
    let die = move |_: &'static str| {
        if steps.fetch_add(1, Ordering::SeqCst) == fatal {
            let me = rustix::process::getpid();
            rustix::process::kill_process(me, rustix::process::Signal::KILL).unwrap();
        }
    };
    let ws = Workspace::attach(root, state).unwrap().watched(die);
    match what {
        "commit" => {
            ws.commit(1, &changes(Path::new(root)), Durability::Crash).map(drop).unwrap();
        }
        "undo" => ws.undo(2, &[1], Durability::Crash).map(drop).unwrap(),
        "recover" => ws.recover().map(drop).unwrap(),
        "compact" => {
            ws.compact(eclusa_workspace::Retention { recent: 0, bytes: u64::MAX })
                .map(drop)
                .unwrap();
        }
        other => panic!("nobody can {other}"),
    }
}

/// Runs the child. True: it was killed before this step. False: it came to its end.
fn killed(what: &str, root: &Path, state: &Path, step: usize) -> bool {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "kill::child", "--quiet"])
        .env(CHILD, "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let told = format!("{what}\n{}\n{}\n{step}\n", root.display(), state.display());
    child.stdin.take().unwrap().write_all(told.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    match output.status.signal() {
        Some(9) => true,
        _ if output.status.success() => false,
        _ => panic!("{what} failed: {output:?}"),
    }
}

/// A tree, and changes to it of every kind.
fn start() -> Tree {
    let file = |content: &str, mode| Snap::File(content.as_bytes().to_vec(), mode);
    Tree::from([
        ("altered".into(), file("old", 0o644)),
        ("mode".into(), file("same", 0o644)),
        ("gone".into(), file("gone", 0o600)),
        ("link".into(), Snap::Link("altered".into())),
        ("dir".into(), Snap::Directory(0o755)),
        ("dir/deep".into(), Snap::Directory(0o755)),
        ("dir/deep/file".into(), file("deep", 0o644)),
        ("becomes-file".into(), Snap::Directory(0o755)),
        ("becomes-file/inside".into(), file("inside", 0o644)),
        ("becomes-dir".into(), file("was a file", 0o644)),
        ("closed".into(), Snap::Directory(0o755)),
        ("moves".into(), file("a file that moves", 0o640)),
        ("away".into(), Snap::Directory(0o755)),
        ("away/one".into(), file("moves with its directory", 0o644)),
        ("away/two".into(), file("moves with it too", 0o600)),
        // What its owner may not write to.
        ("shut".into(), Snap::Directory(0o555)),
        ("shut/replaced".into(), file("old", 0o444)),
        ("shut/gone".into(), file("gone", 0o400)),
        ("shut/leaves".into(), file("leaves one shut directory for another", 0o444)),
        ("shut/inner".into(), Snap::Directory(0o500)),
        ("shut/inner/replaced".into(), file("old", 0o444)),
        ("shut/whole".into(), Snap::Directory(0o555)),
        ("shut/whole/one".into(), file("one", 0o444)),
        ("shut/other".into(), Snap::Directory(0o555)),
        ("shut/other/gone".into(), file("gone", 0o444)),
    ])
}

fn changes(root: &Path) -> Changes {
    let moved = |to: &str, from: &str| {
        let Some(eclusa_workspace::Node::File(node)) = node(&root.join(from)) else {
            panic!("{from}")
        };
        let after =
            Some(eclusa_workspace::Node::File(eclusa_workspace::FileNode { stamp: None, ..node }));
        eclusa_workspace::Change { from: Some(from.into()), ..change(root, to, after) }
    };
    Changes::of([
        change(root, "moves", None),
        moved("new/moved", "moves"),
        change(root, "away", None),
        change(root, "away/one", None),
        change(root, "away/two", None),
        change(root, "back", directory(0o755)),
        moved("back/one", "away/one"),
        moved("back/two", "away/two"),
        change(root, "altered", file("new")),
        change(
            root,
            "mode",
            Some(eclusa_workspace::Node::File(eclusa_workspace::FileNode::new(*b"same", 0o755))),
        ),
        change(root, "gone", None),
        change(root, "link", link("elsewhere")),
        change(root, "dir", None),
        change(root, "dir/deep", None),
        change(root, "dir/deep/file", None),
        change(root, "becomes-file", file("a file now")),
        change(root, "becomes-file/inside", None),
        change(root, "becomes-dir", directory(0o755)),
        change(root, "becomes-dir/child", file("child")),
        change(root, "new", directory(0o555)),
        change(root, "new/file", file("fresh")),
        change(root, "closed", directory(0o500)),
        change(root, "shut/new", file("new")),
        change(root, "shut/replaced", file("new")),
        change(root, "shut/gone", None),
        change(root, "shut/leaves", None),
        moved("shut/inner/arrived", "shut/leaves"),
        change(root, "shut/inner/replaced", file("new")),
        change(root, "shut/inner/made", directory(0o555)),
        change(root, "shut/inner/made/file", file("made")),
        change(root, "shut/whole", None),
        change(root, "shut/whole/one", None),
        // From one mode that shuts it to another.
        change(root, "shut/other", directory(0o500)),
        change(root, "shut/other/gone", None),
    ])
}

/// A fresh workspace; the state may be on another filesystem.
struct Scene {
    _dir: tempfile::TempDir,
    _other: Option<tempfile::TempDir>,
    root: std::path::PathBuf,
    state: std::path::PathBuf,
}

fn scene(copied: bool) -> Scene {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("ws");
    fs::create_dir(&root).unwrap();
    build(&root, &start());
    let other = copied.then(|| tempfile::tempdir_in("/dev/shm").unwrap());
    let state = other.as_ref().map_or(dir.path(), |it| it.path()).join("state");
    fs::set_permissions(&root, fs::Permissions::from_mode(0o555)).unwrap();
    Scene { _dir: dir, _other: other, root, state }
}

impl Drop for Scene {
    fn drop(&mut self) {
        unshut(&self.root);
    }
}

/// Everything below the workspace, which itself is as shut as it was.
fn tree(root: &Path) -> Tree {
    assert_eq!(mode(root), 0o555);
    crate::tree::tree(root)
}

/// A step of a commit before which half of the others have been taken.
fn middle() -> usize {
    let at = scene(false);
    let steps: Arc<Mutex<Vec<&'static str>>> = Arc::default();
    let seen = steps.clone();
    let ws = Workspace::attach(&at.root, &at.state).unwrap();
    let ws = ws.watched(move |it| seen.lock().unwrap().push(it));
    ws.commit(1, &changes(&at.root), Durability::Crash).unwrap();
    let steps = steps.lock().unwrap();
    let taken: Vec<usize> = (0..steps.len()).filter(|it| steps[*it] == "apply").collect();
    taken[taken.len() / 2]
}

impl Scene {
    fn commit(&self) -> Tree {
        let ws = Workspace::attach(&self.root, &self.state).unwrap();
        ws.commit(1, &changes(&self.root), Durability::Crash).unwrap();
        tree(&self.root)
    }
}

/// A8: kills a commit at every step, and finds all or nothing of it.
fn commits(copied: bool) {
    let after = scene(copied).commit();
    let (mut before_seen, mut after_seen) = (0, 0);
    for step in 0.. {
        let at = scene(copied);
        let dead = killed("commit", &at.root, &at.state, step);
        let (ws, recovered) = Workspace::open(&at.root, &at.state).unwrap();
        assert!(recovered.left.is_empty(), "step {step}: {recovered:?}");
        let found = tree(&at.root);
        let entries = ws.entries().unwrap();
        if found == after {
            after_seen += 1;
            assert_eq!(entries.len(), 1, "step {step}");
            ws.undo(2, &[1], Durability::Crash).unwrap();
            assert_eq!(tree(&at.root), start(), "step {step}");
        } else {
            before_seen += 1;
            assert_eq!(found, start(), "step {step}");
            assert!(entries.is_empty(), "step {step}");
            // The call may try again.
            ws.commit(1, &changes(&at.root), Durability::Crash).unwrap();
            assert_eq!(tree(&at.root), after, "step {step}");
        }
        assert_eq!(fs::read_dir(at.state.join("open")).unwrap().count(), 0, "step {step}");
        assert!(ws.recover().unwrap().is_nothing());
        if !dead {
            break;
        }
    }
    assert!(before_seen > 40 && after_seen >= 2, "{before_seen} {after_seen}");
}

/// Shows A8.
#[test]
fn a_commit_killed_at_every_step_is_all_or_nothing() {
    commits(false);
}

/// Shows A8.
#[test]
fn a_commit_from_another_filesystem_killed_at_every_step_is_all_or_nothing() {
    if tempfile::tempdir_in("/dev/shm").is_ok() {
        commits(true);
    }
}

/// Shows U.
#[test]
fn an_undo_killed_at_every_step_is_all_or_nothing() {
    undoes(false);
}

/// Shows U.
#[test]
fn an_undo_on_another_filesystem_killed_at_every_step_is_all_or_nothing() {
    if tempfile::tempdir_in("/dev/shm").is_ok() {
        undoes(true);
    }
}

fn undoes(copied: bool) {
    for step in 0.. {
        let at = scene(copied);
        let after = at.commit();
        let dead = killed("undo", &at.root, &at.state, step);
        let (ws, recovered) = Workspace::open(&at.root, &at.state).unwrap();
        assert!(recovered.left.is_empty(), "step {step}: {recovered:?}");
        let status = ws.entries().unwrap()[0].status.clone();
        if tree(&at.root) == start() {
            assert_eq!(status, UndoStatus::Undone { by: 2 }, "step {step}");
            ws.redo(3, None, Durability::Crash).unwrap();
            assert_eq!(tree(&at.root), after, "step {step}");
        } else {
            assert_eq!(tree(&at.root), after, "step {step}");
            assert_eq!(status, UndoStatus::Committed, "step {step}");
            ws.undo(2, &[1], Durability::Crash).unwrap();
            assert_eq!(tree(&at.root), start(), "step {step}");
        }
        if !dead {
            return;
        }
    }
}

/// Shows A8.
#[test]
fn a_recovery_killed_at_every_step_is_done_by_the_next() {
    let middle = middle();
    for step in 0.. {
        let at = scene(false);
        assert!(killed("commit", &at.root, &at.state, middle));
        let dead = killed("recover", &at.root, &at.state, step);
        Workspace::open(&at.root, &at.state).unwrap();
        assert_eq!(tree(&at.root), start(), "step {step}");
        if !dead {
            assert!(step > 10, "the commit was killed where there was little to take back");
            return;
        }
    }
}

/// Shows U.
#[test]
fn a_compaction_killed_at_every_step_loses_nothing() {
    for step in 0.. {
        let at = scene(false);
        at.commit();
        let dead = killed("compact", &at.root, &at.state, step);
        let (ws, _) = Workspace::open(&at.root, &at.state).unwrap();
        ws.undo(2, &[1], Durability::Crash).unwrap();
        assert_eq!(tree(&at.root), start(), "step {step}");
        if !dead {
            return;
        }
    }
}

/// A16: what somebody wrote after the crash is not overwritten by the recovery.
/// Shows A16.
#[test]
fn a_recovery_leaves_what_somebody_changed_since_the_crash() {
    let at = scene(false);
    for step in 0.. {
        assert!(killed("commit", &at.root, &at.state, step));
        if fs::read_to_string(at.root.join("altered")).unwrap() == "new" {
            break;
        }
        Workspace::open(&at.root, &at.state).unwrap();
        assert_eq!(tree(&at.root), start());
    }
    fs::write(at.root.join("altered"), "mine").unwrap();
    let (_, recovered) = Workspace::open(&at.root, &at.state).unwrap();
    assert_eq!(recovered.reverted, [1]);
    let [left] = recovered.left.as_slice() else { panic!("{recovered:?}") };
    assert_eq!(left.path, Path::new("altered"));
    assert_eq!(fs::read_to_string(&left.kept).unwrap(), "old");
    let mut expected = start();
    expected.insert("altered".into(), Snap::File(b"mine".to_vec(), 0o644));
    assert_eq!(tree(&at.root), expected);
}

/// Two processes at once: one waits for the other, and a dead one is no obstacle.
/// Shows A9.
#[test]
fn two_processes_commit_one_after_the_other() {
    let at = scene(false);
    assert!(killed("commit", &at.root, &at.state, middle()));
    let threads: Vec<_> = (10..18)
        .map(|call| {
            let (root, state) = (at.root.clone(), at.state.clone());
            std::thread::spawn(move || {
                // Each has handles of its own, as a process would.
                let ws = Workspace::attach(&root, state).unwrap();
                let mine = Changes::of([change(&root, &format!("by-{call}"), file("x"))]);
                ws.commit(call, &mine, Durability::Crash).unwrap();
            })
        })
        .collect();
    threads.into_iter().for_each(|it| it.join().unwrap());
    let mut expected = start();
    for call in 10..18 {
        expected.insert(format!("by-{call}").into(), Snap::File(b"x".to_vec(), 0o644));
    }
    assert_eq!(tree(&at.root), expected);
    let ws = Workspace::attach(&at.root, &at.state).unwrap();
    let sequences: Vec<u64> = ws.entries().unwrap().iter().map(|it| it.sequence).collect();
    assert!(sequences.is_sorted() && sequences.len() == 8, "{sequences:?}");
}
