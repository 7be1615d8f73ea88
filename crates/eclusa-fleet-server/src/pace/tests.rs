//! So many a second, and so many at once.

use std::time::{Duration, Instant};

use super::Pace;

#[test]
fn each_machine_has_its_own_pace() {
    let (pace, begin) = (Pace::new(5, 10), Instant::now());
    let at = |millis| begin + Duration::from_millis(millis);
    assert!(pace.allows(1, 10, at(0)) && !pace.allows(1, 1, at(0)), "ten at once");
    assert!(pace.allows(2, 1, at(0)), "another is not held up");
    assert!(!pace.allows(1, 1, at(199)) && pace.allows(1, 1, at(200)), "then five a second");
    assert!(!pace.allows(1, 11, at(60_000)), "never more at once");
    assert!(pace.allows(1, 10, at(60_000)) && !pace.allows(1, 1, at(60_000)));
}
