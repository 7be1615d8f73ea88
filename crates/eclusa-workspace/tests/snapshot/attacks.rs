//! What a command may do to a workspace: everything is put back, and committed it is what the
//! command would have made of the files, undone it is what was there.

use std::{fs, process::Command};

use eclusa_workspace::Durability;

use crate::world::{World, plain, run, told, tree};

const START: &str = "
    printf 'one\\n' > one; printf 'two\\n' > two; mkdir -p d/deep; echo a > d/a; echo b > d/deep/b
    ln -s one link; ln -s d dirlink; mkfifo pipe; echo h > h1; ln h1 h2; chmod 640 two
    mkdir .git; echo 'ref: refs/heads/main' > .git/HEAD; mkdir -p .git/refs/heads .git/objects/aa
    echo 1 > .git/refs/heads/main; echo o > .git/objects/aa/bb; chmod 444 .git/objects/aa/bb
    printf 'SECRET=1\\n' > .env; mkdir empty; mkdir -p shut/in; echo s > shut/in/s; chmod 444 shut/in/s
    touch -d '2001-02-03 04:05:06.789' one two d/a d/deep d; chmod 555 shut/in; chmod 500 shut";

/// Each is run, put back, committed and undone.
const SCRIPTS: &[&str] = &[
    "true",
    "echo more >> one",
    // The same size, and its time set back.
    "printf 'ONE\\n' > one; touch -d '2001-02-03 04:05:06.789' one",
    "cp -p one keep; printf 'ONE\\n' > one; touch -r keep one; rm keep",
    "rm -rf one two d link dirlink h1 .git .env",
    "chmod -R u+w shut; rm -rf ./* .env .git",
    // A directory becomes a file and back, a file a directory.
    "rm -r d; echo file > d",
    "rm -r d; echo file > d; rm d; mkdir d; echo new > d/new",
    "rm one; mkdir -p one/inner; echo x > one/inner/x",
    "mv two one",
    "mv one t; mv two one; mv t two",
    "mv d e",
    "mv d/deep deep; mv one d/uno; mv empty d",
    // Links.
    "ln -sfn two link; rm dirlink; ln -s / dirlink",
    "rm -r d; ln -s / d",
    "rm link; echo file > link",
    // Modes.
    "chmod 000 one d; mkdir new; echo x > new/x; chmod 000 new",
    "chmod 000 d/deep d; mkdir -p n/m; echo y > n/m/y; chmod 000 n/m/y n/m n",
    "chmod 755 one; chmod 4755 two; chmod 700 d",
    "chmod u+w shut shut/in; echo new > shut/in/new; rm -f shut/in/s; chmod 555 shut/in; chmod 500 shut",
    // Several names of one file.
    "echo changed > h1",
    "rm h2",
    "rm h1 h2",
    "echo other > t; mv t h2",
    "ln one two-names",
    "ln one again; echo through >> again",
    // Pipes both ways.
    "rm one; mkfifo one",
    "rm pipe; echo file > pipe",
    "rm pipe",
    "mkfifo new-pipe",
    // Git's own.
    "echo 'ref: refs/heads/evil' > .git/HEAD; echo 2 > .git/refs/heads/main; echo e > .git/refs/heads/evil",
    "chmod u+w .git/objects/aa/bb; echo evil > .git/objects/aa/bb; chmod 444 .git/objects/aa/bb",
    "echo hook > .git/hooks; rm -rf .git/objects",
    // Times alone.
    "touch one d; touch -d '1999-01-01' two h1; touch -h link",
    "echo x > t; rm t; mkdir t; rmdir t",
    // Odd names, and much at once.
    "printf x > $'new\\nline'; printf y > $'\\xff\\xfe'; mkdir -- '-rf'; echo z > '-rf/*'",
    "mkdir many; for i in $(seq 300); do echo $i > many/$i; done; rm d/a",
    "truncate -s 3000000 one; printf tail >> one",
    "cp one copy; mv one moved; sed -i s/two/2/ two",
];

