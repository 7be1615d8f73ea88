//! When a request is sent again, and after how long. The one place that decides it.

use std::{
    hash::{BuildHasher, Hasher, RandomState},
    time::{Duration, Instant},
};

use crate::model::{ModelError, ModelErrorKind};

/// No more than this many requests for one reply.
const MAX_TRIES: u32 = 8;
/// No longer than this for one reply.
const MAX_TIME: Duration = Duration::from_secs(300);
/// A server may ask for so much patience.
const MAX_WAIT: Duration = Duration::from_secs(120);
/// Without being asked, nobody waits longer than this.
const MAX_BACKOFF: Duration = Duration::from_secs(30);

/// The tries for one reply.
#[derive(Debug)]
pub struct Retries {
    began: Instant,
    tries: u32,
}

impl Default for Retries {
    /// The first try begins now.
    fn default() -> Retries {
        Retries { began: Instant::now(), tries: 0 }
    }
}

impl Retries {
    /// How long to wait before the next try, or why there is none.
    pub fn after(&mut self, err: ModelError) -> Result<Duration, ModelError> {
        self.tries += 1;
        let ModelErrorKind::Retry(wanted) = err.kind else { return Err(err) };
        let wait = match wanted {
            Some(wait) if wait > MAX_WAIT => {
                let what =
                    format!("{}; the server wants {} s of patience", err.what, wait.as_secs());
                return Err(ModelError::fatal(what));
            }
            Some(wait) => wait,
            None => backoff(self.tries, chance()),
        };
        if self.tries >= MAX_TRIES || self.began.elapsed() + wait > MAX_TIME {
            let what = format!("{}; given up after {} tries", err.what, self.tries);
            return Err(ModelError::fatal(what));
        }
        Ok(wait)
    }
}

/// 1, 2, 4 … 30 seconds, less up to a quarter, so that not everybody comes back at once.
fn backoff(tries: u32, chance: f64) -> Duration {
    let whole = Duration::from_secs(1 << tries.saturating_sub(1).min(5)).min(MAX_BACKOFF);
    whole.mul_f64(1.0 - 0.25 * chance)
}

/// From 0 to 1.
fn chance() -> f64 {
    // The standard library's hasher is keyed at random, which is all that is needed here.
    let random = RandomState::new().build_hasher().finish();
    f64::from(u32::try_from(random >> 32).unwrap_or_default()) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests;
