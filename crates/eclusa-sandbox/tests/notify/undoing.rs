//! Commands on the real workspace, recorded and taken back.

use std::{
    fs,
    path::{Path, PathBuf},
};

use eclusa_sandbox::{
    notify::{UndoLog, keep_undo_log},
    scan::{Effects, Node},
};
use proptest::prelude::*;
use tempfile::TempDir;

use crate::{
    held,
    overlay::{on, shell, words},
    scripts::{START, line},
    tree,
};

struct World {
    dir: TempDir,
}

impl World {
    fn new(start: &str) -> World {
        let dir = TempDir::new().unwrap();
        for name in ["ws", "store", "outside"] {
            fs::create_dir(dir.path().join(name)).unwrap();
        }
        shell(&dir.path().join("ws"), start);
        World { dir }
    }

    fn root(&self) -> PathBuf {
        self.dir.path().join("ws")
    }

    /// Runs a script in the workspace, with an undo log of at most this many bytes.
    fn run(&self, script: &str, most: u64) -> UndoLog {
        let (words, listener) = held::start(self.dir.path(), "writes", script);
        let (root, store) = (self.root(), self.dir.path().join("store"));
        let watching = std::thread::spawn(move || {
            keep_undo_log(listener.join().unwrap(), &root, &store, most, &[]).unwrap()
        });
        shell(&self.root(), &words);
        watching.join().unwrap().finish().unwrap()
    }

    fn tree(&self) -> tree::Tree {
        tree::read(&self.root())
    }
}

const PLENTY: u64 = 1 << 30;

/// Runs a script, compares what is told of it, and takes it back.
fn check(start: &str, script: &str, expected: &[&str]) {
    let world = World::new(start);
    let before = world.tree();
    let mut log = world.run(script, PLENTY);
    let effects = log.effects().unwrap();
    assert_eq!(words(&effects), expected, "{script}");
    assert_eq!(tree::told(&effects), tree::differences(&before, &world.tree()));
    assert_eq!(log.undo(&effects).unwrap(), Vec::<PathBuf>::new());
    assert_eq!(world.tree(), before, "{script}");
}

const TREE: &str =
    "echo a > a; echo b > b; mkdir -p d/e; echo x > d/x; echo y > d/e/y; ln -s a l; ln -s d dl";

#[test]
fn what_a_command_did_in_place_is_told_and_taken_back() {
    check(TREE, "cat a > /dev/null", &[]);
    check(TREE, "echo more >> a; rm b; echo n > n", &["Altered a", "Deleted b", "Made n"]);
    check(TREE, "echo through >> l; echo through >> dl/x", &["Altered a", "Altered d/x"]);
    check(
        TREE,
        "chmod 600 a; chmod 700 d; chmod 755 d/e/.; truncate -s 1 b",
        &["Metadata a", "Altered b", "Metadata d"],
    );
    check(
        TREE,
        "rm -r d; echo file > d",
        &["Replaced d", "Deleted d/e", "Deleted d/e/y", "Deleted d/x"],
    );
    check(
        TREE,
        "ln -sfn b l; ln a hard; echo more >> hard",
        &["Altered a", "Made hard", "Altered l"],
    );
    check(TREE, "mkfifo p; rm p; mkdir m; rmdir m", &[]);
    check(
        TREE,
        "python3 -c 'open(\"a\", \"r+\").write(\"A\"); open(\"new\", \"x\").write(\"n\")'; umask 077; echo s > secret",
        &["Altered a", "Made new", "Made secret"],
    );
}

#[test]
fn a_file_is_saved_also_when_it_is_named_by_its_descriptor() {
    check(TREE, "exec 3< a; echo new > /dev/fd/3", &["Altered a"]);
    check(
        TREE,
        "exec 3< d/x; echo new > /proc/self/fd/3; echo out > /dev/stdout",
        &["Altered d/x"],
    );
    let call =
        "assert ctypes.CDLL(None).linkat(-100, b'/proc/self/fd/%d' % f, -100, b'n', 0x400) == 0";
    let link =
        format!("import os, ctypes; f = os.open('a', 0); {call}; open('n', 'w').write('new')");
    check(TREE, &format!("python3 -c \"{link}\""), &["Altered a", "Made n"]);
    let nameless = format!(
        "import os, ctypes; f = os.open('.', os.O_TMPFILE | os.O_RDWR); os.write(f, b'new'); {call}"
    );
    check(TREE, &format!("python3 -c \"{nameless}\""), &["Made n"]);
    check(TREE, "exec 3<> a; chmod 600 /dev/fd/3; truncate -s 0 /dev/fd/3", &["Altered a"]);
}

