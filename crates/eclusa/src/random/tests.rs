//! Random names: as long as they should be, and each another.

use std::collections::HashSet;

use super::random_name;

#[test]
fn names_are_digits_and_never_the_same() {
    let names: HashSet<String> = (0..1_000).map(|_| random_name::<12>().unwrap()).collect();
    assert_eq!(names.len(), 1_000);
    assert!(names.iter().all(|it| it.len() == 24 && it.bytes().all(|it| it.is_ascii_hexdigit())));
}
