//! Timing and counting: medians over many batches, so that one hiccup does not count.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

/// The median time of one call of `work`, over batches that take about a millisecond each.
pub fn median<T>(mut work: impl FnMut() -> T) -> Duration {
    let mut batch = 1u32;
    loop {
        let took = time(batch, &mut work);
        if took >= Duration::from_millis(1) || batch >= 1 << 20 {
            break;
        }
        batch *= 2;
    }
    let mut times: Vec<Duration> = (0..301).map(|_| time(batch, &mut work) / batch).collect();
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn time<T>(times: u32, work: &mut impl FnMut() -> T) -> Duration {
    let start = Instant::now();
    for _ in 0..times {
        black_box(work());
    }
    start.elapsed()
}

/// How many allocations one call of `work` makes, once it is warm.
pub fn allocations(mut work: impl FnMut()) -> u64 {
    work();
    let mut counts: Vec<u64> =
        (0..101).map(|_| allocation_counter::measure(&mut work).count_total).collect();
    counts.sort_unstable();
    counts.get(counts.len() / 2).copied().unwrap_or_default()
}

/// One line: a name, a time, and how that compares with the baseline.
pub fn line(name: &str, took: Duration, baseline: Duration) {
    let ratio = took.as_secs_f64() / baseline.as_secs_f64();
    println!("  {name:<52} {:>10} {ratio:>8.2} x baseline", nanos(took));
}

/// A time in the unit that fits it.
pub fn nanos(took: Duration) -> String {
    match took.as_nanos() {
        ns @ ..10_000 => format!("{ns} ns"),
        ns @ ..10_000_000 => format!("{} µs", ns / 1000),
        ns => format!("{} ms", ns / 1_000_000),
    }
}
