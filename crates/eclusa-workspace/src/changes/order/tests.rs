//! `a2` stands before `a10`, and a directory before what is in it.

use std::path::Path;

use super::natural;

#[test]
fn numbers_count_and_directories_stand_before_what_is_in_them() {
    let mut paths = ["f10", "f2", "f1", "d/x", "d", "d10/a", "d9/b", "f02", "e", ""];
    paths.sort_by(|a, b| natural(Path::new(a), Path::new(b)));
    assert_eq!(paths, ["", "d", "d/x", "d9/b", "d10/a", "e", "f1", "f02", "f2", "f10"]);
}
