//! `[web]`: how much one fetch from the web may cost.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    source::LayerReader,
    spanned::Spanned,
    tighten::set_tightening,
    units::{self, Size},
};

/// How much one fetch from the web may cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebSettings {
    /// All of it, from the first name that is resolved to the last byte.
    pub time: Duration,
    /// Bytes that are read when the call does not say.
    pub bytes: usize,
    /// Bytes that are read, whatever the call says.
    pub most_bytes: usize,
    /// Redirects that are followed.
    pub redirects: usize,
    /// How long an answer is good for another call; zero: not at all.
    pub keep: Duration,
}

impl Default for WebSettings {
    fn default() -> WebSettings {
        WebSettings {
            time: Duration::from_secs(30),
            bytes: 1 << 20,
            most_bytes: 10 << 20,
            redirects: 5,
            keep: Duration::from_secs(15 * 60),
        }
    }
}

/// How much one fetch from the web may cost.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub(super) struct Web {
    /// All of it, from the first name that is resolved to the last byte.
    pub(super) time: Option<Spanned<String>>,
    /// How much is read when the call does not say, in bytes or as a size.
    pub(super) bytes: Option<Spanned<Size>>,
    /// How much is read, whatever the call says.
    pub(super) most_bytes: Option<Spanned<Size>>,
    /// Redirects that are followed.
    pub(super) redirects: Option<Spanned<usize>>,
    /// How long an answer is good for another call; "0s": not at all.
    pub(super) keep: Option<Spanned<String>>,
}

/// Puts what is said in the place of what was said below.
pub(super) fn merge(source: &mut LayerReader<'_>, web: &mut WebSettings, file: &Web) {
    if let Some(written) = &file.time
        && let Some(time) = units::positive_time(source, written)
    {
        set_tightening(source, &written.span, &mut web.time, time, |new, old| new > old);
    }
    for (written, below) in [(&file.bytes, &mut web.bytes), (&file.most_bytes, &mut web.most_bytes)]
    {
        let Some(written) = written else { continue };
        let size = match &written.it {
            Size::Bytes(bytes) => Ok(*bytes),
            Size::Text(text) => units::size(text),
        };
        if let Some(size) = source.keep(&written.span, size) {
            set_tightening(source, &written.span, below, size, |new, old| new > old);
        }
    }
    if let Some(written) = &file.redirects {
        set_tightening(source, &written.span, &mut web.redirects, written.it, |new, old| new > old);
    }
    if let Some(written) = &file.keep
        && let Some(keep) = source.keep(&written.span, units::time(&written.it))
    {
        set_tightening(source, &written.span, &mut web.keep, keep, |new, old| new > old);
    }
}
