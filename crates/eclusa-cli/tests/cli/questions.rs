//! Questions that are answered in part, interrupted or left alone: what is applied, and what is told.

use expectrl::{ControlCode, Expect as _};
use serde_json::json;

use crate::{
    prompt::Person,
    undo::statuses,
    world::{World, wait_until},
};

const THREE: &str = "for it in a b c; do echo $it > $it.txt; done; echo done";

#[test]
fn p_picks_files_and_the_model_is_told_which_were_discarded() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    world.write("workspace/b.txt", "old\n");
    let args = json!({"command": THREE}).to_string();
    let mut person = Person::runs(&world, &["run", "bash", &args]);
    person.sees("3 files changed");
    person.answers("p");
    person.sees("Apply `a.txt` (1 of 3)");
    person.answers("y");
    person.sees("- old");
    person.sees("Apply `b.txt` (2 of 3)");
    person.answers("what?");
    person.answers("n");
    person.sees("Apply `c.txt` (3 of 3)");
    person.answers("yes");
    person.sees("To be discarded: b.txt");
    person.sees("Apply 2 of 3 and discard the rest");
    person.answers("y");
    let (code, seen) = person.ends();
    assert_eq!(code, 0, "{seen}");
    let told = "applied in part: a person discarded the changes to `b.txt`";
    assert!(seen.contains(told) && seen.contains("done"), "{seen}");
    let read = |name: &str| world.read(&format!("workspace/{name}.txt"));
    assert_eq!([read("a"), read("b"), read("c")], ["a\n", "old\n", "c\n"]);
    let record = world.records().pop().unwrap();
    assert_eq!(record["code"], "ok");
    let changes = &record["changes"];
    assert_eq!(changes["paths"], json!(["a.txt", "c.txt"]));
    assert_eq!(changes["declined"], json!(["b.txt"]));
    assert_eq!((&changes["approval"]["answer"], &changes["count"]), (&"only".into(), &2.into()));
    let shown = world.eclusa(&["log", "show", "1"]).out;
    assert!(shown.contains("discarded by a person: b.txt"), "{shown}");
    // What was applied is undone like anything else.
    assert_eq!(world.eclusa(&["undo"]).code, 0);
    assert_eq!([read("a"), read("b"), read("c")], ["", "old\n", ""]);
}

#[test]
fn picking_nothing_is_a_no_picking_all_is_a_yes_and_q_goes_back() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let run = ["exec", "--", "echo a > a.txt; echo b > b.txt"];
    let mut person = Person::runs(&world, &run);
    // What was said before `q` is kept.
    for answer in ["p", "n", "q", "p", "n"] {
        person.answers(answer);
    }
    person.sees("Why?");
    person.types("neither");
    let (code, seen) = person.ends();
    assert!(code == 0 && seen.contains("nothing was changed"), "{code} {seen}");
    assert!(!world.path("workspace/a.txt").exists());
    let mut person = Person::runs(&world, &run);
    for answer in ["p", "y", "y"] {
        person.answers(answer);
    }
    let (code, seen) = person.ends();
    assert_eq!(code, 0, "{seen}");
    assert_eq!(world.read("workspace/a.txt") + &world.read("workspace/b.txt"), "a\nb\n");
    // One file alone is not picked apart.
    let mut person = Person::runs(&world, &["exec", "--", "echo c > c.txt"]);
    person.sees("Apply these changes? [y/n/s/A/q/?]");
    person.types("q");
    assert_eq!(person.ends().0, 130);
}

#[test]
fn ctrl_c_at_a_question_applies_nothing_and_says_so() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let mut person = Person::runs(&world, &["exec", "--", "echo ran; echo x > a.txt"]);
    person.sees("Apply these changes? [");
    person.session.send(ControlCode::EndOfText).unwrap();
    let (code, seen) = person.ends();
    assert_eq!(code, 130, "{seen}");
    assert!(seen.contains("nothing was applied"), "{seen}");
    assert!(!world.path("workspace/a.txt").exists());
    assert_eq!(world.records().last().unwrap()["changes"]["outcome"], "discarded");
}

#[test]
fn a_terminal_that_goes_away_at_a_question_applies_nothing_and_that_is_on_record() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let mut person = Person::runs(&world, &["exec", "--", "echo ran; echo x > a.txt"]);
    person.sees("Apply these changes? [");
    drop(person);
    wait_until("the call has ended", || {
        world.records().last().is_some_and(|it| it["event"] == "ended")
    });
    let record = world.records().pop().unwrap();
    assert_eq!(record["code"], "changes_discarded");
    assert_eq!(record["changes"]["outcome"], "discarded");
    assert!(!world.path("workspace/a.txt").exists());
    let listed = world.eclusa(&["changes", "--discarded"]).out;
    assert!(listed.contains("a.txt"), "{listed}");
}

#[test]
fn what_takes_long_says_what_is_waited_for_and_leaves_no_trace() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let args = json!({"command": "sleep 2.5; echo ended"}).to_string();
    let mut person = Person::runs(&world, &["run", "bash", &args]);
    person.sees("bash (");
    let (code, seen) = person.ends();
    assert_eq!(code, 0, "{seen}");
    let last = seen.lines().last().unwrap_or_default();
    assert!(last.ends_with("\rended"), "{seen:?}");
}

/// Shows U.
#[test]
fn what_cannot_be_undone_blocks_no_other_undo() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    for name in ["a", "b", "c"] {
        let command = format!("echo {name} > {name}.txt");
        assert_eq!(world.eclusa(&["exec", "--apply", "--", &command]).code, 0);
    }
    let calls: Vec<u64> = statuses(&world).into_iter().map(|it| it.0).collect();
    world.write("workspace/c.txt", "mine now\n");
    // The latest cannot be undone: that is said, and the one before it is undone by its number.
    let ran = world.eclusa(&["undo"]);
    let passed = format!("call {} cannot be undone: `c.txt` was altered", calls[2]);
    assert!(ran.code == 1 && ran.err.contains(&passed), "{ran:?}");
    let ran = world.eclusa(&["undo", &calls[1].to_string()]);
    assert!(ran.code == 0 && ran.out.contains("b.txt"), "{ran:?}");
    assert!(!world.path("workspace/b.txt").exists() && world.path("workspace/a.txt").exists());
    // All since the first: the rest.
    assert_eq!(world.eclusa(&["redo"]).code, 0);
    let ran = world.eclusa(&["--json", "undo", "--since", &calls[0].to_string()]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(ran.json()["data"]["irreversible"][0]["call"], calls[2], "{ran:?}");
    assert!(!world.path("workspace/a.txt").exists() && !world.path("workspace/b.txt").exists());
    assert_eq!(world.read("workspace/c.txt"), "mine now\n");
    // Nothing is left that can be undone: the reason is told.
    let ran = world.eclusa(&["undo"]);
    assert!(ran.code == 1 && ran.err.contains("`c.txt` was altered"), "{ran:?}");
}
