//! Tests of the places for layers.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::*;

#[test]
fn a_place_is_this_users_alone_or_none() {
    let root = tempfile::tempdir().unwrap();
    let place = root.path().join("place");
    for _ in 0..2 {
        open(&place).unwrap();
        assert_eq!(fs::metadata(&place).unwrap().mode() & 0o777, 0o700);
    }
    fs::set_permissions(&place, Permissions::from_mode(0o755)).unwrap();
    assert!(open(&place).is_err(), "others could look into it");
    let link = root.path().join("link");
    symlink(root.path(), &link).unwrap();
    assert!(open(&link).is_err(), "somebody put a link there");
}

#[test]
fn no_place_lies_in_the_workspace_and_the_nearest_comes_first() {
    let root = tempfile::tempdir().unwrap();
    let (state, workspace) = (root.path().join("state"), root.path().join("workspace"));
    fs::create_dir(&workspace).unwrap();
    assert_eq!(candidates(&state, &workspace).first(), Some(&state));
    let within = workspace.join("state");
    assert!(!candidates(&within, &workspace).contains(&within));
    assert!(candidates(&state, Path::new("/")).is_empty());
}
