//! The port for whoever operates the server: whether it lives, whether it is of use, and its metrics. It is not for the
//! network of the machines.

use std::sync::Arc;

use hyper::{Request, StatusCode, body::Incoming};
use tokio::net::TcpListener;

use crate::{
    ServerError,
    http::{Answer, content, serve_connections},
    metrics::PrometheusText,
    schema,
    server::FleetServer,
    store::gauges,
};

/// How many connections are served at once.
const MAX_CONNECTIONS: usize = 32;

pub(crate) async fn accept(server: Arc<FleetServer>, listener: TcpListener) {
    let answers = move |request: Request<Incoming>| {
        let server = server.clone();
        async move { answer(&server, &request).await }
    };
    serve_connections(listener, MAX_CONNECTIONS, answers).await;
}

async fn answer(server: &FleetServer, request: &Request<Incoming>) -> Answer {
    let answered = match (request.method().as_str(), request.uri().path()) {
        ("GET", "/health") => Ok("ok\n".to_owned()),
        ("GET", "/ready") => schema::check(&server.database).await.map(|()| "ready\n".to_owned()),
        ("GET", "/metrics") => metrics(server).await,
        _ => return text(StatusCode::NOT_FOUND, "there is nothing at this address\n".to_owned()),
    };
    match answered {
        Ok(body) => text(StatusCode::OK, body),
        Err(err) => text(StatusCode::SERVICE_UNAVAILABLE, format!("{err}\n")),
    }
}

/// Counters are there whenever the process answers; what the database says only where it answers, too.
async fn metrics(server: &FleetServer) -> Result<String, ServerError> {
    let mut to = PrometheusText::default();
    server.metrics.write(&mut to);
    let (statements, failures, micros) = server.database.counted();
    to.about("database_seconds", "summary", "How long statements took.");
    to.seconds("database_seconds_sum", micros);
    to.value("database_seconds_count", "", statements);
    to.about("database_failures_total", "counter", "Statements that came to nothing.");
    to.value("database_failures_total", "", failures);
    let mut gauges = PrometheusText::default();
    let written = gauges::write(&server.database, &server.documents(), &mut gauges).await;
    to.about("database_up", "gauge", "Whether the database answers.");
    to.value("database_up", "", u8::from(written.is_ok()));
    let gauges = if written.is_ok() { gauges.into_text() } else { String::new() };
    Ok(to.into_text() + &gauges)
}

fn text(status: StatusCode, body: String) -> Answer {
    content(status, "text/plain; version=0.0.4", body.into())
}
