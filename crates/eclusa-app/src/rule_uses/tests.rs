//! Tests of rule uses.

use std::time::Duration;

use super::*;

#[test]
fn uses_are_counted_across_programs() {
    let dir = tempfile::tempdir().unwrap();
    let uses = || RuleUses(dir.path().join("new/uses"));
    let rule = |id: &str, times, per| CountedRule { id: id.to_owned(), times, per };
    let (a, b) = (rule("a", 2, None), rule("b", 1, None));
    assert_eq!(uses().used(&a, 0), Ok(0));
    let taken: Vec<bool> = (0..3).map(|_| uses().take(&a, 0).unwrap()).collect();
    assert_eq!(taken, [true, true, false]);
    assert_eq!(uses().take(&b, 0), Ok(true));
    assert_eq!((uses().used(&a, 9), uses().used(&b, 9)), (Ok(2), Ok(1)));
    // Those of the last while, which leave the count again.
    let hourly = rule("hourly", 2, Some(Duration::from_secs(3600)));
    let at = |minute: u64| 1_800_000_000_000 + minute * 60_000;
    let taken = [0, 30, 40, 61, 62].map(|it| uses().take(&hourly, at(it)).unwrap());
    assert_eq!(taken, [true, true, false, true, false]);
    assert_eq!(uses().used(&hourly, at(200)), Ok(0));
    assert_eq!(uses().take(&hourly, at(200)), Ok(true));
    assert_eq!(uses().used(&a, 9), Ok(2), "a shorter text leaves nothing of the longer one");
    // The first version wrote numbers.
    let old = || File::create(dir.path().join("new/uses")).unwrap();
    old().write_all(br#"{"a":1}"#).unwrap();
    assert_eq!((uses().used(&a, 0), uses().take(&a, 0)), (Ok(1), Ok(true)));
    File::create(dir.path().join("new/uses")).unwrap().write_all(b"not json").unwrap();
    assert!(uses().used(&a, 0).is_err() && uses().take(&a, 0).is_err());
}
