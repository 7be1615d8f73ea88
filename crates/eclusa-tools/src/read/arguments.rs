//! The arguments of `read`, as a model writes them and as they are meant.

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use serde_json::Number;

/// How many lines there are on a page where nobody says otherwise.
const LINES: u64 = 2000;

/// Which file, and which part of it.
//
// What is left out stays left out: a default in the schema would be filled in by the gate, and
// people and records would see it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct ReadArgs {
    /// The file, relative to the workspace.
    pub(super) path: String,
    /// The first line to show; 1 is the first of the file.
    #[serde(default, deserialize_with = "whole", skip_serializing_if = "Option::is_none")]
    offset: Option<u64>,
    /// How many lines to show at most; 2000 by default.
    #[serde(default, deserialize_with = "whole", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    limit: Option<u64>,
    /// Another name for `limit`.
    #[serde(default, deserialize_with = "whole", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    lines: Option<u64>,
    /// Bytes instead of lines, for very long lines: `0..5000` are the first 5000, `5000..` all
    /// that follow.
    #[schemars(regex(pattern = r"^[0-9]*\.\.[0-9]*$"))]
    bytes: Option<String>,
}

/// The arguments, as they are meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wanted {
    /// So many lines, from this one on.
    Lines { first: u64, count: u64 },
    /// These bytes.
    Bytes(Range<u64>),
}

impl ReadArgs {
    /// True when no part of the file is named.
    pub(super) fn wants_all(&self) -> bool {
        self.offset.or(self.limit).or(self.lines).is_none() && self.bytes.is_none()
    }

    /// What is meant, or what contradicts itself.
    pub(super) fn wanted(&self) -> Result<Wanted, String> {
        let count = match (self.limit, self.lines) {
            (Some(limit), Some(lines)) if limit != lines => {
                return Err("`lines` is another name for `limit`; give one of them".to_owned());
            }
            (limit, lines) => limit.or(lines),
        };
        match &self.bytes {
            Some(_) if self.offset.is_some() || count.is_some() => {
                Err("`bytes` cannot be had together with lines; leave out `offset` and `limit`, \
                     or `bytes`"
                    .to_owned())
            }
            Some(text) => range(text).map(Wanted::Bytes),
            None => Ok(Wanted::Lines {
                first: self.offset.unwrap_or(1).max(1),
                count: count.unwrap_or(LINES),
            }),
        }
    }
}

fn range(text: &str) -> Result<Range<u64>, String> {
    let wrong =
        || format!("`{text}` is not a range of bytes; write `START..END`, such as `0..5000`");
    let (start, end) = text.split_once("..").ok_or_else(wrong)?;
    let number = |text: &str, other: u64| match text {
        "" => Ok(other),
        text => text.parse().map_err(|_| wrong()),
    };
    let range = number(start, 0)?..number(end, u64::MAX)?;
    if range.is_empty() { Err(wrong()) } else { Ok(range) }
}

/// A whole number, which JSON may spell `3.0` as well.
fn whole<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    let Some(number) = Option::<Number>::deserialize(from)? else { return Ok(None) };
    let spelt = number.as_u64().or_else(|| {
        let float = number.as_f64().filter(|it| it.fract() == 0.0 && *it >= 0.0)?;
        // Past what a number can say, every line is beyond the end just the same.
        Some(float as u64)
    });
    let wrong = || serde::de::Error::custom(format!("{number} is not a whole number"));
    spelt.map(Some).ok_or_else(wrong)
}
