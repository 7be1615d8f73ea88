//! Which files of the system are free, by their list, their mode and where they really are.

use std::path::Path;

use super::is_free_path;

#[test]
fn what_every_program_reads_is_free() {
    for path in ["/etc/os-release", "/usr/bin/env", "/bin/sh", "/dev/urandom", "/proc/loadavg"] {
        assert!(is_free_path(Path::new(path), false, true), "{path}");
    }
    assert!(is_free_path(Path::new("/etc"), true, true), "its listing");
}

#[test]
fn what_is_not_on_the_list_or_not_everybodys_is_not() {
    for path in [
        "/etc/shadow",
        "/etc/passwd",
        "/etc/group",
        "/etc/ssl/private",
        "/etc/sudoers",
        "/home",
        "/root/.profile",
        "/run/secrets/token",
        "/proc/1/environ",
        "/proc/self/environ",
        "/dev/tcp/127.0.0.1/80",
        "/dev/sda",
        "/dev/tty",
        "/etc/there-is-no-such-file",
        "/etc/ssh/ssh_host_rsa_key",
        "/srv/x",
        "/mnt/x",
        "/var/lib/docker",
        "/usrlocal",
    ] {
        assert!(!is_free_path(Path::new(path), true, true), "{path}");
    }
    assert!(!is_free_path(Path::new("/usr/bin/env"), false, false), "its form");
    assert!(!is_free_path(Path::new("/etc"), false, true), "everything beneath it");
}
