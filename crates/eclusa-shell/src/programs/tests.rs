//! Tests of the table of programs: its examples, properties of reading, and the public cases.

mod catastrophes;
mod corpus;
mod properties;
mod split;

use super::*;
use split::argv;

/// Every entry shows what it means, and is read as it says.
#[test]
fn every_example_of_the_table_is_read_as_it_says() {
    let mut wrong = Vec::new();
    for (entry, command, expected) in table::EXAMPLES {
        let class = class_through(&argv(command));
        if class != *expected {
            wrong.push(format!("{entry}: `{command}` is {class}, expected {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
