//! What a command leaves in the `/tmp` of its session, where the next one's workspace is mounted.

use std::fs;

use eclusa::Answer;

use crate::world::World;

/// The way to the workspace is cleared without following a link that a command has put there.
#[test]
fn a_link_on_the_way_to_the_workspace_leads_nobody_outside() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new(Answer::Once);
    let root = world.root().canonicalize().unwrap();
    let (Some(above), Some(name)) = (root.parent(), root.file_name()) else { return };
    if !above.starts_with("/tmp") {
        // Only there the way lies in what a command can write.
        return;
    }
    let outside = tempfile::tempdir().unwrap();
    let mine = outside.path().join(name);
    fs::write(&mine, "mine").unwrap();
    let (above, target) = (above.display(), outside.path().display());
    let swapped = world
        .bash(&format!("mv '{above}' /tmp/away && ln -s '{target}' '{above}' && echo swapped"));
    assert!(swapped.text().contains("swapped"), "{}", swapped.text());
    assert_eq!(world.bash("echo next").text(), "next\n");
    assert_eq!(fs::read_to_string(&mine).unwrap(), "mine");
}
