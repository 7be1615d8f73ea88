//! Disks that refuse, files that change, and names that are no text: a clear answer, and nothing
//! half-written.

use std::{
    env,
    ffi::OsStr,
    fs::{self, File},
    io::Write as _,
    os::unix::ffi::OsStrExt as _,
    path::PathBuf,
    process::Command,
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use eclusa::Mode;
use serde_json::{Value, json};

use crate::world::{MAY_DELETE, Work, World};

const PLACE: &str = "ECLUSA_TEST_PLACE";

/// Runs a test of this file again as a process that is in namespaces of its own, after `commands`
/// have prepared the directory that it is given.
fn elsewhere(namespaces: &[&str], commands: &str, test: &str) {
    let place = tempfile::tempdir().unwrap();
    let script = format!("{commands} && exec \"$1\" --exact faults::{test} --nocapture");
    let output = Command::new("unshare")
        .args(namespaces)
        .args(["sh", "-c", &script])
        .arg(place.path())
        .arg(env::current_exe().unwrap())
        .env(PLACE, place.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let erred = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("1 passed"), "{said}\n{erred}");
}

/// The gate of a process that was started by [`elsewhere`].
fn there() -> Option<(World, Work)> {
    let place = PathBuf::from(env::var_os(PLACE)?);
    let world = World { dir: tempfile::tempdir_in(place).unwrap() };
    fs::create_dir(world.root()).unwrap();
    let work = world.work(MAY_DELETE);
    Some((world, work))
}

#[test]
fn a_full_disk_is_told_and_nothing_is_half_written() {
    eclusa_testing::needs!(Namespaces);
    // A filesystem of one megabyte, seen by nobody else.
    let mount = "mount -t tmpfs -o size=1m small \"$0\"";
    elsewhere(&["-U", "-r", "-m"], mount, "on_a_full_disk");
}

/// Started by the test above in a place of its own; by itself it does nothing.
#[test]
fn on_a_full_disk() {
    let Some((world, work)) = there() else { return };
    world.write("a.txt", "one\n");
    let before = world.tree();
    let large = "x".repeat(2 << 20);
    let patch = format!(
        "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+two\n*** Add File: b\n+{large}\n*** End Patch\n"
    );
    for (tool, args) in [
        ("write", json!({"path": "b.txt", "content": large})),
        ("write", json!({"path": "a.txt", "content": large})),
        ("edit", json!({"path": "a.txt", "old_string": "one", "new_string": large})),
        ("apply_patch", json!({"patch": patch})),
    ] {
        let reply = work.call(tool, args);
        let said = reply.content();
        assert!(said.to_lowercase().contains("no space left"), "{tool}: {said}");
        assert!(said.contains("nothing has changed"), "{tool}: {said}");
        assert_eq!(reply.code(), "commit_failed");
        assert_eq!(world.tree(), before, "{tool}");
    }
    work.done("write", json!({"path": "a.txt", "content": "two\n"}));
    assert_eq!(world.text("a.txt"), "two\n");
}

#[test]
fn a_shut_directory_of_ones_own_is_changed_and_stays_shut() {
    eclusa_testing::needs!(Namespaces);
    // In a user namespace without a map nobody is the superuser, whoever started it.
    elsewhere(&["-U"], "true", "in_a_shut_directory");
}

/// Started by the test above in a place of its own; by itself it does nothing.
#[test]
fn in_a_shut_directory() {
    let Some((world, work)) = there() else { return };
    world.write("ro/a.txt", "one\n");
    world.write("b.txt", "one\n");
    world.write("secret/c.txt", "one\n");
    world.set_mode("ro/a.txt", 0o444);
    world.set_mode("ro", 0o555);
    world.set_mode("secret", 0o000);
    // What may not even be looked into stays as it is.
    for (tool, args) in [
        ("read", json!({"path": "secret/c.txt"})),
        ("delete", json!({"path": "secret", "recursive": true})),
    ] {
        let said = work.fails(tool, args).to_lowercase();
        assert!(said.contains("permission denied"), "{tool}: {said}");
    }
    let patch = "*** Begin Patch\n*** Update File: b.txt\n@@\n-one\n+two\n*** Update File: ro/a.txt\n@@\n-two\n+three\n*** End Patch\n";
    for (tool, args) in [
        ("write", json!({"path": "ro/new.txt", "content": "x"})),
        ("edit", json!({"path": "ro/a.txt", "old_string": "one", "new_string": "two"})),
        ("apply_patch", json!({"patch": patch})),
        ("make_dir", json!({"path": "ro/sub"})),
        ("move", json!({"from": "ro/a.txt", "to": "ro/sub/a.txt"})),
        ("delete", json!({"path": "ro/new.txt"})),
    ] {
        work.done(tool, args);
        assert_eq!(world.mode("ro"), 0o555, "{tool}");
    }
    assert_eq!(
        (world.text("ro/sub/a.txt"), world.text("b.txt")),
        ("three\n".into(), "two\n".into())
    );
    assert_eq!(world.mode("ro/sub/a.txt"), 0o444);
    world.set_mode("ro", 0o755);
    world.set_mode("secret", 0o755);
}

/// A call of every tool that changes something, for a file that is there.
fn calls(path: &str) -> Vec<(&'static str, Value)> {
    let patch =
        format!("*** Begin Patch\n*** Update File: {path}\n@@\n-one\n+two\n*** End Patch\n");
    vec![
        ("write", json!({"path": path, "content": "x"})),
        ("edit", json!({"path": path, "old_string": "one", "new_string": "two"})),
        (
            "multi_edit",
            json!({"path": path, "edits": [{"old_string": "one", "new_string": "two"}]}),
        ),
        ("apply_patch", json!({"patch": patch})),
        ("delete", json!({"path": path})),
        ("move", json!({"from": path, "to": "elsewhere"})),
        ("make_dir", json!({"path": format!("{path}.d")})),
        ("read", json!({"path": path})),
    ]
}

#[test]
fn a_vanished_workspace_is_told_by_every_tool() {
    let world = World::new();
    world.write("a.txt", "one\n");
    let work = world.work(MAY_DELETE);
    let away = world.dir.path().join("away");
    fs::rename(world.root(), &away).unwrap();
    for (tool, args) in calls("a.txt") {
        let reply = work.call(tool, args);
        // What is read is read from the workspace that was opened, wherever it is.
        let said = reply.content();
        assert!(tool == "read" || reply.is_error(), "{tool}: {said}");
        assert!(tool == "read" || said.contains("/ws`"), "{tool}: {said}");
    }
    assert_eq!(fs::read_to_string(away.join("a.txt")).unwrap(), "one\n");
    assert_eq!(fs::read_dir(away).unwrap().count(), 1);
}

#[test]
fn a_circle_of_links_is_told_by_every_tool() {
    let world = World::new();
    std::os::unix::fs::symlink("b", world.path("a")).unwrap();
    std::os::unix::fs::symlink("a", world.path("b")).unwrap();
    let work = world.work("");
    let before = world.tree();
    for (tool, args) in calls("a/x").into_iter().chain(calls("a").into_iter().take(4)) {
        let said = work.fails(tool, args);
        assert!(said.contains("round in a circle"), "{tool}: {said}");
    }
    assert_eq!(world.tree(), before);
}

#[test]
fn names_that_are_no_text_are_deleted_and_moved_with_their_directory() {
    let world = World::new();
    fs::create_dir(world.path("dir")).unwrap();
    for name in [b"caf\xE9".as_slice(), b"~\xFF", b"new\nline"] {
        fs::write(world.path("dir").join(OsStr::from_bytes(name)), "one\n").unwrap();
    }
    let work = world.work(MAY_DELETE);
    work.done("move", json!({"from": "dir", "to": "./~there"}));
    let there = world.path("~there");
    assert_eq!(fs::read_dir(&there).unwrap().count(), 3);
    assert_eq!(fs::read(there.join(OsStr::from_bytes(b"~\xFF"))).unwrap(), b"one\n");
    work.done("delete", json!({"path": "./~there", "recursive": true}));
    assert!(world.tree().is_empty());
}

#[test]
fn a_file_of_5_gb_and_a_line_of_100_mb_are_not_even_read_to_be_refused() {
    let world = World::new();
    world.write("huge.log", "one\n");
    let huge = File::options().append(true).open(world.path("huge.log")).unwrap();
    huge.set_len(5 << 30).unwrap();
    world.write("line.txt", "one ");
    let line = File::options().append(true).open(world.path("line.txt")).unwrap();
    line.set_len(100 << 20).unwrap();
    let work = world.work(MAY_DELETE);
    for path in ["huge.log", "line.txt"] {
        for (tool, args) in calls(path).into_iter().take(4) {
            let said = work.fails(tool, args);
            assert!(said.contains("files of up to 10485760 bytes"), "{tool}: {said}");
        }
    }
    assert_eq!(huge.metadata().unwrap().len(), 5 << 30);
    work.done("delete", json!({"path": "line.txt"}));
    assert!(!world.path("line.txt").exists());
}

#[test]
fn a_file_that_grows_meanwhile_is_changed_as_it_is_or_not_at_all() {
    let world = World::new();
    world.write("log.txt", "one\n");
    let work = world.work("");
    let done = AtomicBool::new(false);
    let path = world.path("log.txt");
    thread::scope(|scope| {
        let _end = Raised(&done);
        scope.spawn(|| {
            let mut log = File::options().append(true).open(&path).unwrap();
            while !done.load(Ordering::Relaxed) {
                log.write_all(&[b'x'; 4096]).unwrap();
                if log.metadata().unwrap().len() > 8 << 20 {
                    log.set_len(4).unwrap();
                }
            }
        });
        for _ in 0..5 {
            let args = json!({"path": "log.txt", "old_string": "one", "new_string": "two"});
            let reply = work.call("edit", args);
            let said = reply.content();
            let clear = [
                "changes while it is read",
                "has changed since this session last read it",
                "have changed meanwhile",
                "edited `log.txt`",
            ];
            assert!(clear.iter().any(|it| said.contains(it)), "{said}");
            if !reply.is_error() {
                break;
            }
            assert!(world.bytes("log.txt").starts_with(b"one\n"), "nothing was written");
            work.done("read", json!({"path": "log.txt", "limit": 1}));
        }
    });
}

/// Raises a flag at its end, so that nobody waits for ever where a test fails.
struct Raised<'a>(&'a AtomicBool);

impl Drop for Raised<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn a_conflict_between_preparing_and_committing_names_the_file_and_writes_nothing() {
    let world = World::new();
    world.write("a.txt", "one\n");
    let root = world.root();
    let work = Work::new(&world.root(), &world.dir.path().join("s"), Mode::Yolo, "", |setup| {
        let state = world.dir.path().join("s");
        let workspace = eclusa::Workspace::attach(&root, state).unwrap();
        let path = root.join("a.txt");
        let once = AtomicBool::new(false);
        setup.workspace(workspace.watched(move |_| {
            if !once.swap(true, Ordering::Relaxed) {
                fs::write(&path, "by somebody else\n").unwrap();
            }
        }))
    });
    let args = json!({"path": "a.txt", "old_string": "one", "new_string": "two"});
    let reply = work.call("edit", args);
    assert_eq!(reply.code(), "conflict", "{}", reply.content());
    assert!(reply.content().contains("`a.txt`"), "{}", reply.content());
    assert_eq!(world.text("a.txt"), "by somebody else\n");
    assert_eq!(work.last_changes()["outcome"], "conflict");
}
