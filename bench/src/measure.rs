//! Timing and counting: medians over many batches, so that one hiccup does not count. What was
//! measured is printed, and noted for the report.

use std::{
    hint::black_box,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};

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

/// What one in a hundred exceeds.
pub(crate) fn percentile_99<T: Ord + Copy + Default>(mut values: Vec<T>) -> T {
    values.sort_unstable();
    values.get(values.len() * 99 / 100).copied().unwrap_or_default()
}

/// One number of a report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Figure {
    /// The part of the program that it is about.
    pub(crate) section: String,
    /// What was measured.
    pub(crate) name: String,
    /// How much it was.
    pub(crate) value: f64,
    /// Of what: `ns` for times.
    pub(crate) unit: String,
    /// The same number of the baseline in the same run, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) baseline: Option<f64>,
}

static NOTED: Mutex<Vec<Figure>> = Mutex::new(Vec::new());
static SECTION: Mutex<String> = Mutex::new(String::new());
static QUIET: AtomicBool = AtomicBool::new(false);

/// What follows belongs to this section. Quiet: it is noted, and told on stderr.
pub(crate) fn begin(section: &str, quiet: bool) {
    QUIET.store(quiet, Ordering::Release);
    section.clone_into(&mut SECTION.lock().unwrap_or_else(PoisonError::into_inner));
    tell(format_args!("{section}"));
}

/// Everything that was noted.
pub(crate) fn noted() -> Vec<Figure> {
    std::mem::take(&mut NOTED.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Prints a line for people.
pub(crate) fn tell(text: std::fmt::Arguments<'_>) {
    match QUIET.load(Ordering::Acquire) {
        true => eprintln!("{text}"),
        false => println!("{text}"),
    }
}

fn note(name: &str, value: f64, unit: &str, baseline: Option<f64>) {
    let section = SECTION.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let (name, unit) = (name.to_owned(), unit.to_owned());
    let figure = Figure { section, name, value, unit, baseline };
    NOTED.lock().unwrap_or_else(PoisonError::into_inner).push(figure);
}

/// One line: a name, a time, and how that compares with the baseline.
pub(crate) fn line(name: &str, took: Duration, baseline: Duration) {
    let ratio = took.as_secs_f64() / baseline.as_secs_f64();
    tell(format_args!("  {name:<56} {:>9} {ratio:>8.2} x baseline", in_words(took)));
    note(name, took.as_nanos() as f64, "ns", Some(baseline.as_nanos() as f64));
}

/// One line: a name and a time that has no baseline.
pub(crate) fn plain(name: &str, took: Duration) {
    tell(format_args!("  {name:<56} {:>9}", in_words(took)));
    note(name, took.as_nanos() as f64, "ns", None);
}

/// One line: a name, a rate, and how that compares with the baseline's.
pub(crate) fn rate(name: &str, per_second: f64, unit: &str, baseline: f64) {
    let ratio = per_second / baseline;
    tell(format_args!("  {name:<56} {per_second:>9.0} {unit:<8} {ratio:>8.2} x baseline"));
    note(name, per_second, unit, Some(baseline));
}

/// One line: a name and a number.
pub(crate) fn number(name: &str, value: f64, unit: &str) {
    tell(format_args!("  {name:<56} {value:>9.2} {unit}"));
    note(name, value, unit, None);
}

/// A time in the unit that fits it.
pub(crate) fn in_words(took: Duration) -> String {
    match took.as_nanos() {
        ns @ ..10_000 => format!("{ns} ns"),
        ns @ ..10_000_000 => format!("{} µs", ns / 1000),
        ns => format!("{} ms", ns / 1_000_000),
    }
}
