//! Times like `30s` and sizes like `100KB`.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    source::LayerReader,
    spanned::{Keyword, NoLimit, Spanned},
};

/// A number, or the word for no limit.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub(super) enum Most {
    /// This many.
    Number(u64),
    /// Any number.
    Any(Keyword<NoLimit>),
}

/// A number of bytes, or a size like "100KB".
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub(super) enum Size {
    /// Bytes.
    Bytes(usize),
    /// A number and B, KB, MB or GB.
    Text(String),
}

/// A time: a whole number and `ms`, `s`, `m`, `h` or `d`.
pub(super) fn time(text: &str) -> Result<Duration, String> {
    let wrong =
        || format!("`{text}` is not a time; write a whole number and ms, s, m, h or d, like `30s`");
    let (number, unit) = split(text).ok_or_else(wrong)?;
    let millis: u64 = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return Err(wrong()),
    };
    let total = number.checked_mul(millis).filter(|it| *it <= MAX_MILLIS);
    total.map(Duration::from_millis).ok_or_else(|| format!("`{text}` is more than a year"))
}

/// A time that is not nothing.
pub(super) fn positive_time(
    source: &mut LayerReader<'_>,
    it: &Spanned<String>,
) -> Option<Duration> {
    let time = time(&it.it).and_then(|time| match time.is_zero() {
        true => {
            Err("no time at all would refuse every call; write how long it may take".to_owned())
        }
        false => Ok(time),
    });
    source.keep(&it.span, time)
}

/// No time is longer than this: beyond it clocks overflow before anybody has waited that long.
const MAX_MILLIS: u64 = 366 * 86_400_000;

/// A size: a whole number and `B`, `KB`, `MB` or `GB`, each 1024 of the one before.
pub(super) fn size(text: &str) -> Result<usize, String> {
    let wrong = || {
        format!("`{text}` is not a size; write a whole number and B, KB, MB or GB, like `100KB`")
    };
    let (number, unit) = split(text).ok_or_else(wrong)?;
    let bytes: u64 = match unit {
        "B" => 1,
        "KB" | "KiB" => 1 << 10,
        "MB" | "MiB" => 1 << 20,
        "GB" | "GiB" => 1 << 30,
        _ => return Err(wrong()),
    };
    let total = number.checked_mul(bytes).and_then(|it| usize::try_from(it).ok());
    total.ok_or_else(|| format!("`{text}` is more than this machine can count"))
}

/// The number and the unit of a text that has both.
fn split(text: &str) -> Option<(u64, &str)> {
    let text = text.trim();
    let end = text.find(|it: char| !it.is_ascii_digit())?;
    let (number, unit) = text.split_at_checked(end)?;
    Some((number.parse().ok()?, unit.trim_start()))
}