fn stays_and_comes_true(start: &str, script: &str) {
    let world = World::new(start);
    let before = world.tree();
    let outcome = world.stage(script).unwrap();
    assert_eq!(world.tree(), before, "put back: {script}");
    assert!(!world.workspace.is_unfinished());

    let by_hand = tempfile::tempdir().unwrap();
    let plainly = by_hand.path().join("ws");
    fs::create_dir(&plainly).unwrap();
    run(&plainly, start);
    run(&plainly, script);
    let expected = plain(&tree(&plainly));
    let _ = Command::new("chmod").args(["-R", "u+rwX"]).arg(&plainly).status();
    // Objects of git are only added: what a script did to one is not what is applied.
    let odd = ["pipe", "fifo", "rm -rf ./*", ".git/objects"];
    if !odd.iter().any(|it| script.contains(it)) {
        let told = told(&outcome);
        world.workspace.commit(1, &outcome.changes, Durability::Crash).unwrap();
        assert_eq!(plain(&world.tree()), expected, "committed: {script}: {told:?}");
        if !outcome.changes.is_empty() {
            world.workspace.undo(2, &[1], Durability::Crash).unwrap();
        }
        assert_eq!(plain(&world.tree()), plain(&before), "undone: {script}");
    }
}

#[test]
fn whatever_a_command_does_is_put_back_and_comes_true_when_committed() {
    for script in SCRIPTS {
        stays_and_comes_true(START, script);
    }
}

/// The second snapshot rests on the first: what that knows is not copied again, and is put back.
#[test]
fn one_command_after_the_other_on_the_same_snapshot() {
    let world = World::new(START);
    let before = world.tree();
    for script in SCRIPTS {
        world.stage(script).unwrap();
        assert_eq!(world.tree(), before, "{script}");
    }
}

/// The same attacks where the state lies on another filesystem, so that nothing can be renamed.
#[test]
fn a_state_on_another_filesystem_holds_too() {
    let Ok(elsewhere) = tempfile::tempdir_in("/dev/shm") else { return };
    for script in SCRIPTS {
        let world = World::new(START);
        let before = world.tree();
        let state = elsewhere.path().join("state");
        let workspace = eclusa_workspace::Workspace::attach(world.root(), &state).unwrap();
        let snapshot = workspace.snapshot(&Default::default()).unwrap();
        world.run(script);
        let layer = elsewhere.path().join("layer");
        fs::create_dir(&layer).unwrap();
        let outcome = snapshot.put_back(&layer).unwrap();
        assert_eq!(world.tree(), before, "{script}");
        let told = !outcome.changes.is_empty();
        if told && (script.starts_with("mv") || script.starts_with("echo")) {
            workspace.commit(1, &outcome.changes, Durability::Crash).unwrap();
            workspace.undo(2, &[1], Durability::Crash).unwrap();
            assert_eq!(plain(&world.tree()), plain(&before), "{script}");
        }
        let _ = Command::new("chmod").args(["-R", "u+rwX"]).arg(elsewhere.path()).status();
        fs::remove_dir_all(&layer).unwrap();
        fs::remove_dir_all(&state).unwrap();
    }
}

#[test]
fn changes_are_told_as_an_overlay_tells_them() {
    let world = World::new(START);
    let cases: [(&str, &[&str]); 6] = [
        ("echo more >> one; rm two; echo n > new", &["made new", "altered one", "gone two"]),
        (
            "mv d e",
            &[
                "gone d",
                "gone d/a",
                "gone d/deep",
                "gone d/deep/b",
                "made e",
                "made e/a from d/a",
                "made e/deep",
                "made e/deep/b from d/deep/b",
            ],
        ),
        ("mv one uno; echo x >> uno", &["gone one", "made uno"]),
        ("cp one copy; rm one", &["made copy from one", "gone one"]),
        ("touch one; chmod 600 h1; chmod 644 h1", &[]),
        ("chmod 755 one", &["altered one"]),
    ];
    for (script, expected) in cases {
        assert_eq!(told(&world.stage(script).unwrap()), expected, "{script}");
    }
    let notes = |script: &str| world.stage(script).unwrap().notes.join("\n");
    assert!(notes("rm one; mkfifo one").contains("it is a pipe"));
    assert!(notes("chmod 700 .").contains("the mode of the workspace itself stays"));
    assert!(notes("ln one names").contains("was given 2 names"));
    assert!(notes("echo x > h1").contains("has 2 names"));
    assert_eq!(notes("echo x > one"), "");
}

