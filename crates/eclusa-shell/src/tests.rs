//! Tests of programs and catastrophes: examples of the table, properties, and the public cases.

mod catastrophes;
mod corpus;
mod properties;
mod split;
mod working_directory;

use crate::programs::{EXAMPLES, class_through};
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
