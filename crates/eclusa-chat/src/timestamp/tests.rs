//! Times are written as everybody writes them, and read back.

use super::{date, from_iso, iso};

#[test]
fn times_are_written_and_read_back() {
    assert_eq!(iso(0), "1970-01-01T00:00:00.000Z");
    assert_eq!(iso(1_763_234_740_123), "2025-11-15T19:25:40.123Z");
    assert_eq!(date(951_782_400_000), "2000-02-29");
    for ms in [0, 1, 951_782_400_000, 1_763_234_740_123, 4_102_444_799_999] {
        assert_eq!(from_iso(&iso(ms)), Some(ms), "{ms}");
    }
    assert_eq!(from_iso("2025-11-15T19:25:40Z"), Some(1_763_234_740_000));
    assert_eq!(from_iso("2025-11-15T19:25:40.5Z"), Some(1_763_234_740_500));
    for wrong in ["", "2025-11-15", "yesterday", "2025-11-15T19:25Z", "a-b-cTd:e:fZ"] {
        assert_eq!(from_iso(wrong), None, "{wrong}");
    }
}

#[test]
fn times_that_no_clock_shows_are_none() {
    for wrong in [
        "2025-02-31T00:00:00Z",
        "2025-13-01T00:00:00Z",
        "2025-11-15T24:00:00Z",
        "2025-11-15T19:25:60Z",
        "2025-11-15T9999999999999999999:00:00Z",
        "9223372036854775807-01-01T00:00:00Z",
        "1969-12-31T23:59:59Z",
    ] {
        assert_eq!(from_iso(wrong), None, "{wrong}");
    }
}
