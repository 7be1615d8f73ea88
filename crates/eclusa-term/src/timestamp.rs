//! Times of the log, as people read them: UTC.

use std::fmt;

use eclusa_text::calendar::{Date, UtcTime};

/// Milliseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timestamp(pub u64);

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let UtcTime { date, hour, minute, second, .. } = UtcTime::after_1970(self.0);
        write!(f, "{date} {hour:02}:{minute:02}:{second:02}Z")
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
        let small = |it: u64| u8::try_from(it).ok();
        let year = i64::try_from(year).ok().filter(|it| *it <= 9999)?;
        let date = Date { year, month: small(month)?, day: small(day)? };
        let (hour, minute, second) = (small(hour)?, small(minute)?, small(second)?);
        UtcTime { date, hour, minute, second, milli: 0 }.millis().map(Timestamp)
    }
}

fn numbers(text: &str, between: char) -> Option<Vec<u64>> {
    let plain = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit());
    text.split(between).map(|it| if plain(it) { it.parse().ok() } else { None }).collect()
}

#[cfg(test)]
mod tests;
