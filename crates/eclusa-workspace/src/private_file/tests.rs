//! Tests of private files.

use std::os::unix::fs::PermissionsExt as _;

use super::*;

fn names(directory: &Path) -> Vec<String> {
    let mut all: Vec<String> = fs::read_dir(directory)
        .unwrap()
        .map(|it| it.unwrap().file_name().into_string().unwrap())
        .collect();
    all.sort();
    all
}

#[test]
fn a_file_is_private_and_replaced_as_a_whole() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("a");
    for (text, survives) in [("one", Durability::PowerLoss), ("2", Durability::Crash)] {
        write(&file, text, survives).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    }
    assert_eq!(names(place.path()), ["a"]);
}

/// What goes wrong before the file is whole leaves the old one, and nothing besides.
#[test]
fn whoever_fails_leaves_what_was_there() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("a");
    write(&file, "old", Durability::Crash).unwrap();
    let seen = |_: &File| {
        assert_eq!(fs::read_to_string(&file).unwrap(), "old");
        assert!(names(place.path()).iter().any(|it| is_part(Path::new(it))));
        Err(io::Error::other("no"))
    };
    assert!(write_with(&file, "new", Durability::Crash, seen).is_err());
    assert_eq!(fs::read_to_string(&file).unwrap(), "old");
    assert_eq!(names(place.path()), ["a"]);
}

#[test]
fn what_is_there_is_not_created_again() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("key");
    create(&file, "first", Durability::PowerLoss).unwrap();
    let again = create(&file, "second", Durability::PowerLoss).unwrap_err();
    assert_eq!(again.kind(), io::ErrorKind::AlreadyExists);
    assert_eq!(fs::read_to_string(&file).unwrap(), "first");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(names(place.path()), ["key"]);
}

#[test]
fn a_part_that_a_process_of_this_number_left_is_in_nobodys_way() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("a");
    let left = PartialFile::make(&file).unwrap();
    std::mem::forget(left);
    write(&file, "new", Durability::Crash).unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "new");
    assert_eq!(names(place.path()).len(), 2);
}
