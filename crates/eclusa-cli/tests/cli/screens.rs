//! Screens at 80 and at 120 columns: what a person sees fits the terminal.

use regex::Regex;

use crate::{prompt::Person, world::World};

const SIZES: [u16; 2] = [80, 120];

/// A world with two calls in its log: one that was applied, and one that nobody could be asked about.
fn with_calls() -> World {
    let world = World::new();
    world.write("workspace/main.go", "\tprintln(1)\n");
    let edit = "sed -i 's/println(1)/println(20)/' main.go; mkdir -p build; echo o > build/a.o";
    let ran = world.eclusa(&["exec", "--apply", "--", edit]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let long = "echo a line that is much longer than a terminal is wide, so that it has to be cut \
                somewhere or be broken > notes.txt";
    assert_eq!(world.eclusa(&["exec", "--", long]).code, 3);
    world
}

/// What is on the screen at the end, without colours and without what differs from run to run.
fn seen(world: &World, args: &[&str], columns: u16) -> String {
    let mut command = world.command(args);
    command.env("NO_COLOR", "1");
    let (code, seen) = Person::sized(command, columns, 40).ends();
    assert_eq!(code, 0, "{args:?}: {seen}");
    plain(world, &seen)
}

fn plain(world: &World, seen: &str) -> String {
    // A line that was written over is not seen.
    let lines =
        seen.lines().map(|it| it.rsplit('\r').find(|it| !it.is_empty()).unwrap_or_default());
    let text = lines.collect::<Vec<_>>().join("\n");
    let times = Regex::new(r"just now|\d+ (s|min|h) ago").unwrap();
    world.plain(&times.replace_all(&text, "<when>")).trim_end().to_owned()
}

/// Lines of ours that are wider than the screen. A path or a hash is broken nowhere.
fn too_wide(text: &str, columns: u16) -> Vec<&str> {
    let is_wide = |it: &&str| it.chars().count() > usize::from(columns);
    text.lines().filter(is_wide).filter(|it| it.split_whitespace().count() > 1).collect()
}

#[test]
fn lists_and_pages_fit_the_terminal() {
    let world = with_calls();
    for columns in SIZES {
        for args in [
            &["log"][..],
            &["changes"],
            &["changes", "--discarded"],
            &["changes", "show"],
            &["config", "show"],
            &["tools"],
            &["log", "stats"],
        ] {
            let seen = seen(&world, args, columns);
            assert!(!seen.is_empty(), "{args:?}");
            let wide = too_wide(&seen, columns);
            assert!(wide.is_empty(), "{args:?} at {columns}: {wide:#?}");
        }
    }
}

#[test]
fn what_a_call_did_is_seen_with_what_git_ignores_in_a_line() {
    let world = with_calls();
    for columns in SIZES {
        let shown = seen(&world, &["changes", "show", "1"], columns);
        for line in ["* build/", "altered main.go, +1 -1", "- →   println(1)", "+ →   println(20)"]
        {
            assert!(shown.contains(line), "`{line}` is not in {shown}");
        }
        assert!(!shown.contains("a.o, mode"), "{shown}");
        let all = seen(&world, &["changes", "show", "1", "--all"], columns);
        assert!(all.contains("made build/a.o, mode"), "{all}");
    }
    let logged = world.eclusa(&["log", "show", "1"]).out;
    let applied = "applied: build/: 2 paths (ignored by git), main.go";
    assert!(logged.contains(applied), "{logged}");
}

#[test]
fn a_question_is_seen_whole_at_both_widths() {
    let world = with_calls();
    for columns in SIZES {
        let edit = "sed -i 's/println(20)/println(3)/' main.go";
        let mut command = world.command(&["exec", "--", edit]);
        command.env("NO_COLOR", "1");
        let mut person = Person::sized(command, columns, 40);
        person.sees("Apply these changes? [");
        let asked = plain(&world, &person.seen);
        person.types("q");
        assert_eq!(person.ends().0, 130);
        for line in [
            "it ran; not applied yet: 1 file changed, +1 -1",
            "│ altered main.go, +1 -1",
            "│ - →   println(20)",
            "│ + →   println(3)",
            "its changes are reviewed before they are applied",
        ] {
            assert!(asked.contains(line), "`{line}` is not in {asked}");
        }
        let wide = too_wide(&asked, columns);
        assert!(wide.is_empty() && asked.lines().count() < 40, "at {columns}: {wide:#?}");
    }
}
