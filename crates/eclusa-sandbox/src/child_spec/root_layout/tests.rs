//! Tests of what a root is made of.

use super::*;

/// A root with these directories and files, and what its layout is with these mounts.
fn layout(paths: &[&str], mounts: &[(&str, &str)], is_root: bool) -> Result<Vec<String>, String> {
    let root = tempfile::tempdir().unwrap();
    for own in OWN {
        fs::create_dir(root.path().join(own)).unwrap();
    }
    for path in paths {
        let at = root.path().join(path);
        match path.strip_suffix('/') {
            Some(_) => fs::create_dir_all(&at).unwrap(),
            None => {
                fs::create_dir_all(at.parent().unwrap()).unwrap();
                fs::File::create(&at).unwrap();
            }
        }
    }
    std::os::unix::fs::symlink("usr/bin", root.path().join("bin")).unwrap();
    std::os::unix::net::UnixListener::bind(root.path().join("socket")).unwrap();
    let at = |path: &str| root.path().join(path).display().to_string();
    let line = |(path, kind): &(&str, &str)| format!("1 1 0:1 / {} rw - {kind} x rw\n", at(path));
    let sys = line(&("sys", "sysfs"));
    let table = mounts.iter().map(line).chain([sys]).collect::<String>();
    let table = MountTable::parse(format!("1 1 0:1 / / rw - ext4 x rw\n{table}").as_bytes());
    let found = RootLayout::of(root.path(), &table, is_root)?;
    let shown = |part: &RootPart| {
        let path = part.path.to_str().unwrap().strip_prefix(root.path().to_str().unwrap()).unwrap();
        let kind = match &part.kind {
            PartKind::Directory(_) => "directory".to_owned(),
            PartKind::Tmpfs(_) => "tmpfs".to_owned(),
            other => format!("{other:?}").to_lowercase(),
        };
        format!("{path} {kind}")
    };
    Ok(found.parts.iter().map(shown).collect())
}

#[test]
fn directories_are_overlays_and_sockets_are_left_out() {
    let found = layout(&["usr/bin/x", "srv/", "file"], &[], false).unwrap();
    let expected =
        ["/sys bind", "/bin link(\"usr/bin\")", "/file file", "/srv directory", "/usr overlay"];
    assert_eq!(found, expected);
}

#[test]
fn a_directory_with_mounts_is_made_anew_for_a_user_and_covered_for_root() {
    let paths = ["var/a/x", "var/file", "var/lib/m/in/y", "var/lib/n/x"];
    let mounts = [("var/lib/m", "ext4"), ("var/lib/m/in", "vfat")];
    let found = layout(&paths, &mounts, false).unwrap();
    let expected = [
        "/sys bind",
        "/bin link(\"usr/bin\")",
        "/var directory",
        "/var/a overlay",
        "/var/file file",
        "/var/lib directory",
        "/var/lib/m directory",
        "/var/lib/m/in bind",
        "/var/lib/n overlay",
    ];
    assert_eq!(found, expected);
    let found = layout(&paths, &mounts, true).unwrap();
    let expected = ["/var overlay", "/var/lib/m overlay", "/var/lib/m/in bind"];
    assert_eq!(found[2..], expected);
}

#[test]
fn what_may_hold_sockets_beneath_sys_is_covered() {
    let mounts =
        [("sys/fs/cgroup", "tmpfs"), ("sys/fs/cgroup/cpu", "cgroup"), ("sys/fs/bpf", "bpf")];
    let found = layout(&["sys/fs/cgroup/cpu/", "sys/fs/bpf/"], &mounts, false).unwrap();
    assert_eq!(found[..3], ["/sys bind", "/sys/fs/cgroup tmpfs", "/sys/fs/cgroup/cpu bind"]);
    let why = layout(&["sys/fs/cgroup/file"], &mounts[..1], false).unwrap_err();
    assert!(why.contains("/sys/fs/cgroup/file` lies in a mount"), "{why}");
}

#[test]
fn too_many_mounts_are_none() {
    let paths: Vec<String> = (0..200).map(|n| format!("var/{n}/x")).collect();
    let paths: Vec<&str> = paths.iter().map(String::as_str).chain(["var/m/"]).collect();
    let why = layout(&paths, &[("var/m", "ext4")], false).unwrap_err();
    assert!(why.contains("more than 128 overlays"), "{why}");
    assert!(layout(&paths, &[("var/m", "ext4")], true).is_ok());
}
