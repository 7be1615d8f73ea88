//! Spans and metrics to an OpenTelemetry collector, where one is named in the environment.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use opentelemetry::{KeyValue, global, trace::TracerProvider};
use opentelemetry_otlp::{MetricExporter, SpanExporter};
use opentelemetry_sdk::{
    Resource,
    metrics::SdkMeterProvider,
    trace::{SdkTracerProvider, Tracer},
};

use crate::failure::Failure;

/// The variables that name a collector; the exporter reads them itself.
const COLLECTOR_VARIABLES: [&str; 3] = [
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
];

/// Whether metrics are exported in this process.
static ON: AtomicBool = AtomicBool::new(false);

/// The way to a collector.
pub(super) struct Export {
    tracer: SdkTracerProvider,
    meter: SdkMeterProvider,
}

impl Export {
    /// Opens it, if a collector is named. Nothing is sent anywhere otherwise.
    pub(super) fn start() -> Result<Option<Export>, Failure> {
        if !COLLECTOR_VARIABLES
            .iter()
            .any(|name| std::env::var_os(name).is_some_and(|it| !it.is_empty()))
        {
            return Ok(None);
        }
        // The exporters make clients of their own.
        eclusa_net::choose_encryption();
        let failed = |what: String| Failure::usage(format!("nothing can be exported: {what}"));
        let resource = Resource::builder().with_service_name("eclusa").build();
        let spans = SpanExporter::builder().with_http().build();
        let tracer = SdkTracerProvider::builder()
            .with_batch_exporter(spans.map_err(|err| failed(err.to_string()))?)
            .with_resource(resource.clone())
            .build();
        let metrics = MetricExporter::builder().with_http().build();
        let meter = SdkMeterProvider::builder()
            .with_periodic_exporter(metrics.map_err(|err| failed(err.to_string()))?)
            .with_resource(resource)
            .build();
        global::set_meter_provider(meter.clone());
        ON.store(true, Ordering::Release);
        Ok(Some(Export { tracer, meter }))
    }

    /// What takes spans from `tracing` to the collector.
    pub(super) fn layer<S>(&self) -> tracing_opentelemetry::OpenTelemetryLayer<S, Tracer>
    where
        S: tracing::Subscriber + for<'a> tracing_subscriber::registry::LookupSpan<'a>,
    {
        tracing_opentelemetry::layer().with_tracer(self.tracer.tracer("eclusa"))
    }

    /// Sends what is left, and closes.
    pub(super) fn finish(self) {
        // What could not be sent is lost to the collector alone; the log has it all.
        let _ = self.tracer.shutdown();
        let _ = self.meter.shutdown();
    }
}

/// Counts a call that was answered, and how long it took.
pub(super) fn answered(tool: &str, code: &'static str, took: Duration) {
    if !ON.load(Ordering::Acquire) {
        return;
    }
    let meter = global::meter("eclusa");
    let what = [
        KeyValue::new("gen_ai.operation.name", "execute_tool"),
        KeyValue::new("gen_ai.tool.name", tool.to_owned()),
        KeyValue::new("eclusa.outcome", code),
    ];
    meter.u64_counter("eclusa.calls").build().add(1, &what);
    meter
        .f64_histogram("eclusa.call.duration")
        .with_unit("s")
        .build()
        .record(took.as_secs_f64(), &what);
}
