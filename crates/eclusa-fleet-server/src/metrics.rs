//! What an instance counts, and the text that Prometheus reads.

use std::{
    fmt::Write as _,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::{Duration, Instant},
};

use hyper::StatusCode;

/// What an instance counted since it started.
#[derive(Default)]
pub(crate) struct ServerMetrics {
    records: AtomicU64,
    kept: AtomicU64,
    elsewhere: AtomicU64,
    refused: AtomicU64,
    later: AtomicU64,
    ship_micros: AtomicU64,
}

impl ServerMetrics {
    /// A shipment was answered like this.
    pub(crate) fn shipped(&self, status: StatusCode, began: Instant) {
        let result = match status {
            StatusCode::OK => &self.kept,
            StatusCode::CONFLICT => &self.elsewhere,
            StatusCode::SERVICE_UNAVAILABLE => &self.later,
            _ => &self.refused,
        };
        result.fetch_add(1, Relaxed);
        self.ship_micros.fetch_add(micros(began.elapsed()), Relaxed);
    }

    /// So many records were kept.
    pub(crate) fn kept_records(&self, count: usize) {
        self.records.fetch_add(u64::try_from(count).unwrap_or(0), Relaxed);
    }

    pub(crate) fn write(&self, to: &mut PrometheusText) {
        let results = [
            ("kept", &self.kept),
            ("elsewhere", &self.elsewhere),
            ("refused", &self.refused),
            ("later", &self.later),
        ];
        let read = |it: &AtomicU64| it.load(Relaxed);
        to.about("records_total", "counter", "Records that this instance has kept.");
        to.value("records_total", "", read(&self.records));
        to.about("shipments_total", "counter", "Shipments, by how they were answered.");
        for (result, count) in results {
            to.value("shipments_total", &format!("result=\"{result}\""), read(count));
        }
        to.about("ship_seconds", "summary", "How long shipments took.");
        to.seconds("ship_seconds_sum", read(&self.ship_micros));
        to.value("ship_seconds_count", "", results.iter().map(|it| read(it.1)).sum::<u64>());
    }
}

/// A duration in microseconds.
pub(crate) fn micros(it: Duration) -> u64 {
    u64::try_from(it.as_micros()).unwrap_or(u64::MAX)
}

/// Metrics as text: a comment for each, and its values.
#[derive(Default)]
pub(crate) struct PrometheusText(String);

impl PrometheusText {
    /// What a metric is.
    pub(crate) fn about(&mut self, name: &str, kind: &str, help: &str) {
        self.line(&format!("# HELP eclusa_fleet_{name} {help}"));
        self.line(&format!("# TYPE eclusa_fleet_{name} {kind}"));
    }

    /// One value of it.
    pub(crate) fn value(&mut self, name: &str, labels: &str, value: impl std::fmt::Display) {
        let labels = if labels.is_empty() { String::new() } else { format!("{{{labels}}}") };
        self.line(&format!("eclusa_fleet_{name}{labels} {value}"));
    }

    /// One that was counted in microseconds.
    pub(crate) fn seconds(&mut self, name: &str, micros: u64) {
        let (whole, rest) = (micros / 1_000_000, micros % 1_000_000);
        self.value(name, "", format_args!("{whole}.{rest:06}"));
    }

    fn line(&mut self, line: &str) {
        // A text can always be written to.
        let _ = writeln!(self.0, "{line}");
    }

    pub(crate) fn into_text(self) -> String {
        self.0
    }
}
