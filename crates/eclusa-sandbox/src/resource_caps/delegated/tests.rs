//! A tree that looks like one of control groups.
#![expect(clippy::disallowed_methods, reason = "tests make their own files")]

use super::*;

#[test]
fn a_group_is_used_only_where_it_was_delegated_and_counts() {
    let mount = tempfile::tempdir().unwrap();
    let group = |name: &str, enabled: &str| {
        let path = mount.path().join(name);
        std::fs::create_dir_all(&path).unwrap();
        std::fs::write(path.join("cgroup.subtree_control"), enabled).unwrap();
        std::fs::write(path.join("cgroup.procs"), "").unwrap();
        path
    };
    let scope = group("user/scope", "cpu memory pids\n");
    group("user/scope/leaf", "");
    group("user/other", "memory\n");
    let found = |own: &str, root| find(mount.path(), own, root);
    assert_eq!(found("/user/scope", false), Some(scope.clone()));
    assert_eq!(found("/user/scope/leaf", false), Some(scope.clone()), "from inside a leaf");
    assert_eq!(found("/user/other", false), None, "processes are not counted");
    assert_eq!(found("/nowhere", false), None);
    assert_eq!(found("/", false), None, "not above the mount");
    assert_eq!(found("/user/scope", true), None, "root may write where nothing was delegated");
    let none = rustix::fs::XattrFlags::empty();
    if rustix::fs::setxattr(&scope, "user.delegate", b"1", none).is_ok() {
        assert_eq!(found("/user/scope", true), Some(scope));
    }
}
