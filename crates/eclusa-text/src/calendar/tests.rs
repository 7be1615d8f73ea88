//! Every day of three hundred years, and what no calendar has.

use proptest::prelude::*;

use super::{Date, UtcTime};

#[test]
fn every_day_follows_the_one_before() {
    // Every day from 1900 to 2200.
    for days in -25_567..84_006_i64 {
        let (today, tomorrow) = (Date::after_1970(days), Date::after_1970(days + 1));
        assert_eq!(today.days(), Some(days), "{today}");
        let next = [
            Date { day: today.day + 1, ..today },
            Date { month: today.month + 1, day: 1, ..today },
            Date { year: today.year + 1, month: 1, day: 1 },
        ];
        let next = next.into_iter().find(|it| it.days().is_some());
        assert_eq!(next, Some(tomorrow), "{today}");
    }
    assert_eq!(Date::after_1970(-25_567).to_string(), "1900-01-01");
    assert_eq!(Date::after_1970(84_005).to_string(), "2199-12-31");
    assert_eq!(Date::after_1970(2_932_896).to_string(), "9999-12-31");
}

#[test]
fn dates_that_no_calendar_has_have_no_day() {
    for (year, month, day) in [
        (2026, 2, 29),
        (2100, 2, 29),
        (2024, 2, 30),
        (2026, 4, 31),
        (2026, 0, 1),
        (2026, 13, 1),
        (2026, 1, 0),
        (2026, 1, 32),
        (i64::MAX, 1, 1),
        (i64::MIN, 1, 1),
    ] {
        assert_eq!(Date { year, month, day }.days(), None, "{year}-{month}-{day}");
    }
    assert_eq!(Date { year: 2024, month: 2, day: 29 }.days(), Some(19_782));
    let noon = UtcTime { hour: 12, ..UtcTime::after_1970(0) };
    assert_eq!(noon.millis(), Some(43_200_000));
    assert_eq!(UtcTime { hour: 24, ..noon }.millis(), None);
    assert_eq!(UtcTime { minute: 60, ..noon }.millis(), None);
    assert_eq!(UtcTime { second: 60, ..noon }.millis(), None);
    assert_eq!(UtcTime { milli: 1_000, ..noon }.millis(), None);
    assert_eq!(UtcTime { date: Date::after_1970(-1), ..noon }.millis(), None);
}

proptest! {
    /// Whatever a clock says is written and read back.
    #[test]
    fn every_count_of_milliseconds_comes_back(millis in any::<u64>()) {
        prop_assert_eq!(UtcTime::after_1970(millis).millis(), Some(millis));
    }
}