#[test]
fn directories_that_were_moved_move_back() {
    let moved = [
        "Deleted d",
        "Deleted d/e",
        "Deleted d/e/y",
        "Deleted d/x",
        "Made m",
        "Made m/e",
        "Moved m/e/y from d/e/y",
    ];
    check(TREE, "mv d m", &[&moved[..], &["Moved m/x from d/x"]].concat());
    check(
        TREE,
        "mv d m; echo more >> m/x; echo n > m/n; mv m n; mv n m",
        &[&moved[..], &["Made m/n", "Made m/x"]].concat(),
    );
    check(TREE, "mv d m; mkdir d; mv m/x d/x; mv m/e d/e; rmdir m", &[]);
}

#[test]
fn a_hard_link_from_before_is_restored_at_both_names() {
    let world = World::new("echo a > a; ln a b");
    let mut log = world.run("echo more >> a", PLENTY);
    let effects = log.effects().unwrap();
    log.undo(&effects).unwrap();
    assert_eq!(fs::read_to_string(world.root().join("b")).unwrap(), "a\n");
}

#[test]
fn git_works_and_can_be_undone() {
    let git = "git -c user.name=n -c user.email=e@example.org";
    let world = World::new(&format!("{TREE}; git init -q; git add .; {git} commit -qm start"));
    let before = world.tree();
    let script = format!(
        "git mv d moved; {git} commit -qm moved; git gc -q; test -z \"$(git status --porcelain)\""
    );
    let mut log = world.run(&script, PLENTY);
    let effects = log.effects().unwrap();
    assert_eq!(tree::told(&effects), tree::differences(&before, &world.tree()));
    log.undo(&effects).unwrap();
    assert_eq!(world.tree(), before);
}

#[test]
fn what_is_outside_the_workspace_goes_on_and_is_not_recorded() {
    let world = World::new(TREE);
    let mut log = world.run("echo out > ../outside/file; mkdir ../outside/d; mv ../outside/file ../outside/d; cp ../outside/d/file in", PLENTY);
    assert_eq!(words(&log.effects().unwrap()), ["Made in"]);
    assert!(world.dir.path().join("outside/d/file").exists());
}

#[test]
fn what_leaves_the_workspace_comes_back_and_what_enters_goes() {
    check(
        TREE,
        "mv a ../outside/a; python3 -c 'import os; os.rename(\"d\", \"../outside/d\")'; mv ../outside/a in",
        &[
            "Deleted a",
            "Deleted d",
            "Deleted d/e",
            "Deleted d/e/y",
            "Deleted d/x",
            "Moved in from a",
        ],
    );
    let made = ["Made in", "Made in/e", "Made in/e/f"];
    check(
        TREE,
        "mkdir -p ../outside/n/e; echo f > ../outside/n/e/f; python3 -c 'import os; os.rename(\"../outside/n\", \"in\")'",
        &made,
    );
}

#[test]
fn more_than_can_be_saved_is_not_changed() {
    let world = World::new("head -c 100000 /dev/zero > big; echo small > small");
    let before = world.tree();
    let mut log = world
        .run("echo more >> small; echo more >> big && exit 1; rm -f big && exit 1; true", 50_000);
    let effects = log.effects().unwrap();
    assert_eq!(words(&effects), ["Altered small"]);
    log.undo(&effects).unwrap();
    assert_eq!(world.tree(), before);
}

#[test]
fn a_file_of_zeros_without_end_is_taken_back_unread() {
    let world = World::new(TREE);
    let before = world.tree();
    let mut log = world.run("truncate -s 1T huge", PLENTY);
    let effects = log.effects().unwrap();
    assert!(on(&effects, "huge").obstacle().unwrap().contains("too large"));
    log.undo(&effects).unwrap();
    assert_eq!(world.tree(), before);
}

#[test]
fn what_somebody_changed_since_is_not_taken_back() {
    let world = World::new(TREE);
    let mut log = world.run("echo more >> a; rm b", PLENTY);
    let effects: Effects = log.effects().unwrap();
    assert!(matches!(on(&effects, "b").before, Some(Node::File(_))));
    shell(&world.root(), "echo mine >> a");
    let now = world.tree();
    assert_eq!(log.undo(&effects).unwrap(), [Path::new("a")]);
    assert_eq!(world.tree(), now, "nothing is undone");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases / 16, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_recorded_run_is_a_plain_run_and_undo_is_the_beginning(lines in prop::collection::vec(line(), 1..14)) {
        let script = format!("set +e; exec 2>/dev/null; {}; true", lines.join("\n"));
        let plain = World::new(START);
        shell(&plain.root(), &script);
        let world = World::new(START);
        let before = world.tree();
        let mut log = world.run(&script, PLENTY);
        prop_assert_eq!(world.tree(), plain.tree(), "{}", script);
        let effects = log.effects().unwrap();
        prop_assert_eq!(tree::told(&effects), tree::differences(&before, &world.tree()), "{}", script);
        prop_assert_eq!(log.undo(&effects).unwrap(), Vec::<PathBuf>::new());
        prop_assert_eq!(world.tree(), before, "{}", script);
    }
}
