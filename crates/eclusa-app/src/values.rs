//! Values on the command line: durations and ranges of bytes.

use std::{ops::Range, time::Duration};

/// Reads a time: a number of seconds, or a number with a unit.
pub fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.find(|it: char| !it.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let wrong = || format!("`{text}` is not a duration; write `90s`, `500ms`, `2m` or `2h`");
    let number: u64 = number.parse().map_err(|_| wrong())?;
    match unit {
        "" | "s" => Ok(Duration::from_secs(number)),
        "ms" => Ok(Duration::from_millis(number)),
        "m" => Ok(Duration::from_secs(number.saturating_mul(60))),
        "h" => Ok(Duration::from_secs(number.saturating_mul(3_600))),
        "d" => Ok(Duration::from_secs(number.saturating_mul(86_400))),
        _ => Err(wrong()),
    }
}

/// Reads a range of bytes.
pub fn range(text: &str) -> Result<Range<usize>, String> {
    let wrong = || format!("`{text}` is not a range; write `A..B`, `A..` or `..B`");
    let (from, to) = text.split_once("..").ok_or_else(wrong)?;
    let number = |text: &str, other: usize| match text {
        "" => Ok(other),
        text => text.parse().map_err(|_| wrong()),
    };
    let (from, to) = (number(from, 0)?, number(to, usize::MAX)?);
    match from <= to {
        true => Ok(from..to),
        false => Err(format!("`{text}` is an empty range: its end is before its start")),
    }
}
