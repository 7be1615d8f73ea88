//! How full the window is: by what the provider reported last, and by bytes since.

use crate::model::Usage;

/// Bytes for a token, in thousandths, before anything was reported.
const FIRST_RATIO: u64 = 3_000;

/// Estimates tokens from bytes, and learns from what is reported.
#[derive(Debug, Clone)]
pub struct Measure {
    /// Bytes for a token, in thousandths.
    ratio: u64,
    /// Bytes of the last request, and the tokens that it was.
    last: Option<(u64, u64)>,
}

impl Default for Measure {
    fn default() -> Measure {
        Measure { ratio: FIRST_RATIO, last: None }
    }
}

impl Measure {
    /// About how many tokens a request of so many bytes is.
    pub fn tokens(&self, bytes: usize) -> u64 {
        let bytes = bytes as u64;
        let whole = |bytes: u64| bytes.saturating_mul(1_000) / self.ratio;
        match self.last {
            Some((before, tokens)) if bytes >= before => tokens + whole(bytes - before),
            _ => whole(bytes),
        }
    }

    /// Learns from a request of so many bytes that was answered.
    pub fn learn(&mut self, bytes: usize, usage: &Usage) {
        let (bytes, tokens) = (bytes as u64, usage.read());
        if tokens == 0 {
            return;
        }
        self.ratio = (bytes.saturating_mul(1_000) / tokens).clamp(1_000, 8_000);
        self.last = Some((bytes, tokens));
    }
}
