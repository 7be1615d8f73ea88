//! The same as an ordinary user, when the tests are run as root: a superuser meets no mode that holds
//! anything up, and nothing that belongs to somebody else.

use std::{
    fs,
    os::unix::{
        fs::{PermissionsExt, chown},
        process::CommandExt,
    },
    path::Path,
    process::Command,
};

use eclusa_workspace::{SnapshotOptions, Workspace};

/// The user that owns nothing.
const NOBODY: u32 = 65534;

/// Tells the child where the workspace is that is not all its own.
const PARTLY: &str = "ECLUSA_TEST_SNAPSHOT_PARTLY_OWN";

/// Runs tests of this program as somebody else. `None`: nobody here can be anybody else.
fn as_nobody(filters: &[&str], partly: Option<&Path>) -> Option<String> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let own = tempfile::tempdir().unwrap();
    chown(own.path(), Some(NOBODY), Some(NOBODY)).unwrap();
    let binary = own.path().join("tests");
    // Another process makes the copy: what somebody has open for writing cannot be run.
    let copied = Command::new("cp").arg(std::env::current_exe().unwrap()).arg(&binary).status();
    assert!(copied.unwrap().success());
    let mut command = Command::new(&binary);
    command.args(filters).env("TMPDIR", own.path()).env("HOME", own.path());
    if let Some(partly) = partly {
        command.env(PARTLY, partly);
    }
    let output = command.current_dir(own.path()).uid(NOBODY).gid(NOBODY).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    Some(said)
}

#[test]
fn attacks_bounds_and_crashes_hold_for_an_ordinary_user_too() {
    let Some(said) = as_nobody(&["attacks::", "bounds::", "crash::"], None) else { return };
    let passed = said.lines().filter(|line| line.ends_with("... ok")).count();
    assert!(passed > 20, "{said}");
}

/// Run as somebody else by the test below.
#[test]
fn partly_own() {
    let Some(dir) = std::env::var_os(PARTLY) else { return };
    let dir = Path::new(&dir);
    let own = tempfile::tempdir().unwrap();
    let attach = |name: &str| Workspace::attach(dir.join(name), own.path().join(name)).unwrap();
    let err = attach("open").snapshot(&SnapshotOptions::default()).unwrap_err().to_string();
    assert!(err.contains("`secret`") && err.contains("another user"), "{err}");
    drop(attach("shut").snapshot(&SnapshotOptions::default()).unwrap());
}

/// What cannot be read and could be removed is named; what nobody here could remove is left alone.
#[test]
fn a_file_of_somebody_else_that_cannot_be_read_is_named() {
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    for (name, mode) in [("open", 0o777), ("shut", 0o755)] {
        let root = dir.path().join(name);
        fs::create_dir(&root).unwrap();
        fs::write(root.join("secret"), "secret").unwrap();
        fs::set_permissions(root.join("secret"), fs::Permissions::from_mode(0o600)).unwrap();
        fs::set_permissions(&root, fs::Permissions::from_mode(mode)).unwrap();
    }
    as_nobody(&["partly_own"], Some(dir.path()));
}
