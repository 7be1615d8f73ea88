//! `eclusa demo`: the transcript that a new person sees first.

use eclusa_sandbox::test_support;

use crate::{
    prompt::Person,
    world::{Ran, World},
};

/// The page that shows it is what it prints, so that nobody meets another demo than they read of.
#[test]
fn the_demo_shows_every_gate_and_the_first_page_shows_the_demo() {
    eclusa_testing::needs!(Namespaces);
    let world = World::with("mode = \"yolo\" # the demo does not care\n");
    let ran = world.eclusa(&["demo"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:?}");
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/start.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (_, shown) = page.split_once("```text\nA model is asked").unwrap();
    let (shown, _) = shown.split_once("\n```").unwrap();
    let shown = world.plain(&format!("A model is asked{shown}\n"));
    for scene in shown.split("\n…\n") {
        let is_there = world.plain(&ran.out).contains(scene);
        assert!(is_there, "docs/start.md shows another demo: {scene}\n{}", ran.out);
    }
    for (what, sign) in [
        ("a command that asks nobody", "only reads in the workspace"),
        ("one whose changes are asked about", "discarded: gates.txt"),
        ("a secret", "[redacted:"),
        ("a disaster", "denied by policy: `rm -rf ~ /`"),
        ("a reviewer", "at-most-three (input): modify"),
        ("a helper with fewer tools", "no tool is called `bash`"),
        ("what the helper said", "← Alba comes first."),
        ("undo", "undone: call"),
        ("the log", "the chain is intact"),
    ] {
        assert!(ran.out.contains(sign), "{what} is missing: {}", ran.out);
    }
    assert!(!ran.out.contains("correct-horse"), "{}", ran.out);
    // It leaves nothing behind.
    assert!(!world.path("state/eclusa").exists());
    assert_eq!(std::fs::read_dir(world.path("workspace")).unwrap().count(), 0);
}

/// `eclusa demo | head -1`.
#[test]
fn the_demo_ends_where_nobody_reads_on() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let mut command = world.command(&["demo"]);
    command.stdin(std::process::Stdio::null()).stdout(std::process::Stdio::piped());
    let mut child = command.stderr(std::process::Stdio::null()).spawn().unwrap();
    drop(child.stdout.take());
    assert!(!child.wait().unwrap().success());
}

/// Where it waits for whoever reads it.
const NEXT: &str = "Enter shows the next scene";

#[test]
fn the_demo_asks_on_a_terminal() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let mut person = Person::runs(&world, &["demo"]);
    // It stops after each scene. The second one is about a rule, the third one asks.
    for scene in ["A command that changes nothing", "The list of boats wants sorting"] {
        person.sees(scene);
        person.sees(NEXT);
        person.types("");
    }
    person.sees("+ upper: open");
    person.answers("y");
    let scenes = [
        "Somebody left a password",
        "And now I tidy up",
        "A reviewer can change a call",
        "I give work to a helper",
        "The boats are in order",
        "as a dry run",
        "Then I leave it",
    ];
    for scene in scenes {
        person.sees(NEXT);
        person.types("");
        person.sees(scene);
    }
    person.sees(NEXT);
    person.types("");
    let (code, seen) = person.ends();
    assert_eq!(code, 0, "{seen}");
    assert!(seen.contains("next: `eclusa init`"), "{seen}");
    assert!(seen.contains("applied: gates.txt") && seen.contains("undone: call"), "{seen}");
    assert!(seen.contains("the chain is intact"), "{seen}");
}

/// What the demo says where something is taken from the machine.
fn without(take: fn() -> std::io::Result<()>) -> Ran {
    // What is taken from a thread is taken from what it starts.
    let started = std::thread::spawn(move || {
        take().unwrap();
        World::new().eclusa(&["demo"])
    });
    let ran = started.join().unwrap();
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:?}");
    assert!(ran.out.contains("denied by policy: `rm -rf ~ /`"), "{}", ran.out);
    assert!(ran.out.contains("the chain is intact"), "{}", ran.out);
    assert!(!ran.out.contains("correct-horse"), "{}", ran.out);
    ran
}

/// The lines about what is not in force.
fn not_in_force(ran: &Ran) -> Vec<&str> {
    ran.out.lines().filter(|it| it.starts_with("Not in force here")).collect()
}

#[test]
fn in_a_container_the_demo_runs_with_what_is_there_and_says_what_is_not() {
    let ran = without(test_support::container);
    let missing = "Not in force here: an overlay that stages changes, namespaces, a /proc of its own. \
                   Level snapshot: a command that writes runs on the real files, which are put back before \
                   its changes are judged.";
    let said = not_in_force(&ran);
    assert!(said.len() == 1 && said[0].starts_with(missing), "{said:?}");
    assert!(said[0].contains(" What helps: "), "{said:?}");
    // What only reads runs all the same.
    assert!(ran.out.contains("5 total") && ran.out.contains("[redacted:"), "{}", ran.out);
    let ran = without(|| test_support::landlock().and_then(|()| test_support::container()));
    let nothing =
        "Not in force here: every part of a sandbox. No command runs; `eclusa doctor` says why.";
    let said = not_in_force(&ran);
    assert!(said.len() == 1 && said[0].starts_with(nothing), "{said:?}");
    assert!(said[0].contains(" What helps: "), "{said:?}");
    assert!(!ran.out.contains("5 total"), "{}", ran.out);
}

/// The demo's tools are in the demo and nowhere else.
#[test]
fn the_toys_are_in_the_demo_alone() {
    let world = World::new();
    for args in [&["tools", "list"][..], &["run", "echo", r#"{"text": "x"}"#]] {
        let output = world.command(args).env_remove("ECLUSA_EXAMPLE_TOOLS").output().unwrap();
        let out = String::from_utf8(output.stdout).unwrap();
        assert!(!out.lines().any(|it| it.starts_with("echo") || it == "x"), "{out}");
        assert_eq!(output.status.code(), Some(if args[0] == "tools" { 0 } else { 3 }), "{out}");
    }
    let mut command = world.command(&["demo"]);
    let ran = command.env_remove("ECLUSA_EXAMPLE_TOOLS").output().unwrap();
    assert!(String::from_utf8(ran.stdout).unwrap().contains("← hooray"));
}
