//! `eclusa demo`: the transcript that a new person sees first.

use insta::assert_snapshot;

use crate::{prompt::Person, world::World};

#[test]
fn the_demo_shows_every_gate_and_ends_with_a_chain_that_holds() {
    let world = World::with("mode = \"yolo\" # the demo does not care\n");
    assert_snapshot!(world.transcript(&[&["demo"]]), @r###"
    $ eclusa demo
    A model streams text with calls in it. Each call passes the gate; what follows it is its record.

    First I look at the clock.

      → time {}
        allow: it only looks (defaults)
      ← <time>

    Now I celebrate, perhaps a little too much.

      → echo {"text":"hooray","times":50}
        at-most-three (input): modify
        arguments now: {"text":"hooray","times":3}
        allow: it only looks (defaults)
      ← hooray
        hooray
        hooray

    Then I write something down.

      → note {"text":"the lock works"}
        allow: notes about the lock are welcome (demo:9)
        committed: notes.txt
        made notes.txt, mode 0644, +1 -0
        @@ -0,0 +1 @@
        + the lock works
      ← added a line to `notes.txt`

    And something that nobody has allowed.

      → note {"text":"nobody has looked at the ladder"}
        stage: its changes are reviewed before they are applied (defaults)
        ask: its changes are reviewed before they are applied: `notes.txt` (defaults)
        asked: no_approver (nobody)
        discarded: notes.txt
      ← changes discarded, nothing was applied: they need approval and nobody can be asked; a person can run it in a terminal, add an allow rule, or choose another mode

    And this I should not write down at all.

      → note {"text":"the password is swordfish"}
        deny: secrets do not belong in notes (demo:3)
      ← denied by policy: secrets do not belong in notes (demo:3); nothing was run

    The same gate, as a dry run: everything is decided, nothing is done, nobody is asked.

    What would happen if I wrote down one more thing?

      → note {"text":"one more thing"}
        stage: its changes are reviewed before they are applied (defaults)
      ← dry run, nothing was done: note({"text":"one more thing"}) would run with its changes staged, because its changes are reviewed before they are applied (defaults)

    And what was changed is taken back: `eclusa undo`, which is a call of its own.

      → undo {"calls":[3]}
        ask: it does not say which files it touches (defaults)
        asked: once (command line)
        deleted notes.txt, +0 -1
        @@ -1 +0,0 @@
        - the lock works
      ← undone: call 3
          notes.txt

    log: OK: 10 records, the chain is intact; head <hash>
    exit 0
    "###);
    // It leaves nothing behind.
    assert!(!world.path("state/eclusa").exists());
    assert_eq!(world.read("workspace/notes.txt"), "");
}

#[test]
fn the_demo_asks_on_a_terminal() {
    let world = World::new();
    let mut person = Person::runs(&world, &["demo"]);
    person.sees("+ nobody has looked at the ladder");
    person.answers("y");
    let (code, seen) = person.ends();
    assert_eq!(code, 0, "{seen}");
    assert!(seen.contains("committed: notes.txt") && seen.contains("undone: call"), "{seen}");
    assert!(seen.contains("the chain is intact"), "{seen}");
}
