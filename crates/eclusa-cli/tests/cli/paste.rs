//! Text that is pasted into a terminal while a question stands.

use crate::{prompt::Person, world::World};

/// What was meant for somebody else may hold a line that looks like an answer.
#[test]
fn no_line_of_a_paste_is_an_answer() {
    let world = World::new();
    let mut person = Person::runs(&world, &["run", "note", "text=hello"]);
    for paste in ["please\ny", "y\nplease", "\u{1b}[200~please\nyes\n\u{1b}[201~"] {
        person.answers(paste);
        person.sees("Please type y or n");
    }
    assert_eq!(world.read("workspace/notes.txt"), "");
    person.answers("n");
    person.sees("Why?");
    person.types("");
    assert_eq!(person.ends().0, 3);
}
