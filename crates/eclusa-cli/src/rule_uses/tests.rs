//! Tests of rule uses.

use super::*;

#[test]
fn uses_are_counted_across_programs() {
    let dir = tempfile::tempdir().unwrap();
    let uses = || RuleUses(dir.path().join("new/uses"));
    assert_eq!(uses().used("a"), Ok(0));
    let taken: Vec<bool> = (0..3).map(|_| uses().take("a", 2).unwrap()).collect();
    assert_eq!(taken, [true, true, false]);
    assert_eq!(uses().take("b", 1), Ok(true));
    assert_eq!((uses().used("a"), uses().used("b")), (Ok(2), Ok(1)));
    File::create(dir.path().join("new/uses")).unwrap().write_all(b"not json").unwrap();
    assert!(uses().used("a").is_err() && uses().take("a", 9).is_err());
}
