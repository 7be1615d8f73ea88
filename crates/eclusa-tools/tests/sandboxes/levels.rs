//! Every level, through the tool and the whole gate: where the kernel refuses the one above, a
//! command is held by the next, asked about before it runs, and the record says what held it. The
//! same again as an ordinary user.

use eclusa::{Answer, Mode, Run, settings::RequiredEnforcement};
use eclusa_sandbox::test_support;

use crate::{
    tree,
    world::{World, plainly},
};

const NO_OVERLAY: &str = "partial, without an overlay that stages changes";
const NO_NAMESPACES: &str =
    "partial, without an overlay that stages changes, namespaces, a /proc of its own";

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

/// Where nothing can be staged, every command that may write is asked about before it runs, the
/// question is the only one, and what it did stays: the record says so.
fn asks_first_and_says_that_it_stays(enforcement: &str) {
    for least in [RequiredEnforcement::FullOrAsk, RequiredEnforcement::Partial] {
        let refused = world(no(), least);
        let before = tree::read(&refused.root());
        let reply = refused.bash(SCRIPT);
        assert_eq!(reply.code(), "denied_by_person", "{least:?}: {}", reply.content());
        assert_eq!(tree::read(&refused.root()), before);

        let agreed = world(Answer::Once, least);
        let plain = world(no(), least);
        plainly(
            &plain.root(),
            &format!(
                "umask 022
{SCRIPT}"
            ),
        );
        let reply = agreed.bash(&format!(
            "umask 022
{SCRIPT}"
        ));
        assert_eq!(reply.code(), "ok", "{}", reply.content());
        assert_eq!(tree::read(&agreed.root()), tree::read(&plain.root()), "as it is plainly");
        assert_eq!(reply.undo(), None);
        let root = agreed.root().canonicalize().unwrap();
        let stays = format!("written at once and not undoable: `{}`", root.display());
        assert_eq!(agreed.end()["sandbox"], format!("{enforcement}; {stays}").as_str());
        // Without a private /tmp this fails, and with one it goes there.
        agreed.bash("echo x > ../outside");
        assert!(!agreed.path("../outside").exists(), "nothing outside is written");
    }
    // What only reads is held all the same, and nobody is asked.
    let unasked = world(no(), RequiredEnforcement::default());
    let reply = unasked.bash("cat one");
    assert_eq!((reply.code(), reply.text().trim()), ("ok", "one"), "{}", reply.content());
    assert_eq!(unasked.end()["sandbox"], enforcement);

    // What must be held by everything does not run at all.
    let full = world(Answer::Once, RequiredEnforcement::Full);
    let before = tree::read(&full.root());
    let reply = full.bash("echo more >> one");
    assert_eq!(reply.code(), "tool_failed", "{}", reply.content());
    assert!(reply.content().contains("an overlay that stages changes"), "{}", reply.content());
    assert_eq!(tree::read(&full.root()), before);
}

#[test]
fn without_overlays_a_command_is_asked_about_before_it_runs() {
    eclusa_testing::needs!(Namespaces);
    test_support::overlays().unwrap();
    asks_first_and_says_that_it_stays(NO_OVERLAY);
}

#[test]
fn without_namespaces_a_command_is_asked_about_before_it_runs() {
    test_support::namespaces().unwrap();
    asks_first_and_says_that_it_stays(NO_NAMESPACES);
}

/// Where changes cannot be judged after the run, no mode says yes for a person before it.
/// Shows H1.
#[test]
fn where_nothing_can_be_staged_no_mode_answers_for_a_person() {
    test_support::namespaces().unwrap();
    for mode in [Mode::AutoApprove, Mode::Yolo] {
        let world = world(no(), RequiredEnforcement::default());
        plainly(&world.root(), "git init -q .");
        let before = tree::read(&world.root());
        let run = Run { mode, ..Run::default() };
        let reply = world.bash_in(run, "echo 'touch pwned' > .git/hooks/pre-commit; echo x > a");
        assert_eq!(reply.code(), "tool_failed", "{mode}: {}", reply.content());
        assert!(reply.content().contains("cannot stage changes"), "{}", reply.content());
        assert_eq!(tree::read(&world.root()), before);
    }
}

#[test]
fn secrets_stay_hidden_or_end_the_command() {
    eclusa_testing::needs!(Namespaces);
    let secret = |world: &World| plainly(&world.root(), "echo hunter2 > .env");
    test_support::overlays().unwrap();
    let inside = world(Answer::Once, RequiredEnforcement::Partial);
    secret(&inside);
    let reply = inside.bash("cat .env; echo x > made");
    assert!(!reply.content().contains("hunter2"), "{}", reply.content());
    assert!(inside.path("made").exists(), "{}", reply.content());
    // Where there are no mounts, whoever opens one is ended.
    test_support::namespaces().unwrap();
    let bare = world(Answer::Once, RequiredEnforcement::Partial);
    secret(&bare);
    let reply = bare.bash("cat .env; echo x > made");
    let said = reply.content();
    assert!(said.contains("opened a file that is hidden from it"), "{said}");
    assert!(!said.contains("hunter2") && !bare.path("made").exists(), "{said}");
}

#[test]
fn with_nothing_that_holds_no_command_runs() {
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
