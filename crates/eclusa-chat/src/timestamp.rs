//! Times as transcripts write them: `2026-11-15T19:25:40.123Z`.

use std::str::FromStr;

use eclusa_text::calendar::{Date, UtcTime};

/// Milliseconds since 1970 as a date and time in UTC.
pub(crate) fn iso(ms: u64) -> String {
    UtcTime::after_1970(ms).to_string()
}

/// The date alone.
pub(crate) fn date(ms: u64) -> String {
    UtcTime::after_1970(ms).date.to_string()
}

/// Reads what [`iso`] writes, with or without milliseconds.
pub(crate) fn from_iso(text: &str) -> Option<u64> {
    let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
    let mut parts = date.splitn(3, '-');
    let date = Date { year: next(&mut parts)?, month: next(&mut parts)?, day: next(&mut parts)? };
    let (time, milli) = time.split_once('.').unwrap_or((time, "0"));
    let mut parts = time.splitn(3, ':');
    let (hour, minute, second) = (next(&mut parts)?, next(&mut parts)?, next(&mut parts)?);
    let milli = format!("{milli:0<3}").get(..3)?.parse().ok()?;
    UtcTime { date, hour, minute, second, milli }.millis()
}

fn next<'a, T: FromStr>(parts: &mut impl Iterator<Item = &'a str>) -> Option<T> {
    parts.next()?.parse().ok()
}

#[cfg(test)]
mod tests;
