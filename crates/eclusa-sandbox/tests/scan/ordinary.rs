//! Runs every test of this file's siblings again as a user without privileges.

use std::os::unix::fs::{PermissionsExt, chown};

use crate::overlay::program;

const NOBODY: u32 = 65534;

#[test]
fn everything_holds_for_an_ordinary_user() {
    eclusa_testing::needs!(Namespaces);
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    // Another process makes the copy: a child that another test starts at this moment would have it
    // open for writing for a while, and what is open so cannot be run.
    let binary = dir.path().join("tests");
    let copied = program("cp").arg(std::env::current_exe().unwrap()).arg(&binary).status().unwrap();
    assert!(copied.success());
    std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let own = dir.path().join("own");
    std::fs::create_dir(&own).unwrap();
    chown(&own, Some(NOBODY), Some(NOBODY)).unwrap();
    let mut command = program("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "--"]).arg(&binary);
    let done = command.env("TMPDIR", &own).env("HOME", &own).current_dir(&own).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout));
}
