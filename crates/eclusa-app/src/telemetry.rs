//! Telling what happens: to stderr with `-v` or `ECLUSA_LOG`, to a collector with the feature
//! `otlp`.

use std::io::IsTerminal;

use tracing_subscriber::{EnvFilter, Layer, layer::SubscriberExt, util::SubscriberInitExt};

use crate::failure::Failure;

#[cfg(feature = "otlp")]
use tracing_subscriber::filter::Targets;

#[cfg(feature = "otlp")]
mod otlp;

/// What must be closed before the program ends.
pub struct Telemetry {
    #[cfg(feature = "otlp")]
    export: Option<otlp::Export>,
}

impl Telemetry {
    /// Sends what has not been sent.
    pub fn finish(self) {
        #[cfg(feature = "otlp")]
        if let Some(export) = self.export {
            export.finish();
        }
    }
}

/// Counts a call that was answered, where metrics are exported.
#[cfg_attr(not(feature = "otlp"), expect(unused_variables, reason = "nobody counts"))]
pub fn answered(reply: &eclusa::Reply) {
    #[cfg(feature = "otlp")]
    otlp::answered(reply.tool(), reply.code(), reply.time());
}

/// Starts it. Without `-v` and `ECLUSA_LOG`, only errors of our own are told: the protocol's library
/// takes a client that goes away for one.
pub fn start(verbose: u8) -> Result<Telemetry, Failure> {
    let asked = std::env::var("ECLUSA_LOG").ok().filter(|it| !it.is_empty());
    let words = match (asked, verbose) {
        (Some(words), 0) => words,
        (_, 0) => "error,rmcp=off".to_owned(),
        (_, 1) => "info,rmcp=warn".to_owned(),
        // What libraries tell about patterns and connections is for `ECLUSA_LOG`.
        (_, _) => "info,eclusa=debug".to_owned(),
    };
    let filter = EnvFilter::try_new(&words).map_err(|err| {
        Failure::usage(format!("`{words}` cannot be used as ECLUSA_LOG: {err}"))
            .hint("write a level such as `info`, or `eclusa=debug`")
    })?;
    let stderr = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .with_filter(filter);
    let registry = tracing_subscriber::registry().with(stderr);
    #[cfg(feature = "otlp")]
    {
        let export = otlp::Export::start()?;
        // Our own spans, and not those of the exporter's connection.
        let ours = Targets::new().with_target("eclusa", tracing::Level::INFO);
        let layer = export.as_ref().map(|it| it.layer().with_filter(ours));
        let _ = registry.with(layer).try_init();
        Ok(Telemetry { export })
    }
    #[cfg(not(feature = "otlp"))]
    {
        // An error means that somebody has started it already.
        let _ = registry.try_init();
        Ok(Telemetry {})
    }
}
