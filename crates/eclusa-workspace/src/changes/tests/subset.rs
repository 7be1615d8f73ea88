//! Picking some of the changes: what they need comes along, and nothing else.

use std::{collections::BTreeSet, path::PathBuf};

use super::{change, directory, file, link, moved};
use crate::Changes;

fn only(changes: &Changes, picked: &[&str]) -> Vec<String> {
    let picked: BTreeSet<PathBuf> = picked.iter().map(PathBuf::from).collect();
    changes.only(&picked).iter().map(|it| it.path.display().to_string()).collect()
}

fn choices(changes: &Changes) -> Vec<String> {
    changes.choices().iter().map(|it| it.display().to_string()).collect()
}

#[test]
fn a_directory_comes_with_what_is_in_it_and_goes_with_all_of_it() {
    let changes = Changes::of([
        change("a.txt", file("1", 0o644), file("2", 0o644)),
        change("new", None, directory()),
        change("new/deep", None, directory()),
        change("new/deep/x", None, file("x", 0o644)),
        change("new/y", None, file("y", 0o644)),
        change("old", directory(), None),
        change("old/1", file("1", 0o644), None),
        change("old/2", file("2", 0o644), None),
        change("empty", None, directory()),
    ]);
    assert_eq!(choices(&changes), ["a.txt", "empty", "new/deep/x", "new/y", "old/1", "old/2"]);
    assert_eq!(only(&changes, &["a.txt"]), ["a.txt"]);
    assert_eq!(only(&changes, &["new/deep/x"]), ["new", "new/deep", "new/deep/x"]);
    assert_eq!(only(&changes, &["new/y", "old/1"]), ["new", "new/y", "old/1"]);
    assert_eq!(only(&changes, &["old/1", "old/2"]), ["old", "old/1", "old/2"]);
    assert_eq!(only(&changes, &[]), Vec::<String>::new());
    let all = choices(&changes);
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    assert_eq!(only(&changes, &all).len(), changes.len());
}

#[test]
fn a_move_is_one_choice_and_leaves_its_old_place() {
    let mut both: Vec<_> = moved("from/a", "to/a", file("a", 0o644), file("a", 0o644)).into();
    both.extend([change("to", None, directory()), change("from", directory(), None)]);
    both.push(change("from/b", file("b", 0o644), None));
    let changes = Changes::of(both);
    assert_eq!(choices(&changes), ["from/b", "to/a"]);
    assert_eq!(only(&changes, &["to/a"]), ["from/a", "to", "to/a"]);
    assert_eq!(only(&changes, &["to/a", "from/b"]).len(), changes.len());
    assert_eq!(only(&changes, &["from/b"]), ["from/b"]);
}

#[test]
fn what_becomes_another_kind_of_thing_cannot_be_picked_apart() {
    let changes = Changes::of([
        change("a", file("a", 0o644), link("b")),
        change("b", None, file("b", 0o644)),
    ]);
    assert!(choices(&changes).is_empty());
}
