//! Tests of the lock that working trees share.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
};

use rustix::fs::{FlockOperation, Mode, OFlags};

use crate::{Change, Changes, Durability, FileNode, Node, Workspace};

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::File::create(path).unwrap().write_all(text.as_bytes()).unwrap();
}

/// A repository with a working tree beside the main one, as `git worktree add` makes it.
fn trees(place: &Path) -> [PathBuf; 2] {
    let (main, side) = (place.join("main"), place.join("side"));
    let (git, own) = (main.join(".git"), main.join(".git/worktrees/side"));
    fs::create_dir_all(git.join("objects")).unwrap();
    fs::create_dir_all(git.join("refs")).unwrap();
    write(&git.join("HEAD"), "ref: refs/heads/main\n");
    write(&own.join("commondir"), "../..\n");
    write(&own.join("gitdir"), &format!("{}\n", side.join(".git").display()));
    write(&side.join(".git"), &format!("gitdir: {}\n", own.display()));
    [main, side]
}

/// Whoever changes something in one working tree holds what the others wait for, and gives it back.
#[test]
fn working_trees_of_a_repository_share_a_lock() {
    let dir = tempfile::tempdir().unwrap();
    let place = dir.path().canonicalize().unwrap();
    for (at, tree) in trees(&place).into_iter().enumerate() {
        let git = place.join("main/.git");
        let is_free = move || {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let git = rustix::fs::open(&git, flags, Mode::empty()).unwrap();
            rustix::fs::flock(git, FlockOperation::NonBlockingLockExclusive).is_ok()
        };
        let was_free = std::sync::Arc::new(AtomicBool::new(false));
        let (workspace, _) = Workspace::open(&tree, place.join(format!("state{at}"))).unwrap();
        let looking = (is_free.clone(), was_free.clone());
        let workspace = workspace.watched(move |step| {
            if step == "apply" && (looking.0)() {
                looking.1.store(true, Ordering::Relaxed);
            }
        });
        let node = Node::File(FileNode::new(b"new\n".to_vec(), 0o644));
        let change = Change { path: "a.txt".into(), from: None, before: None, after: Some(node) };
        workspace.commit(1, &Changes::of([change]), Durability::Crash).unwrap();
        assert!(tree.join("a.txt").exists());
        assert!(!was_free.load(Ordering::Relaxed), "{}", tree.display());
        assert!(is_free(), "it is given back");
    }
}
