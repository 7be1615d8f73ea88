//! What counts as covered.

use std::fs::File;

use super::*;

#[test]
fn a_directory_that_is_still_the_same_is_not_covered() {
    let room = tempfile::tempdir().unwrap();
    let (root, other) = (room.path().join("root"), room.path().join("other"));
    std::fs::create_dir(&root).unwrap();
    std::fs::create_dir(&other).unwrap();
    let workspace = Workspace::named(&root, room.path().join("state")).unwrap();
    let same = File::open(&root).unwrap();
    assert!(ScratchWorkspace::new(workspace.clone(), &same).is_err());
    let other = File::open(&other).unwrap();
    assert_eq!(ScratchWorkspace::new(workspace, &other).unwrap().workspace().root(), root);
}
