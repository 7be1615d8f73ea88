//! Tests of timestamp.

use super::*;

#[test]
fn days_that_calendars_get_wrong() {
    let table = [
        (0, "1970-01-01 00:00:00Z"),
        (951_782_400_000, "2000-02-29 00:00:00Z"),
        (1_709_251_199_999, "2024-02-29 23:59:59Z"),
        (4_107_542_400_000, "2100-03-01 00:00:00Z"),
    ];
    for (millis, text) in table {
        assert_eq!(Timestamp(millis).to_string(), text);
    }
}

#[test]
fn times_are_told_as_people_say_them() {
    let now = 1_709_251_199_999;
    let table = [
        (0, "just now"),
        (5, "5 s ago"),
        (150, "2 min ago"),
        (7_300, "2 h ago"),
        (200_000, "2 days ago"),
        (40 * 86_400, "2024-01-20"),
    ];
    for (seconds, text) in table {
        assert_eq!(Timestamp(now - seconds * 1_000).relative(now), text);
    }
    assert_eq!(Timestamp(now + 9_000).relative(now), "just now");
}
