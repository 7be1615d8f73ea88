//! Tests of programs and catastrophes: examples of the table, properties, and the public cases.

mod catastrophes;
mod corpus;
mod properties;
mod redteam;
mod split;
mod working_directory;

use crate::programs::{EXAMPLES, class_through, shapes};
use split::argv;

/// Every entry shows what it means, and is read as it says.
#[test]
fn every_example_of_the_table_is_read_as_it_says() {
    let mut wrong = Vec::new();
    for (entry, command, expected) in EXAMPLES {
        let class = class_through(&argv(command));
        if class != *expected {
            wrong.push(format!("{entry}: `{command}` is {class}, expected {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Flags are found by halving, by names that are places in one text.
#[test]
fn the_flags_of_every_program_have_names_and_are_in_order() {
    for shape in shapes() {
        let names: Vec<&str> = shape.flags.iter().map(|it| it.name).collect();
        let plain = |it: &&str| it.len() > 1 && it.starts_with(['-', '+']);
        assert!(names.iter().all(plain), "{:?}: {names:?}", shape.words);
        assert!(names.is_sorted_by(|a, b| a < b), "{:?}: {names:?}", shape.words);
    }
}
