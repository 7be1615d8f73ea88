//! Every level, through the tool and the whole gate: where the kernel refuses the one above, a
//! command is held by the next, asked about before it runs, and the record says what held it. The
//! same again as an ordinary user.

use eclusa::{Answer, Mode, Run, settings::RequiredEnforcement};
use eclusa_sandbox::test_support;

use crate::{
    tree,
    world::{World, plainly},
};

/// The machine holds everything outside the workspace.
const NO_OVERLAY: &str = "snapshot";
const NO_NAMESPACES: &str = "snapshot";

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

/// Where nothing can be staged in a layer a command runs on the real files, which are put back: what it
/// did is judged afterwards, and can be undone.
fn runs_on_the_real_files_and_puts_them_back(level: &str, least: RequiredEnforcement) {
    let script = format!("umask 022\n{SCRIPT}");
    let refused = world(no(), least);
    let before = tree::read(&refused.root());
    let reply = refused.bash(&script);
    assert_eq!(reply.code(), "changes_discarded", "{least:?}: {}", reply.content());
    assert_eq!(tree::read(&refused.root()), before);
    assert_eq!(refused.end()["sandbox"], level);

    let agreed = world(Answer::Once, least);
    let plain = world(no(), least);
    plainly(&plain.root(), &script);
    let reply = agreed.bash(&script);
    assert_eq!(reply.code(), "ok", "{}", reply.content());
    assert_eq!(tree::read(&agreed.root()), tree::read(&plain.root()), "as it is plainly");
    assert_eq!(agreed.end()["sandbox"], level);
    agreed.undo(&reply);
    assert_eq!(tree::read(&agreed.root()), before, "undone");
    // Without a private /tmp this fails, and with one it goes there.
    agreed.bash("echo x > ../outside");
    assert!(!agreed.path("../outside").exists(), "nothing outside is written");
    // What only reads is held all the same, and nobody is asked.
    let unasked = world(no(), RequiredEnforcement::default());
    let reply = unasked.bash("cat one");
    assert_eq!((reply.code(), reply.text().trim()), ("ok", "one"), "{}", reply.content());

    // What must be held by everything does not run at all.
    let full = world(Answer::Once, RequiredEnforcement::Full);
    let reply = full.bash("echo more >> one");
    assert_eq!(reply.code(), "tool_failed", "{}", reply.content());
    assert!(reply.content().contains("an overlay that stages changes"), "{}", reply.content());
    assert_eq!(tree::read(&full.root()), before);
}

/// Where everything outside is held, nobody is asked before.
#[test]
fn without_overlays_the_real_files_are_put_back_before_anybody_judges() {
    eclusa_testing::needs!(Namespaces);
    test_support::overlays().unwrap();
    for least in [RequiredEnforcement::FullOrAsk, RequiredEnforcement::Partial] {
        runs_on_the_real_files_and_puts_them_back(NO_OVERLAY, least);
    }
}

#[test]
fn without_namespaces_the_real_files_are_put_back_before_anybody_judges() {
    test_support::namespaces().unwrap();
    let all = [
        RequiredEnforcement::FullOrAsk,
        RequiredEnforcement::Snapshot,
        RequiredEnforcement::Partial,
    ];
    for least in all {
        runs_on_the_real_files_and_puts_them_back(NO_NAMESPACES, least);
    }
}

/// Where changes cannot be judged after the run, no mode says yes for a person before it.
/// Shows H1.
#[test]
fn where_nothing_can_be_staged_no_mode_answers_for_a_person() {
    test_support::namespaces().unwrap();
    for mode in [Mode::AutoApprove, Mode::Yolo] {
        let world = World::with(no(), |it| it.state = "/proc/self/nowhere".into());
        plainly(&world.root(), &format!("{START}; git init -q ."));
        let before = tree::read(&world.root());
        let run = Run { mode, ..Run::default() };
        let reply = world.bash_in(run, "echo 'touch pwned' > .git/hooks/pre-commit; echo x > a");
        assert_eq!(reply.code(), "tool_failed", "{mode}: {}", reply.content());
        assert!(reply.content().contains("cannot stage changes"), "{}", reply.content());
        assert_eq!(tree::read(&world.root()), before);
    }
}

/// A command that goes on in the background has nothing to put back, because it may write only to what no snapshot
/// covers.
#[test]
fn in_the_background_build_output_alone_is_written() {
    test_support::namespaces().unwrap();
    let world = world(Answer::Once, RequiredEnforcement::Snapshot);
    std::fs::create_dir(world.path("node_modules")).unwrap();
    std::os::unix::fs::symlink(world.root(), world.path(".venv")).unwrap();
    let before = tree::read(&world.root());
    let command =
        "echo x > made; echo y >> one; echo z > .venv/made; mkdir .next; mv node_modules away
        echo done > node_modules/done; sleep 1000";
    let args = serde_json::json!({"command": command, "background": true});
    let reply = crate::world::pass(&world.gate, args);
    assert!(reply.content().contains("it cannot write to the workspace"), "{}", reply.content());
    let is_done = || std::fs::read(world.path("node_modules/done")).is_ok_and(|it| !it.is_empty());
    let pause = std::time::Duration::from_millis(5);
    assert!((0..6000).any(|_| is_done() || {
        std::thread::sleep(pause);
        false
    }));
    assert!(!world.path(".next").exists());
    // Another command does not wait for it.
    assert_eq!(world.bash("echo z > z").code(), "ok");
    assert!(!world.path("made").exists());
    let one = std::path::Path::new("one");
    assert_eq!(tree::read(&world.root()).get(one), before.get(one));
}

/// One command at a time: two that are started at once do not see each other's work.
#[test]
fn commands_at_the_same_time_wait_for_each_other() {
    test_support::namespaces().unwrap();
    let world = world(Answer::Once, RequiredEnforcement::Snapshot);
    let both = std::thread::scope(|scope| {
        let one = scope.spawn(|| world.bash("echo first > first; ls"));
        let two = scope.spawn(|| world.bash("echo second > second; ls"));
        [one.join().unwrap(), two.join().unwrap()]
    });
    for reply in &both {
        assert_eq!(reply.code(), "ok", "{}", reply.content());
    }
    assert!(world.path("first").exists() && world.path("second").exists());
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
