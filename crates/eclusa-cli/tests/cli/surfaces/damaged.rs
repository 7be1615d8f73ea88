//! What is kept of a session and cannot be read counts as tainted and as spent: errors while
//! deciding deny.

use std::{fs, time::Duration};

use super::{
    acts::{Act, Seen},
    hooked::hook,
};
use crate::world::World;

const RULES: &str = r#"
[effects.budget]
files = 9

[[rules]]
decision = "allow"
tool = "web_fetch"
domain = "192.0.2.8"

[[rules]]
decision = "allow"
tool = "write"
path = "**"
"#;

const FETCH: Act = Act::Fetch("http://192.0.2.8/");

fn write(name: &'static str) -> Act {
    Act::Write(name, "new\n".to_owned())
}

/// What becomes of these acts in the one session of an agent.
fn words(world: &World, acts: &[Act]) -> String {
    let seen = hook(world, acts);
    seen.iter().map(Seen::word).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_state_of_a_session_that_cannot_be_read_counts_as_tainted_and_spent() {
    let world = World::with(RULES);
    assert_eq!(words(&world, &[write("a.txt"), write("b.txt")]), "done done");
    let store = rusqlite::Connection::open(world.store_of_workspace()).unwrap();
    store.busy_timeout(Duration::from_secs(60)).unwrap();
    let damaged = store.execute("UPDATE sessions SET state = 'nonsense'", []).unwrap();
    assert_eq!(damaged, 1, "the session is kept");
    drop(store);
    assert_eq!(words(&world, &[write("c.txt"), FETCH]), "asked asked");
    // Another session is not meant.
    let world = World::with(RULES);
    assert_eq!(words(&world, &[write("c.txt"), FETCH]), "done done");
}

/// An older program kept a file for each session. A directory in its place cannot be read.
#[test]
fn a_file_about_a_session_that_cannot_be_read_counts_as_tainted() {
    let world = World::with(RULES);
    world.write("workspace/a.txt", "one\n");
    assert_eq!(words(&world, &[Act::Read("a.txt")]), "done");
    let sessions = fs::read_dir(world.path("state/eclusa/agents/sessions")).unwrap();
    for session in sessions {
        fs::create_dir(session.unwrap().path().join("taint")).unwrap();
    }
    assert_eq!(words(&world, &[FETCH]), "asked");
}
