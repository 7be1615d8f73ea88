//! Counters and latencies of the gate.

use std::{
    collections::BTreeMap,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

/// What a gate has done so far.
#[derive(Debug, Default)]
pub struct Metrics {
    calls: AtomicU64,
    ok: AtomicU64,
    destructive: AtomicU64,
    /// Every outcome but `ok`, which is most of them and has a counter of its own.
    others: Mutex<BTreeMap<&'static str, u64>>,
    latency: Histogram,
}

/// Latencies in buckets that double: bucket `n` holds what took less than `2^n` microseconds.
#[derive(Debug)]
struct Histogram([AtomicU64; BUCKETS]);

const BUCKETS: usize = 40;

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram([const { AtomicU64::new(0) }; BUCKETS])
    }
}

/// The counters at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counts {
    /// Calls answered.
    pub calls: u64,
    /// Calls of tools labelled destructive that ran.
    pub destructive: u64,
    /// Calls by outcome.
    pub outcomes: BTreeMap<&'static str, u64>,
    /// Half of all calls were answered within this.
    pub p50: Duration,
    /// 99 of 100 calls were answered within this.
    pub p99: Duration,
}

impl Metrics {
    pub(crate) fn count(&self, code: &'static str, destructive: bool, took: Duration) {
        self.calls.fetch_add(1, Relaxed);
        if destructive {
            self.destructive.fetch_add(1, Relaxed);
        }
        if code == "ok" {
            self.ok.fetch_add(1, Relaxed);
        } else {
            let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
            *others.entry(code).or_default() += 1;
        }
        self.latency.add(took);
    }

    /// The counters now.
    pub fn counts(&self) -> Counts {
        let mut outcomes = self.others.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let ok = self.ok.load(Relaxed);
        if ok > 0 {
            outcomes.insert("ok", ok);
        }
        Counts {
            calls: self.calls.load(Relaxed),
            destructive: self.destructive.load(Relaxed),
            outcomes,
            p50: self.latency.quantile(0.50),
            p99: self.latency.quantile(0.99),
        }
    }
}

impl Histogram {
    fn add(&self, took: Duration) {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let bucket = usize::try_from(u64::BITS - micros.leading_zeros()).unwrap_or(BUCKETS);
        if let Some(count) = self.0.get(bucket.min(BUCKETS - 1)) {
            count.fetch_add(1, Relaxed);
        }
    }

    /// The upper bound of the bucket in which this share of the calls is reached.
    fn quantile(&self, share: f64) -> Duration {
        let counts: Vec<u64> = self.0.iter().map(|it| it.load(Relaxed)).collect();
        let total: u64 = counts.iter().sum();
        let mut left = (total as f64 * share).ceil() as u64;
        for (bucket, count) in counts.iter().enumerate() {
            left = left.saturating_sub(*count);
            if left == 0 && total > 0 {
                return Duration::from_micros(1u64 << bucket);
            }
        }
        Duration::ZERO
    }
}
