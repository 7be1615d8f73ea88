//! The same tests again as an ordinary user, when they are run as root.

use std::os::unix::process::CommandExt as _;
use std::process::Command;

use crate::world::{is_root, test_root};

/// The user that owns nothing.
const NOBODY: u32 = 65534;

#[test]
fn everything_holds_for_an_ordinary_user_too() {
    eclusa_testing::needs!(Namespaces);
    if !is_root() {
        return;
    }
    let root = tempfile::tempdir_in(test_root()).unwrap();
    std::os::unix::fs::chown(root.path(), Some(NOBODY), Some(NOBODY)).unwrap();
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--test-threads=2", "--skip", "user::", "--skip", "gigabytes"])
        .env("ECLUSA_TEST_ROOT", root.path())
        .env("HOME", root.path())
        .env("RUST_BACKTRACE", "0")
        .current_dir("/")
        .uid(NOBODY)
        .gid(NOBODY)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    let passed = said.lines().filter(|line| line.ends_with("... ok")).count();
    assert!(passed > 20, "{said}");
}
