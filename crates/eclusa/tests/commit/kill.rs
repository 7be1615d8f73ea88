//! A real process, killed at every step of a commit, an undo and a recovery.
//!
//! The child is this very program: it is told on its standard input what to do and before which
//! step to kill itself.

use std::{
    fs,
    io::{Read, Write},
    path::Path,
    process::{Command, Stdio},
    sync::atomic::{AtomicUsize, Ordering},
};

use eclusa::{Changes, Durability, Workspace};

use crate::tree::{Tree, build, change, directory, file, link, open, tree};

/// Started by the tests below; by itself it does nothing.
#[test]
#[ignore = "the child of the kill tests"]
fn child() {
    let mut told = String::new();
    std::io::stdin().read_to_string(&mut told).unwrap();
    let mut told = told.lines();
    let Some(what) = told.next() else { return };
    let (root, state) = (told.next().unwrap(), told.next().unwrap());
    let fatal: usize = told.next().unwrap().parse().unwrap();
    let steps = AtomicUsize::new(0);
    let die = move |_: &'static str| {
        if steps.fetch_add(1, Ordering::SeqCst) == fatal {
            let me = rustix::process::getpid();
            rustix::process::kill_process(me, rustix::process::Signal::KILL).unwrap();
            loop {
                std::thread::park();
            }
        }
    };
    if what == "recover" {
        // Opened by the parent before anything died, so that the steps are counted from here.
        let (ws, _) = Workspace::open(root, Path::new(state).with_extension("empty")).unwrap();
        drop(ws);
    }
    let ws = Workspace::reopen(root, state).unwrap().watched(die);
    match what {
        "commit" => {
            let changes = prepared(Path::new(root));
            ws.commit(1, &changes, Durability::Crash).map(drop).unwrap();
        }
        "undo" => ws.undo(2, &[1], Durability::Crash).map(drop).unwrap(),
        "recover" => ws.recover().map(drop).unwrap(),
        other => panic!("nobody can {other}"),
    }
}
