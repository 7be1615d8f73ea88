//! Times of the log, as people read them: UTC, without a library for calendars.

use std::fmt;

/// Milliseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timestamp(pub u64);

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0 / 1000;
        let (year, month, day) = date(seconds / 86_400);
        let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
        write!(f, "{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}Z")
    }
}

impl Timestamp {
    /// The time as people say it: how long ago, or the day when that is long ago.
    pub fn relative(self, now: u64) -> String {
        let seconds = now.saturating_sub(self.0) / 1000;
        match seconds {
            0..=1 => "just now".to_owned(),
            2..=119 => format!("{seconds} s ago"),
            120..=7_199 => format!("{} min ago", seconds / 60),
            7_200..=172_799 => format!("{} h ago", seconds / 3_600),
            172_800..=1_209_599 => format!("{} days ago", seconds / 86_400),
            _ => self.to_string().split(' ').next().unwrap_or_default().to_owned(),
        }
    }

    /// Reads a time in UTC: a day, and with it perhaps hours, minutes and seconds.
    pub fn read(text: &str) -> Option<Timestamp> {
        let text = text.strip_suffix('Z').unwrap_or(text);
        let (day, time) = text.split_once(['T', ' ']).unwrap_or((text, "00:00"));
        let [year, month, day] = numbers(day, '-')?.try_into().ok()?;
        let (hour, minute, second) = match *numbers(time, ':')? {
            [hour, minute] => (hour, minute, 0),
            [hour, minute, second] => (hour, minute, second),
            _ => return None,
        };
        if !(1970..=9999).contains(&year) || hour > 23 || minute > 59 || second > 59 {
            return None;
        }
        let first = days_before(year)?;
        // No calendar is needed to go the other way: a year has few days.
        let found = (first..first + 366).find(|it| date(*it) == (year, month, day))?;
        Some(Timestamp((found * 86_400 + hour * 3_600 + minute * 60 + second) * 1_000))
    }
}

fn numbers(text: &str, between: char) -> Option<Vec<u64>> {
    let plain = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit());
    text.split(between).map(|it| if plain(it) { it.parse().ok() } else { None }).collect()
}

/// How many days since 1970 there were before a year.
fn days_before(year: u64) -> Option<u64> {
    let before = year.checked_sub(1)?;
    let leaps = before / 4 - before / 100 + before / 400;
    // The same for 1970 itself.
    (year * 365 + leaps).checked_sub(1970 * 365 + 477)
}

/// Year, month and day of a day since 1970, by counting in eras of 400 years that begin in March.
fn date(days: u64) -> (u64, u64, u64) {
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

#[cfg(test)]
mod tests;
