//! Durations, as people write them.

use std::time::Duration;

/// A duration, as people write it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HumanDuration(pub Duration);

impl HumanDuration {
    /// Without what nobody wants to know: a second or more to a tenth.
    pub fn rounded(time: Duration) -> HumanDuration {
        let ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let ms = if ms >= 950 { ms.saturating_add(50) / 100 * 100 } else { ms };
        HumanDuration(Duration::from_millis(ms))
    }
}

impl std::fmt::Display for HumanDuration {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ms = self.0.as_millis();
        if self.0.subsec_millis() == 0 {
            write!(f, "{} s", self.0.as_secs())
        } else if ms > 1000 && ms.is_multiple_of(100) {
            write!(f, "{}.{} s", self.0.as_secs(), self.0.subsec_millis() / 100)
        } else {
            write!(f, "{} ms", self.0.as_millis())
        }
    }
}
