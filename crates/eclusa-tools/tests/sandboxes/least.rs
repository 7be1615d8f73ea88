//! What must hold a command, and what is on record of what did.

use eclusa::{Answer, settings::RequiredEnforcement};

use crate::world::World;

#[test]
fn what_held_a_command_is_on_record_whatever_became_of_its_changes() {
    eclusa_testing::needs!(Namespaces);
    for (answer, code) in [(Answer::Once, "ok"), (Answer::No(String::new()), "changes_discarded")] {
        let world = World::new(answer);
        let reply = world.bash("echo x > a");
        assert_eq!(reply.code(), code, "{}", reply.content());
        assert_eq!(world.end()["sandbox"], "full", "this kernel has all of it");
    }
}

/// Where nothing can be staged, a command that must be held by everything does not run, and one
/// that need not is asked about before.
#[test]
fn where_something_is_missing_the_settings_decide() {
    eclusa_testing::needs!(Namespaces);
    let nowhere = "/proc/self/nowhere";
    let world = |answer, least| {
        World::with(answer, |it| {
            it.state = nowhere.into();
            it.least = least;
        })
    };
    let full = world(Answer::Once, RequiredEnforcement::Full);
    let reply = full.bash("echo x > a");
    assert_eq!(reply.code(), "tool_failed", "{}", reply.content());
    assert!(reply.content().contains("an overlay that stages changes"), "{}", reply.content());
    assert!(!full.path("a").exists());
    for least in [RequiredEnforcement::FullOrAsk, RequiredEnforcement::Partial] {
        let no = world(Answer::No(String::new()), least);
        assert_eq!(
            no.bash("echo x > a").code(),
            "denied_by_person",
            "{least:?}: asked before it ran"
        );
        assert!(!no.path("a").exists());
        let yes = world(Answer::Once, least);
        let reply = yes.bash("echo x > a");
        assert_eq!(reply.code(), "ok", "{}", reply.content());
        let held = yes.end()["sandbox"].as_str().unwrap().to_owned();
        let root = yes.root().canonicalize().unwrap();
        let live = format!("written at once and not undoable: `{}`", root.display());
        assert_eq!(held, format!("partial, without an overlay that stages changes; {live}"));
    }
}
