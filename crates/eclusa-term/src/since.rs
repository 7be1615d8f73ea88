//! Since when: a call, a while ago, or a time.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::timestamp::Timestamp;

/// Since when something is meant, as typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Since {
    /// Since this call, it included.
    Call(u64),
    /// Since so long ago.
    Ago(Duration),
    /// Since this moment.
    Time(Timestamp),
}

/// Reads `12` (a call), `10m` (ago) or `2026-03-01 09:30` (a time, in UTC).
pub fn parse_since(text: &str) -> Result<Since, String> {
    let text = text.trim();
    if let Ok(call) = text.parse() {
        return Ok(Since::Call(call));
    }
    if let Some(ago) = ago(text) {
        return Ok(Since::Ago(ago));
    }
    if let Some(day) = day(text, now()) {
        return Ok(Since::Time(day));
    }
    Timestamp::read(text).map(Since::Time).ok_or_else(|| {
        format!(
            "`{text}` is not a call number, a duration or a date; write `12`, `10m` (s, m, h, d), \
             `yesterday` or `2026-03-01 09:30` (UTC)"
        )
    })
}

/// The beginning of today or of the day before, in UTC as all times here.
fn day(text: &str, now: u64) -> Option<Timestamp> {
    const DAY: u64 = 86_400_000;
    let today = now - now % DAY;
    match text {
        "today" => Some(Timestamp(today)),
        "yesterday" => Some(Timestamp(today.saturating_sub(DAY))),
        _ => None,
    }
}

/// A whole number and a unit.
fn ago(text: &str) -> Option<Duration> {
    let digits = text.find(|it: char| !it.is_ascii_digit())?;
    let (number, unit) = text.split_at_checked(digits)?;
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        _ => return None,
    };
    Some(Duration::from_secs(number.parse::<u64>().ok()?.checked_mul(seconds)?))
}

/// Milliseconds since 1970, by the clock of this machine.
pub fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
