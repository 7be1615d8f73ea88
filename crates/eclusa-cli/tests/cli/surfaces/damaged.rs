//! What is kept of a session and cannot be read counts as tainted: errors while deciding deny.

use std::fs;

use super::{
    acts::{Act, Seen},
    hooked::hook,
};
use crate::world::World;

/// Whether that is so already (proof 3).
const HOLDS: bool = false;

/// A directory where an older program kept a file about each session: nobody can read that.
fn damage(world: &World) {
    let sessions = fs::read_dir(world.path("state/eclusa/agents/sessions")).unwrap();
    for session in sessions {
        fs::create_dir(session.unwrap().path().join("taint")).unwrap();
    }
}

#[test]
fn what_cannot_be_read_of_a_session_counts_as_tainted() {
    let world = World::with(
        "[[rules]]\ndecision = \"allow\"\ntool = \"web_fetch\"\ndomain = \"192.0.2.8\"\n",
    );
    world.write("workspace/a.txt", "one\n");
    let words = |acts: &[Act]| {
        let seen = hook(&world, acts);
        seen.iter().map(Seen::word).collect::<Vec<_>>().join(" ")
    };
    let fetch = [Act::Fetch("http://192.0.2.8/")];
    assert_eq!(words(&[Act::Read("a.txt")]), "done");
    damage(&world);
    let expected = if HOLDS { "asked" } else { "done" };
    assert_eq!(words(&fetch), expected, "the state of the session cannot be read");
}
