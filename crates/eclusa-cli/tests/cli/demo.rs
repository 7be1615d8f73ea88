//! `eclusa demo`: the transcript that a new person sees first.

use insta::assert_snapshot;

use crate::world::World;

#[test]
fn the_demo_shows_every_gate_and_ends_with_a_chain_that_holds() {
    let world = World::with("mode = \"yolo\" # the demo does not care\n");
    assert_snapshot!(world.transcript(&[&["demo"]]), @"");
    // It leaves nothing behind.
    assert!(!world.path("state/eclusa").exists());
    assert_eq!(world.read("workspace/notes.txt"), "");
}
