//! A real process, killed at every step: whoever comes next puts the workspace back.
//!
//! The child is this very program: it is told on its standard input what to do and before which
//! step to kill itself.

use std::{
    fmt::Display,
    fs,
    io::{Read, Write},
    os::unix::process::ExitStatusExt,
    path::Path,
    process::{Command, Stdio},
    sync::atomic::{AtomicUsize, Ordering},
};

use eclusa_workspace::{SnapshotOptions, Workspace};

use crate::world::{World, run};

/// Tells the child that it is one.
const CHILD: &str = "ECLUSA_TEST_SNAPSHOT_CHILD";

pub(crate) const START: &str = "echo one > one; echo two > two; mkdir -p d/deep; echo b > d/deep/b; ln -s one link
    mkfifo pipe; echo h > h1; ln h1 h2; touch -d 2001-01-01 one d d/deep; mkdir shut; chmod 500 shut";
const SCRIPT: &str =
    "echo more >> one; rm two pipe; mv d e; rm link; ln -s / link; echo changed > h1
    mkdir -p new/in; echo n > new/in/n; chmod 700 shut; touch h2";

/// The step before which the command has run.
const RAN: &str = "walk after the command";

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
    let dir = Path::new(told.next().unwrap());
    let fatal = told.next().unwrap().to_owned();
    let steps = AtomicUsize::new(0);
    let die = move |next: &'static str| {
        if steps.fetch_add(1, Ordering::SeqCst).to_string() == fatal || next == fatal {
            let me = rustix::process::getpid();
            rustix::process::kill_process(me, rustix::process::Signal::KILL).unwrap();
        }
    };
    let ws = Workspace::attach(dir.join("ws"), dir.join("state")).unwrap().watched(die);
    match what {
        "run" => {
            let mut snapshot = ws.snapshot(&SnapshotOptions::default()).unwrap();
            // Nobody has this number.
            snapshot.started(i32::MAX).unwrap();
            run(&dir.join("ws"), SCRIPT);
            fs::create_dir(dir.join("layer")).unwrap();
            snapshot.put_back(&dir.join("layer")).unwrap();
        }
        "recover" => ws.recover().map(drop).unwrap(),
        other => panic!("nobody can {other}"),
    }
}

/// Runs the child. True: it was killed before this step, the first of this name or with this number. False: it
/// came to its end.
pub(crate) fn killed(what: &str, dir: &Path, step: impl Display) -> bool {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "crash::child", "--quiet"])
        .env(CHILD, "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let told = format!("{what}\n{}\n{step}\n", dir.display());
    child.stdin.take().unwrap().write_all(told.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    match output.status.signal() {
        Some(9) => true,
        _ if output.status.success() => false,
        _ => panic!("{what} failed: {output:?}"),
    }
}

#[test]
fn killed_at_any_step_the_workspace_is_put_back_by_whoever_comes_next() {
    let mut step = 0;
    loop {
        let world = World::new(START);
        let before = world.tree();
        if !killed("run", world.dir.path(), step) {
            assert!(step > 25, "{step} steps");
            assert_eq!(world.tree(), before);
            return;
        }
        let ran = world.tree() != before;
        let recovered = world.workspace.recover().unwrap();
        assert_eq!(world.tree(), before, "step {step}: {recovered:?}");
        assert!(!ran || recovered.rescued.is_some(), "step {step}");
        assert!(!world.workspace.is_unfinished());
        assert!(world.workspace.recover().unwrap().is_nothing());
        step += 1;
    }
}

/// What the command had done is kept, whoever died, and however often.
#[test]
fn killed_while_it_is_put_back_what_the_command_did_is_kept() {
    for step in [0, 2, 5, 9, 14] {
        let world = World::new(START);
        let before = world.tree();
        assert!(killed("run", world.dir.path(), RAN));
        killed("recover", world.dir.path(), step);
        let recovered = world.workspace.recover().unwrap();
        assert_eq!(world.tree(), before, "step {step}");
        let rescued = fs::read_dir(world.dir.path().join("state/rescued")).unwrap();
        let kept: Vec<_> = rescued.map(|it| it.unwrap().path()).collect();
        let of = |path: &str| kept.iter().find_map(|it| fs::read_to_string(it.join(path)).ok());
        assert_eq!(of("one").as_deref(), Some("one\nmore\n"), "step {step}: {recovered:?}");
        assert_eq!(of("new/in/n").as_deref(), Some("n\n"), "step {step}");
    }
}

/// Whoever changes the workspace next puts it back first.
#[test]
fn the_next_command_and_the_next_commit_put_it_back_first() {
    let world = World::new(START);
    let before = world.tree();
    assert!(killed("run", world.dir.path(), RAN));
    assert_ne!(world.tree(), before);
    assert!(world.workspace.is_unfinished());
    let outcome = world.stage("echo again >> one").unwrap();
    assert_eq!(outcome.changes.len(), 1);
    assert_eq!(world.tree(), before);
    assert!(killed("run", world.dir.path(), RAN));
    let changes = outcome.changes;
    world.workspace.commit(1, &changes, eclusa_workspace::Durability::Crash).unwrap();
    assert_eq!(world.read("one"), "one\nagain\n");
    assert_eq!(world.read("two"), "two\n");
}

/// A journal or a list that cannot be understood stops every change, and says what to do.
#[test]
fn a_damaged_snapshot_stops_and_is_told() {
    let world = World::new(START);
    assert!(killed("run", world.dir.path(), RAN));
    let manifest = world.dir.path().join("state/snapshot/manifest");
    let mut bytes = fs::read(&manifest).unwrap();
    bytes[100] ^= 1;
    fs::write(&manifest, bytes).unwrap();
    let err = world.workspace.recover().unwrap_err().to_string();
    assert!(err.contains("damaged") && err.contains("remove this directory"), "{err}");
    assert!(world.workspace.snapshot(&SnapshotOptions::default()).is_err());
    fs::remove_dir_all(world.dir.path().join("state/snapshot")).unwrap();
    world.workspace.recover().unwrap();
    assert!(!world.workspace.is_unfinished());
}

/// A copy that the disk has lost is told, and everything else is put back.
#[test]
fn a_damaged_pack_puts_back_what_it_can() {
    let world = World::new(START);
    let snapshot = world.snapshot();
    let pack = world.dir.path().join("state/snapshot/pack");
    fs::write(&pack, vec![0; fs::read(&pack).unwrap().len()]).unwrap();
    world.run("rm one; ln -sf two link");
    let outcome = snapshot.put_back(&world.layer()).unwrap();
    assert!(outcome.notes.join("").contains("its copy is damaged"), "{:?}", outcome.notes);
    assert!(!world.root().join("one").exists(), "never a wrong content");
    assert_eq!(fs::read_link(world.root().join("link")).unwrap(), Path::new("one"));
}
