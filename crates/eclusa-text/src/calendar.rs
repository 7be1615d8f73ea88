//! Dates of the Gregorian calendar and times of day in UTC, from the count since 1970 and back.

use std::fmt;

/// A date. One that no calendar has can be written here, and has no [`Date::days`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date {
    /// The year.
    pub year: i64,
    /// The month, from 1.
    pub month: u8,
    /// The day of the month, from 1.
    pub day: u8,
}

impl Date {
    /// The date so many days after 1970-01-01, for whatever a count of milliseconds can hold.
    ///
    /// It counts in eras of 400 years that begin in March, so that the day that comes and goes is
    /// the last of its year (the algorithm is Howard Hinnant's).
    pub fn after_1970(days: i64) -> Date {
        let days = days.saturating_add(719_468);
        let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
        let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year + year / 4 - year / 100);
        let from_march = (5 * of_year + 2) / 153;
        let day = of_year - (153 * from_march + 2) / 5 + 1;
        let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
        let year = year + era * 400 + i64::from(month <= 2);
        // Both are small by now.
        let small = |it: i64| u8::try_from(it).unwrap_or_default();
        Date { year, month: small(month), day: small(day) }
    }

    /// How many days after 1970-01-01 it is. None for a date that there is not.
    pub fn days(self) -> Option<i64> {
        // Further away than any count of milliseconds.
        if self.year.unsigned_abs() > 1_000_000_000 {
            return None;
        }
        let (month, day) = (i64::from(self.month), i64::from(self.day));
        let (year, month) =
            if month > 2 { (self.year, month - 3) } else { (self.year - 1, month + 9) };
        let leap = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
        let days = year * 365 + leap + (153 * month + 2) / 5 + day - 1 - 719_468;
        (Date::after_1970(days) == self).then_some(days)
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

/// A time in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct UtcTime {
    /// The day.
    pub date: Date,
    /// The hour, from 0 to 23.
    pub hour: u8,
    /// The minute.
    pub minute: u8,
    /// The second; there are no leap seconds.
    pub second: u8,
    /// The millisecond.
    pub milli: u16,
}

/// As ISO 8601 has it: `2026-11-15T19:25:40.123Z`.
impl fmt::Display for UtcTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let UtcTime { date, hour, minute, second, milli } = self;
        write!(f, "{date}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z")
    }
}

impl UtcTime {
    /// The time so many milliseconds after 1970.
    pub fn after_1970(millis: u64) -> UtcTime {
        let of_day = millis % 86_400_000;
        let small = |it: u64| u8::try_from(it).unwrap_or_default();
        UtcTime {
            date: Date::after_1970(i64::try_from(millis / 86_400_000).unwrap_or_default()),
            hour: small(of_day / 3_600_000),
            minute: small(of_day / 60_000 % 60),
            second: small(of_day / 1_000 % 60),
            milli: u16::try_from(of_day % 1_000).unwrap_or_default(),
        }
    }

    /// How many milliseconds after 1970 it is. None for a time that there is not, or before that.
    pub fn millis(self) -> Option<u64> {
        if self.hour > 23 || self.minute > 59 || self.second > 59 || self.milli > 999 {
            return None;
        }
        let days = u64::try_from(self.date.days()?).ok()?;
        let minutes = u64::from(self.hour) * 60 + u64::from(self.minute);
        let of_day = (minutes * 60 + u64::from(self.second)) * 1_000 + u64::from(self.milli);
        days.checked_mul(86_400_000)?.checked_add(of_day)
    }
}

#[cfg(test)]
mod tests;
