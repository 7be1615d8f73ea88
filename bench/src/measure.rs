//! Timing and counting: medians over many batches, so that one hiccup does not count.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

/// What a section comes to: nothing but lines, unless something is broken.
pub(crate) type Told = Result<(), Box<dyn std::error::Error>>;

/// The median time of one call of `work`, over batches that take about a millisecond each.
pub(crate) fn median<T>(mut work: impl FnMut() -> T) -> Duration {
    let mut batch = 1u32;
    while batch < 1 << 20 && time(batch, &mut work) < Duration::from_millis(1) {
        batch *= 2;
    }
    middle((0..301).map(|_| time(batch, &mut work) / batch).collect())
}

fn time<T>(times: u32, work: &mut impl FnMut() -> T) -> Duration {
    let start = Instant::now();
    for _ in 0..times {
        black_box(work());
    }
    start.elapsed()
}

/// The shortest time of a few runs: for work that takes long enough to be measured once, and
/// that only ever gets slower by what else the machine does.
pub(crate) fn shortest<T>(runs: usize, mut work: impl FnMut() -> T) -> Duration {
    (0..runs).map(|_| time(1, &mut work)).min().unwrap_or_default()
}

/// The median.
pub(crate) fn middle<T: Ord + Copy + Default>(mut values: Vec<T>) -> T {
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or_default()
}

/// One line: a name, a time, and how that compares with the baseline.
pub(crate) fn line(name: &str, took: Duration, baseline: Duration) {
    let ratio = took.as_secs_f64() / baseline.as_secs_f64();
    println!("  {name:<56} {:>9} {ratio:>8.2} x baseline", in_words(took));
}

/// One line: a name, a rate, and how that compares with the baseline's.
pub(crate) fn rate(name: &str, per_second: f64, unit: &str, baseline: f64) {
    let ratio = per_second / baseline;
    println!("  {name:<56} {per_second:>9.0} {unit:<8} {ratio:>8.2} x baseline");
}

/// A time in the unit that fits it.
fn in_words(took: Duration) -> String {
    match took.as_nanos() {
        ns @ ..10_000 => format!("{ns} ns"),
        ns @ ..10_000_000 => format!("{} µs", ns / 1000),
        ns => format!("{} ms", ns / 1_000_000),
    }
}
