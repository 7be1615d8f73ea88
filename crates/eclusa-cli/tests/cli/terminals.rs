//! Terminals as people have them: narrow and wide, pulled to another size while they are asked, without colours, and a
//! pipe whose reader has left.

use std::{
    io::{BufRead, BufReader},
    process::Stdio,
};

use crate::{prompt::Person, world::World};

/// An edit of a file of so many lines, that must be asked about.
fn world(lines: usize) -> World {
    let world = World::new();
    let text: String = (0..lines).map(|it| format!("the line {it} of the file\n")).collect();
    world.write("workspace/a.txt", &text);
    world
}

const EDIT: [&str; 3] = ["exec", "--", "sed -i s/line/row/ a.txt"];

/// The lines on the screen, without colours.
fn lines(seen: &str) -> Vec<String> {
    let codes =
        regex::Regex::new(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07\x1b]*(\x07|\x1b\\)").unwrap();
    let seen = codes.replace_all(seen, "");
    seen.lines()
        .map(|it| it.rsplit('\r').find(|it| !it.is_empty()).unwrap_or("").to_owned())
        .collect()
}

#[test]
fn a_question_fits_terminals_of_20_to_400_columns() {
    eclusa_testing::needs!(Namespaces);
    for columns in [20, 30, 60, 400] {
        let world = world(3);
        let mut command = world.command(&EDIT);
        command.env("TERM", "dumb");
        let mut person = Person::sized(command, columns, 40);
        person.sees("/q/?]");
        let asked = lines(&person.seen);
        person.types("y");
        let (code, seen) = person.ends();
        assert_eq!(code, 0, "{seen}");
        assert!(!seen.contains("\x1b["), "TERM=dumb gets no codes: {seen:?}");
        for line in &asked {
            let width = line.chars().count();
            assert!(width <= usize::from(columns), "{width} at {columns}: {line:?}");
        }
        // No word of ours is broken, and what is changed is there to its end.
        assert!(asked.iter().any(|it| it.starts_with("it ran;")), "{seen}");
        assert!(world.read("workspace/a.txt").contains("the row 2"));
    }
}

#[test]
fn a_terminal_that_is_resized_while_it_asks_is_asked_again_in_its_new_size() {
    eclusa_testing::needs!(Namespaces);
    let world = world(200);
    let mut person = Person::sized(world.command(&EDIT), 100, 30);
    person.sees("more lines of changes");
    person.sees("? [");
    person.session.get_process_mut().set_window_size(60, 50).unwrap();
    person.sees("it ran; not applied yet");
    person.sees("more lines of changes");
    person.answers("y");
    let (code, seen) = person.ends();
    assert_eq!(code, 0, "{seen}");
    assert!(world.read("workspace/a.txt").contains("the row 199"));
}

#[test]
fn a_question_about_5000_lines_fits_the_screen_and_numbers_them() {
    eclusa_testing::needs!(Namespaces);
    let world = world(5_000);
    let mut person = Person::sized(world.command(&EDIT), 80, 24);
    person.sees("? [");
    let shown = lines(&person.seen);
    assert!(shown.len() <= 30, "{shown:#?}");
    assert!(shown.iter().any(|it| it.starts_with("   1      │ - the line 0")), "{shown:#?}");
    assert!(
        shown.iter().any(|it| it.contains("more lines of changes (`d` shows all)")),
        "{shown:#?}"
    );
    person.types("n");
    person.sees("Why?");
    person.types("");
    person.sees("nothing was changed");
    person.ends();
    assert!(world.read("workspace/a.txt").contains("the line 4999"));
}

#[test]
fn a_pipe_whose_reader_has_left_ends_the_program_in_silence() {
    let world = World::new();
    // More than a pipe holds.
    let mut command = world.command(&["completions", "bash"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = String::new();
    BufReader::with_capacity(1, child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    let ended = child.wait_with_output().unwrap();
    assert!(first.contains("eclusa"), "{first}");
    assert_eq!(String::from_utf8_lossy(&ended.stderr), "");
    assert_ne!(ended.status.code(), Some(0), "all of it fits into the pipe: {ended:?}");
}
