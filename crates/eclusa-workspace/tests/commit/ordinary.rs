//! Some of the tests again as an ordinary user, when they are run as root: a superuser meets no
//! directory that may not be written to.

use std::{
    fs,
    os::unix::{
        fs::{PermissionsExt, chown},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::{Command, Output},
};

use eclusa_workspace::{Changes, CommitError, Durability, Workspace};

use crate::tree::{change, file, mode, tree};

/// The user that owns nothing.
const NOBODY: u32 = 65534;

/// Tells the child where the workspace is that is not all its own.
const PARTLY: &str = "ECLUSA_TEST_PARTLY_OWN";

/// A directory of somebody else with this program in it: where it was built may not be open to
/// everybody. `None`: nobody here can be anybody else.
fn away() -> Option<(tempfile::TempDir, PathBuf)> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let own = tempfile::tempdir().unwrap();
    chown(own.path(), Some(NOBODY), Some(NOBODY)).unwrap();
    let binary = own.path().join("tests");
    // Another process makes the copy: a child that another test starts at this moment would have
    // it open for writing for a while, and what is open so cannot be run.
    let copied = Command::new("cp").arg(std::env::current_exe().unwrap()).arg(&binary).status();
    assert!(copied.unwrap().success());
    Some((own, binary))
}

fn as_nobody(command: &mut Command, home: &Path) -> Output {
    let command = command.env("TMPDIR", home).env("HOME", home).env("RUST_BACKTRACE", "0");
    command.current_dir(home).uid(NOBODY).gid(NOBODY).output().unwrap()
}

#[test]
fn crashes_and_shut_directories_hold_for_an_ordinary_user_too() {
    let Some((own, binary)) = away() else { return };
    let mut command = Command::new(binary);
    command.args(["kill::", "model::", "shut::"]);
    let output = as_nobody(&mut command, own.path());
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    let passed = said.lines().filter(|line| line.ends_with("... ok")).count();
    assert!(passed > 15, "{said}");
}

/// A directory of somebody else is not opened: the commit fails, and nothing is half done, neither
/// in it nor in the shut directories that are the user's own.
#[test]
fn a_directory_of_somebody_else_stops_the_commit_and_all_is_as_before() {
    let Some((own, binary)) = away() else { return };
    let root = own.path().join("ws");
    for (dir, owner, mode) in [("", NOBODY, 0o555), ("mine", NOBODY, 0o555), ("theirs", 0, 0o755)] {
        fs::create_dir(root.join(dir)).unwrap();
        fs::write(root.join(dir).join("file"), "old").unwrap();
        chown(root.join(dir), Some(owner), Some(owner)).unwrap();
        fs::set_permissions(root.join(dir), fs::Permissions::from_mode(mode)).unwrap();
    }
    let mut command = Command::new(binary);
    command.args(["--exact", "ordinary::child"]).env(PARTLY, &root);
    let output = as_nobody(&mut command, own.path());
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("1 passed"), "{said}");
}

/// Started by the test above; by itself it does nothing.
#[test]
fn child() {
    let Some(root) = std::env::var_os(PARTLY).map(PathBuf::from) else { return };
    let before = (mode(&root), tree(&root));
    let elsewhere = tempfile::tempdir_in("/dev/shm").unwrap();
    for state in [root.with_file_name("state"), elsewhere.path().join("state")] {
        let ws = Workspace::attach(&root, &state).unwrap();
        for place in ["theirs/new", "theirs/file"] {
            let changes = Changes::of([
                change(&root, "new", file("new")),
                change(&root, "mine/file", file("new")),
                change(&root, "mine/new", file("new")),
                change(&root, place, file("new")),
            ]);
            let err = ws.commit(1, &changes, Durability::Crash).unwrap_err();
            assert!(matches!(err, CommitError::Failed(_)), "{err}");
            assert!(err.to_string().contains("`theirs/"), "{err}");
            assert_eq!((mode(&root), tree(&root)), before);
            assert!(!ws.is_unfinished());
        }
        let own = Changes::of([change(&root, "mine/new", file("new"))]);
        ws.commit(1, &own, Durability::Crash).unwrap();
        ws.undo(2, &[1], Durability::Crash).unwrap();
        assert_eq!((mode(&root), tree(&root)), before);
    }
}