/// What is written through a name inside is written outside too, and heals there.
#[test]
fn a_hard_link_to_a_file_outside_heals() {
    let world = World::new("echo inside > a");
    let outside = world.dir.path().join("outside");
    fs::write(&outside, "precious\n").unwrap();
    fs::hard_link(&outside, world.root().join("linked")).unwrap();
    let before = world.tree();
    world.stage("echo overwritten > linked").unwrap();
    assert_eq!(fs::read_to_string(&outside).unwrap(), "precious\n");
    assert_eq!(world.tree(), before);
    // Replaced, it is another file: what is outside was never touched.
    let outcome = world.stage("rm linked; echo new > linked").unwrap();
    assert_eq!(fs::read_to_string(&outside).unwrap(), "precious\n");
    assert_eq!(world.read("linked"), "precious\n");
    assert!(outcome.notes.join("").contains("has 2 names"), "{:?}", outcome.notes);
}

#[test]
fn attributes_are_put_back_and_told() {
    let world = World::new("echo a > a; echo b > b; mkdir d");
    let set = |path: &str, name: &str, value: &str| {
        let flags = rustix::fs::XattrFlags::empty();
        rustix::fs::setxattr(world.root().join(path), name, value.as_bytes(), flags)
    };
    if set("a", "user.kept", "old").is_err() {
        // Not every filesystem has them.
        return;
    }
    let outcome = world.stage_with(|| {
        set("a", "user.kept", "new").unwrap();
        set("b", "user.more", "x").unwrap();
        set("d", "user.dir", "x").unwrap();
    });
    let outcome = outcome.unwrap();
    assert!(outcome.changes.is_empty(), "{:?}", told(&outcome));
    assert_eq!(outcome.notes.len(), 3, "{:?}", outcome.notes);
    let mut value = [0; 8];
    let size = rustix::fs::getxattr(world.root().join("a"), "user.kept", &mut value).unwrap();
    assert_eq!(&value[..size], b"old");
    for path in ["b", "d"] {
        let mut names = [0; 64];
        assert_eq!(rustix::fs::listxattr(world.root().join(path), &mut names), Ok(0), "{path}");
    }
    // A file that is made again has them too.
    world.stage("rm a").unwrap();
    let size = rustix::fs::getxattr(world.root().join("a"), "user.kept", &mut value).unwrap();
    assert_eq!(&value[..size], b"old");
}

#[test]
fn what_is_written_through_memory_is_seen() {
    let world = World::new("printf 0123456789 > mapped; touch -d 2001-01-01 mapped");
    let before = world.tree();
    let script = "python3 - <<'END'\nimport mmap, os\nf = open('mapped', 'r+b'); s = os.fstat(f.fileno())\n\
        m = mmap.mmap(f.fileno(), 0); m[0] = 65; m.flush(); m.close(); f.close()\n\
        os.utime('mapped', ns=(s.st_atime_ns, s.st_mtime_ns))\nEND";
    if !Command::new("python3").arg("-V").output().is_ok_and(|it| it.status.success()) {
        return;
    }
    let outcome = world.stage(script).unwrap();
    assert_eq!(told(&outcome), ["altered mapped"]);
    assert_eq!(world.tree(), before);
}

/// Files that were written a moment before the snapshot may change again with the same time.
#[test]
fn what_changed_in_the_same_tick_is_compared() {
    let world = World::new("true");
    for round in 0..20 {
        fs::write(world.root().join("f"), format!("old{round:03}")).unwrap();
        let snapshot = world.snapshot();
        fs::write(world.root().join("f"), format!("new{round:03}")).unwrap();
        let outcome = snapshot.put_back(&world.layer()).unwrap();
        assert_eq!(told(&outcome), ["altered f"], "{round}");
        assert_eq!(world.read("f"), format!("old{round:03}"));
    }
}

/// A tree deeper than anybody walks is taken away whole.
#[test]
fn a_tree_without_end_is_taken_away() {
    let world = World::new("echo a > a");
    let before = world.tree();
    let outcome = world.stage("for i in $(seq 400); do mkdir d; cd d; done; echo x > x").unwrap();
    assert_eq!(world.tree(), before);
    assert!(outcome.notes.join("").contains("too deep"), "{:?}", outcome.notes);
}
