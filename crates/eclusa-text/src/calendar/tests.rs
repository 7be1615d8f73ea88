//! Every day of three hundred years, many of the others, and what no calendar has.

use proptest::prelude::*;

use super::{Date, UtcTime};

/// The three calendars that this one replaces, as they were.
mod before {
    pub(super) fn of_terminal(days: u64) -> (u64, u64, u64) {
        let days = days + 719_468;
        let (era, day_of_era) = (days / 146_097, days % 146_097);
        let year_of_era =
            (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * shifted + 2) / 5 + 1;
        let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
        let year = year_of_era + era * 400 + u64::from(month <= 2);
        (year, month, day)
    }

    pub(super) fn of_chat(days: i64) -> (i64, i64, i64) {
        let z = days + 719_468;
        let era = z.div_euclid(146_097);
        let doe = z.rem_euclid(146_097);
        let yoe = (doe - doe / 1_460 + doe / 36_524 - doe / 146_096) / 365;
        let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
        let mp = (5 * doy + 2) / 153;
        let day = doy - (153 * mp + 2) / 5 + 1;
        let month = if mp < 10 { mp + 3 } else { mp - 9 };
        (yoe + era * 400 + i64::from(month <= 2), month, day)
    }

    pub(super) fn days_of_chat(year: i64, month: i64, day: i64) -> i64 {
        let year = year - i64::from(month <= 2);
        let era = year.div_euclid(400);
        let yoe = year.rem_euclid(400);
        let mp = if month > 2 { month - 3 } else { month + 9 };
        let doy = (153 * mp + 2) / 5 + day - 1;
        let doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
        era * 146_097 + doe - 719_468
    }

    pub(super) fn days_of_rules(year: i64, month: i64, day: i64) -> i64 {
        let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
        let leap = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
        let of_year = (153 * month + 2) / 5 + day - 1;
        year * 365 + leap + of_year - 719_468
    }
}

#[test]
fn every_day_is_what_the_three_calendars_before_said() {
    // Every day from 1900 to 2200, then some of every month until 9999.
    for days in (-25_567..84_006_i64).chain((84_006..2_932_897).step_by(13)) {
        let date = Date::after_1970(days);
        let wide = (date.year, i64::from(date.month), i64::from(date.day));
        assert_eq!(wide, before::of_chat(days));
        assert_eq!(date.days(), Some(days));
        assert_eq!(days, before::days_of_chat(wide.0, wide.1, wide.2));
        assert_eq!(days, before::days_of_rules(wide.0, wide.1, wide.2));
        if let Ok(days) = u64::try_from(days) {
            let (year, month, day) = before::of_terminal(days);
            let old = format!("{year:04}-{month:02}-{day:02}");
            assert_eq!(date.to_string(), old);
        }
    }
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
