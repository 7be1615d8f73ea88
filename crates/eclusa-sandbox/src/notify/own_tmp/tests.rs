//! Which paths are led elsewhere.

use std::{ffi::OsString, path::PathBuf};

use super::OwnTmp;

#[test]
fn only_what_names_tmp_and_is_not_shown_is_led_elsewhere() {
    let shown = ["/tmp/work/space", "/home/dana", "/"].map(PathBuf::from);
    let words = ["bash", "-c", "ls /tmp"].map(OsString::from);
    let tmp = OwnTmp::new("/var/lib/tmp/root".as_ref(), &words, shown.into_iter());
    let led = |path: &str| {
        let instead = tmp.instead_of(path.as_bytes())?;
        Some(String::from_utf8(instead).unwrap())
    };
    for (path, instead) in [
        ("/tmp", "/var/lib/tmp/root\0"),
        ("/tmp/", "/var/lib/tmp/root/\0"),
        ("/tmp/a/b", "/var/lib/tmp/root/a/b\0"),
        ("/var/tmp/a", "/var/lib/tmp/root/a\0"),
        ("/dev/shm/a", "/var/lib/tmp/root/a\0"),
        ("/tmp/workspace", "/var/lib/tmp/root/workspace\0"),
    ] {
        assert_eq!(led(path).as_deref(), Some(instead), "{path}");
    }
    // A directory on the way to what is shown is the machine's.
    for path in [
        "/tmp/work",
        "/tmp/work/space",
        "/tmp/work/space/a",
        "/tmp/../etc/passwd",
        "/tmpfile",
        "tmp/a",
        "/home/tmp",
        "/var/lib/tmp/root/a",
        "",
    ] {
        assert_eq!(led(path), None, "{path}");
    }
    let alone = OwnTmp::new("/tmp/state/root".as_ref(), &words, std::iter::empty());
    assert_eq!(alone.instead_of(b"/tmp/a").unwrap(), b"/tmp/state/root/a\0");
    assert_eq!(alone.instead_of(b"/tmp/state/root/a"), None);
    let unnamed = OwnTmp::new("/tmp/state/root".as_ref(), &[], std::iter::empty());
    assert_eq!(unnamed.instead_of(b"/tmp/a"), None);
    assert_eq!(unnamed.instead_of(b"/dev/shm/sem.a").unwrap(), b"/tmp/state/root/sem.a\0");
}
