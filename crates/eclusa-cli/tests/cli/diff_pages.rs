//! Diffs as people read them: natural order, line numbers, folding, picking that loses nothing, and the exit code beside.

use serde_json::json;

use crate::{http_reviewer::Server, prompt::Person, world::World};

fn files(world: &World, count: usize) {
    for number in 1..=count {
        world.write(&format!("workspace/f{number}.txt"), "one\n");
    }
}

const EACH: &str = "for it in f*.txt; do echo two >> $it; done";

#[test]
fn a_pick_takes_the_rest_and_q_keeps_what_was_said() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    files(&world, 11);
    let mut person = Person::runs(&world, &["exec", "--", EACH]);
    person.sees("Apply these changes? [");
    person.types("p");
    person.sees("Apply `f1.txt` (1 of 11)?");
    person.types("n");
    // Numbers count: 10 comes last, not second.
    person.sees("Apply `f2.txt` (2 of 11)?");
    person.types("q");
    person.sees("Kept your answers for 1 file; `p` continues at `f2.txt`");
    person.sees("Apply these changes? [");
    person.types("p");
    person.sees("Apply `f2.txt` (2 of 11)?");
    person.types("?");
    person.sees("a: this file and all the rest");
    person.types("y");
    person.sees("Apply `f3.txt` (3 of 11)?");
    person.types("a");
    person.sees("To be discarded: f1.txt");
    person.sees("Apply 10 of 11 and discard the rest?");
    person.types("y");
    let (code, seen) = person.ends();
    assert_eq!(code, 0, "{seen}");
    assert_eq!(world.read("workspace/f1.txt"), "one\n");
    assert_eq!(world.read("workspace/f11.txt"), "one\ntwo\n");
}

#[test]
fn d_in_picking_leaves_the_rest_out() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    files(&world, 4);
    let mut person = Person::runs(&world, &["exec", "--", EACH]);
    person.sees("Apply these changes? [");
    person.types("p");
    person.sees("Apply `f1.txt` (1 of 4)?");
    person.types("y");
    person.sees("Apply `f2.txt` (2 of 4)?");
    person.types("d");
    person.sees("To be discarded: f2.txt, f3.txt, f4.txt");
    person.types("y");
    assert_eq!(person.ends().0, 0);
    assert_eq!(world.read("workspace/f1.txt"), "one\ntwo\n");
    assert_eq!(world.read("workspace/f4.txt"), "one\n");
}

#[test]
fn whoever_is_asked_knows_that_the_command_failed() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let mut person = Person::runs(&world, &["exec", "--", "echo half > a.txt; exit 2"]);
    person.sees("it failed: exit code 2");
    person.answers("q");
    person.ends();
    world.eclusa(&["run", "--park", "bash", "echo half > a.txt; exit 2"]);
    let shown = world.eclusa(&["approvals", "show", "1"]).out;
    assert!(shown.contains("it failed: exit code 2"), "{shown}");
}

#[test]
fn very_many_files_are_folded_and_stand_in_natural_order() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    files(&world, 60);
    let ran = world.eclusa(&["exec", "--apply", "--", EACH]);
    assert!(ran.code == 0 && ran.err.contains("60 files changed"), "{ran:?}");
    let lines: Vec<&str> = ran.err.lines().collect();
    assert!(lines.len() < 30 && lines[10].starts_with("altered f10.txt"), "{lines:?}");
    assert!(ran.err.contains("and 40 more"), "{ran:?}");
    let shown = world.eclusa(&["changes", "show"]).out;
    assert!(shown.lines().count() < 30 && shown.contains("and 40 more"), "{shown}");
    let whole = world.eclusa(&["changes", "show", "--all"]).out;
    assert!(whole.lines().count() > 180, "{whole}");
    assert!(world.eclusa(&["changes", "diff"]).out.contains("+++ b/f60.txt"));
    let undone = world.eclusa(&["undo"]);
    assert!(undone.out.lines().count() < 30 && undone.out.contains("… and 40 more"), "{undone:?}");
    assert_eq!(world.read("workspace/f60.txt"), "one\n");
}

#[test]
fn a_terminal_gets_line_numbers_and_a_pipe_does_not() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    world.write("workspace/a.txt", "one\ntwo\n");
    let args = ["exec", "--apply", "--", "echo three >> a.txt"];
    let coloured = world.eclusa(&[&["--color", "always"], &args[..]].concat());
    assert!(!coloured.err.contains('│'), "no terminal, no width: {coloured:?}");
    let person = Person::sized(world.command(&["changes", "show"]), 80, 24);
    let (_, seen) = person.ends();
    assert!(seen.contains(" 3 │") && seen.contains("────"), "{seen}");
    let wide = Person::sized(world.command(&["changes", "show"]), 200, 24);
    let (_, seen) = wide.ends();
    assert!(seen.lines().any(|it| it.matches("two").count() == 2), "{seen}");
    let narrow = Person::sized(world.command(&["changes", "show"]), 20, 24);
    assert!(narrow.ends().1.contains("three"));
}

#[test]
fn a_test_is_sent_to_every_notification_and_told() {
    let server = Server::json("");
    let config = format!(
        "[[notifications]]\nname = \"desk\"\nurl = {:?}\n[[notifications]]\nname = \"away\"\ncommand = [\"false\"]\n",
        server.url
    );
    let world = World::with(&config);
    let ran = world.eclusa(&["approvals", "notify-test"]);
    assert!(ran.code == 1 && ran.out.contains("desk: sent\n"), "{ran:?}");
    assert!(ran.out.contains("away: not sent:"), "{ran:?}");
    assert!(ran.err.contains("opens on this machine only"), "{ran:?}");
    let (_, body) = server.heard.recv_timeout(std::time::Duration::from_secs(60)).unwrap();
    let event: serde_json::Value = serde_json::from_str(&body).unwrap();
    assert_eq!(event["type"], json!("approval.test"));
    let none = World::new().eclusa(&["approvals", "notify-test"]);
    assert!(none.code == 2 && none.err.contains("no notification is configured"), "{none:?}");
}

/// A phone reads the link from the screen; where no phone could open it there is none.
#[test]
fn a_link_that_a_phone_can_open_has_a_code_on_a_terminal() {
    let world = World::new();
    let pair = |args: &[&str]| {
        let mut command = world.command(&[&["people", "pair"], args].concat());
        command.env("CLICOLOR_FORCE", "1");
        crate::world::run(command, "").out
    };
    assert!(pair(&["--url", "https://desk.example"]).contains("▄"));
    assert!(!pair(&[]).contains("▄"));
    let plain = world.eclusa(&["people", "pair", "--url", "https://desk.example"]).out;
    assert!(plain.contains("/pair#") && !plain.contains("▄"), "{plain}");
}
