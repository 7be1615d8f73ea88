//! Times in documents: UTC, to the second, in one spelling.

use eclusa_text::calendar::{Date, UtcTime};

/// A time as documents write it: `2026-12-01T00:00:00Z`.
pub fn time_text(millis: u64) -> String {
    let UtcTime { date, hour, minute, second, .. } = UtcTime::after_1970(millis);
    format!("{date}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Reads such a time, in milliseconds since 1970. There is one spelling for each.
pub fn parse_time(text: &str) -> Option<u64> {
    let number = |from: usize, to: usize| text.get(from..to).and_then(|it| it.parse::<u16>().ok());
    let small = |from: usize, to: usize| number(from, to).and_then(|it| u8::try_from(it).ok());
    let read = || {
        let date = Date { year: number(0, 4)?.into(), month: small(5, 7)?, day: small(8, 10)? };
        let (hour, minute, second) = (small(11, 13)?, small(14, 16)?, small(17, 19)?);
        UtcTime { date, hour, minute, second, milli: 0 }.millis()
    };
    read().filter(|it| time_text(*it) == text)
}
