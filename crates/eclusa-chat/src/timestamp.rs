//! Times as transcripts write them: `2026-11-15T19:25:40.123Z`.

/// Milliseconds since 1970 as a date and time in UTC.
pub(crate) fn iso(ms: u64) -> String {
    let (date, of_day) = (ms / 86_400_000, ms % 86_400_000);
    let (year, month, day) = civil(i64::try_from(date).unwrap_or_default());
    let (hour, minute) = (of_day / 3_600_000, of_day / 60_000 % 60);
    let (second, milli) = (of_day / 1_000 % 60, of_day % 1_000);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z")
}

/// The date alone.
pub(crate) fn date(ms: u64) -> String {
    let mut text = iso(ms);
    text.truncate(10);
    text
}

/// Reads what [`iso`] writes, with or without milliseconds.
pub(crate) fn from_iso(text: &str) -> Option<u64> {
    let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
    let mut parts = date.split('-').map(str::parse::<i64>);
    let (year, month, day) = (parts.next()?.ok()?, parts.next()?.ok()?, parts.next()?.ok()?);
    let (time, milli) = time.split_once('.').unwrap_or((time, "0"));
    let mut parts = time.split(':').map(str::parse::<u64>);
    let (hour, minute, second) = (parts.next()?.ok()?, parts.next()?.ok()?, parts.next()?.ok()?);
    let milli: u64 = format!("{milli:0<3}").get(..3)?.parse().ok()?;
    let days = u64::try_from(days(year, month, day)).ok()?;
    let of_day = ((hour * 60 + minute) * 60 + second).checked_mul(1_000)? + milli;
    days.checked_mul(86_400_000)?.checked_add(of_day)
}

/// Year, month and day of a day counted from 1970 (Howard Hinnant's algorithm).
fn civil(days: i64) -> (i64, i64, i64) {
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

fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let yoe = year.rem_euclid(400);
    let mp = if month > 2 { month - 3 } else { month + 9 };
    let doy = (153 * mp + 2) / 5 + day - 1;
    let doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
    era * 146_097 + doe - 719_468
}

#[cfg(test)]
mod tests;
