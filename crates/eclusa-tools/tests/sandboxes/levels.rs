//! Every level, through the tool and the whole gate: where the kernel refuses the one
//! above, a command is held by the next, its changes are judged all the same as long as they can
//! be recorded, and the record says what held it. The same again as an ordinary user.

use std::time::Duration;

use eclusa::{Answer, Mode, RequiredEnforcement, Run};
use eclusa_sandbox::test_support;

use crate::{
    tree,
    world::{World, plainly},
};

const NO_OVERLAY: &str = "partial, without an overlay that stages changes";
const NO_NAMESPACES: &str =
    "partial, without an overlay that stages changes, namespaces, a /proc of its own";
const IN_PLACE: &str = "run in place with an undo log";

const START: &str = "umask 022; echo one > one; mkdir d; echo two > d/two; ln -s one link";
const SCRIPT: &str = "echo more >> one; mv d e; rm link; mkdir -p new/deep; echo n > new/deep/f
    cat > heredoc <<END
text
END
    chmod 755 one; printf x > e/three";

fn world(answer: Answer, least: RequiredEnforcement) -> World {
    let world = World::with(answer, |it| it.least = least);
    plainly(&world.root(), START);
    world
}

fn no() -> Answer {
    Answer::No("leave it".to_owned())
}

/// What holds where a command runs in place and what it does is recorded.
fn holds_in_place(enforcement: &str) {
    let record = format!("{enforcement}; {IN_PLACE}");

    // By default whatever is less than full is asked about before it runs.
    let asked = world(no(), RequiredEnforcement::default());
    let before = tree::read(&asked.root());
    let reply = asked.bash(SCRIPT);
    assert_eq!(reply.code(), "denied_by_person", "{}", reply.content());
    assert_eq!(tree::read(&asked.root()), before);
    let reply = asked.bash("cat one");
    assert_eq!(reply.code(), "denied_by_person", "even what only reads: {}", reply.content());

    // Where less will do, what it did is shown afterwards; a no leaves nothing of it.
    let refused = world(no(), RequiredEnforcement::Partial);
    let reply = refused.bash(SCRIPT);
    assert_eq!(reply.code(), "changes_discarded", "{}", reply.content());
    assert_eq!(tree::read(&refused.root()), before, "rolled back");
    assert_eq!(refused.end()["sandbox"], record.as_str());
    assert_eq!(refused.end()["changes"]["outcome"], "discarded");

    // A yes makes it real, and it can be undone.
    let agreed = world(Answer::Once, RequiredEnforcement::Partial);
    let plain = world(no(), RequiredEnforcement::Partial);
    plainly(&plain.root(), &format!("umask 022\n{SCRIPT}"));
    let reply = agreed.bash(&format!("umask 022\n{SCRIPT}"));
    assert_eq!(reply.code(), "ok", "{}", reply.content());
    assert_eq!(tree::read(&agreed.root()), tree::read(&plain.root()), "as it is plainly");
    assert_eq!(agreed.end()["sandbox"], record.as_str());
    assert_eq!(reply.data().unwrap()["in_place"], true);
    agreed.undo(&reply);
    assert_eq!(tree::read(&agreed.root()), before, "undone");

    // So with the default, once a person has said yes to the command.
    let yes = world(Answer::Once, RequiredEnforcement::default());
    let reply = yes.bash("echo more >> one");
    assert_eq!(reply.code(), "ok", "{}", reply.content());
    yes.undo(&reply);
    assert_eq!(tree::read(&yes.root()), before);

    // What must be held by everything does not run at all.
    let full = world(Answer::Once, RequiredEnforcement::Full);
    let reply = full.bash("echo more >> one");
    assert_eq!(reply.code(), "tool_failed", "{}", reply.content());
    assert!(reply.content().contains("an overlay that stages changes"), "{}", reply.content());
    assert_eq!(tree::read(&full.root()), before);
}

/// A rule over effects denies what was done in place, and then it is undone.
fn denied_effects_are_rolled_back() {
    let world = world(Answer::Once, RequiredEnforcement::Partial);
    let before = tree::read(&world.root());
    let reply = world.bash("echo more >> one; rm -r d; ln -s /etc/passwd out");
    assert_eq!(reply.code(), "changes_discarded", "{}", reply.content());
    assert_eq!(tree::read(&world.root()), before);
}

