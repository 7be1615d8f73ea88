//! The same tests again as an ordinary user, when they are run as root.

use std::os::unix::{fs::chown, process::CommandExt};

/// The user that owns nothing.
const NOBODY: u32 = 65534;

/// The same tests again; `ignored` are those that take long.
fn again(ignored: bool) {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let own = tempfile::tempdir().unwrap();
    chown(own.path(), Some(NOBODY), Some(NOBODY)).unwrap();
    // Where it was built may not be open to everybody. Another process makes the copy: a child that
    // another test starts at this moment would have it open for writing for a while, and what is open
    // so cannot be run.
    let binary = own.path().join("tests");
    let mut copy = std::process::Command::new("cp");
    let copied = copy.arg(std::env::current_exe().unwrap()).arg(&binary).status().unwrap();
    assert!(copied.success());
    let mut command = std::process::Command::new(&binary);
    command.args(["--skip", "ordinary::"]);
    if ignored {
        command.arg("--ignored");
    }
    let output = command
        .env("TMPDIR", own.path())
        .env("HOME", own.path())
        .current_dir(own.path())
        .uid(NOBODY)
        .gid(NOBODY)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    let passed = said.lines().filter(|line| line.ends_with("... ok")).count();
    assert!(passed > 0, "{said}");
}

#[test]
fn everything_holds_for_an_ordinary_user_too() {
    eclusa_testing::needs!(Namespaces);
    again(false);
}

#[test]
#[ignore = "takes minutes: run it after a change to staging or to commits"]
fn many_scripts_hold_for_an_ordinary_user_too() {
    again(true);
}