/// A command that is ended in the middle, and one that nobody waits for.
fn what_was_ended_is_rolled_back() {
    let late = world(no(), RequiredEnforcement::Partial);
    let before = tree::read(&late.root());
    // A busy machine may need more time to change something.
    let changed = [400, 4_000, 40_000].into_iter().any(|time| {
        let time = Duration::from_millis(time);
        let reply = late.bash_for("echo more >> one; mv d e; sleep 1000", time);
        assert_eq!(tree::read(&late.root()), before);
        assert!(
            ["changes_discarded", "tool_failed"].contains(&reply.code()),
            "{}",
            reply.content()
        );
        reply.code() == "changes_discarded"
    });
    assert!(changed);

    let cancelled = world(Answer::Once, RequiredEnforcement::Partial);
    let run = Run { mode: Mode::Yolo, ..Run::default() };
    let cancel = run.cancel.clone();
    let marker = cancelled.path("marker");
    let waiting = std::thread::scope(|scope| {
        let passing =
            scope.spawn(|| cancelled.bash_in(run, "echo x > marker; rm -r d; sleep 1000"));
        while !marker.exists() {
            std::thread::sleep(Duration::from_millis(5));
        }
        cancel.cancel();
        passing.join().unwrap()
    });
    assert_eq!(waiting.code(), "cancelled");
    for _ in 0..12_000 {
        if tree::read(&cancelled.root()) == before {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("it is still there: {:?}", tree::read(&cancelled.root()));
}

#[test]
fn rung_3_without_overlays_a_command_runs_in_place_and_is_rolled_back() {
    test_support::overlays().unwrap();
    holds_in_place(NO_OVERLAY);
    denied_effects_are_rolled_back();
}

#[test]
fn rung_3_without_namespaces_a_command_runs_in_place_and_is_rolled_back() {
    test_support::namespaces().unwrap();
    holds_in_place(NO_NAMESPACES);
    denied_effects_are_rolled_back();
}

#[test]
fn rung_3_a_command_that_was_ended_is_rolled_back() {
    test_support::overlays().unwrap();
    what_was_ended_is_rolled_back();
}

#[test]
fn rung_3_random_scripts_do_what_they_do_plainly_and_leave_nothing_else() {
    test_support::overlays().unwrap();
    crate::differential::hold_in_place();
}

#[test]
fn rung_3_live_directories_are_not_recorded() {
    test_support::overlays().unwrap();
    let world = World::with(no(), |it| {
        it.least = RequiredEnforcement::Partial;
        it.live = vec!["target".into()];
    });
    plainly(&world.root(), "mkdir target");
    let reply = world.bash("echo x > target/a; echo y > b");
    assert_eq!(reply.code(), "changes_discarded", "{}", reply.content());
    assert!(world.path("target/a").exists() && !world.path("b").exists());
    let sandbox = format!("{NO_OVERLAY}; {IN_PLACE}; written at once and not undoable: `target`");
    assert_eq!(world.end()["sandbox"], sandbox.as_str());
}

#[test]
fn rung_3_secrets_stay_hidden_or_the_command_does_not_run() {
    let secret = |world: &World| plainly(&world.root(), "echo hunter2 > .env");
    test_support::overlays().unwrap();
    let inside = world(Answer::Once, RequiredEnforcement::Partial);
    secret(&inside);
    let reply = inside.bash("cat .env; echo x > made");
    assert!(!reply.content().contains("hunter2"), "{}", reply.content());
    assert!(inside.path("made").exists(), "{}", reply.content());
    // Nothing can be hidden inside what is written where there are no mounts.
    test_support::namespaces().unwrap();
    let bare = world(Answer::Once, RequiredEnforcement::Partial);
    secret(&bare);
    let reply = bare.bash("cat .env; echo x > made");
    assert_eq!(reply.code(), "tool_failed", "{}", reply.content());
    assert!(reply.content().contains("can't be hidden"), "{}", reply.content());
    assert!(!bare.path("made").exists());
}

#[test]
fn rung_4_without_a_log_it_is_asked_about_before_and_the_record_says_that_it_stays() {
    test_support::namespaces().unwrap();
    test_support::listeners().unwrap();
    for least in [RequiredEnforcement::FullOrAsk, RequiredEnforcement::Partial] {
        let refused = world(no(), least);
        let before = tree::read(&refused.root());
        let reply = refused.bash("echo more >> one");
        assert_eq!(reply.code(), "denied_by_person", "{least:?}: asked before it ran");
        assert_eq!(tree::read(&refused.root()), before);
        let agreed = world(Answer::Once, least);
        let reply = agreed.bash("echo more >> one; echo x > ../outside");
        assert_eq!(reply.code(), "tool_failed", "{}", reply.content());
        assert_eq!(reply.undo(), None);
        assert_eq!(std::fs::read_to_string(agreed.path("one")).unwrap(), "one\nmore\n");
        assert!(!agreed.path("../outside").exists(), "Landlock holds");
        let root = agreed.root().canonicalize().unwrap();
        let stays = format!("written at once and not undoable: `{}`", root.display());
        assert_eq!(agreed.end()["sandbox"], format!("{NO_NAMESPACES}; {stays}").as_str());
    }
}

#[test]
fn rung_5_with_nothing_that_holds_no_command_runs() {
    test_support::namespaces().unwrap();
    test_support::landlock().unwrap();
    for least in
        [RequiredEnforcement::Full, RequiredEnforcement::FullOrAsk, RequiredEnforcement::Partial]
    {
        let world = world(Answer::Once, least);
        let before = tree::read(&world.root());
        let reply = world.bash("echo more >> one");
        assert_eq!(reply.code(), "tool_failed", "{least:?}: {}", reply.content());
        assert!(reply.content().contains("enforcement here is none"), "{}", reply.content());
        assert_eq!(tree::read(&world.root()), before);
    }
}
