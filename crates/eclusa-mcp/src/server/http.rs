//! Serving many clients over Streamable HTTP, with an eye on who they are.
//!
//! rmcp speaks the transport: sessions of the older era, the header rules of the newer, Host and
//! Origin. What is here is the door in front of it: bearer token, health and metrics, an orderly
//! end.

use std::{convert::Infallible, fmt::Write as _, io, sync::Arc, time::Duration};

use eclusa::{Gate, Hash};
use http_body_util::{BodyExt as _, Full, combinators::BoxBody};
use hyper::{
    HeaderMap, Method, Request, Response, StatusCode,
    body::{Bytes, Incoming},
    header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderValue, WWW_AUTHENTICATE},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
};
use rmcp::transport::{
    StreamableHttpServerConfig, StreamableHttpService,
    streamable_http_server::session::local::LocalSessionManager,
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
};

use crate::server::{call::WaitLimits, handler::Server, startup::Startup, state::ServerState};

/// How many connections are served at once; further ones wait.
const MAX_CONNECTIONS: usize = 512;

/// How long a client may take to send the head of a request.
const HEADER_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a session of the older era is kept without a word: longer than a person thinks.
const SESSION_TIMEOUT: Duration = Duration::from_secs(30 * 60);

/// How long calls that were cancelled, and answers under way, may take at the end.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(10);

type Answer = Response<BoxBody<Bytes, Infallible>>;

/// Where clients are served, and which.
pub struct Http {
    /// Where they come in.
    pub listener: TcpListener,
    /// What they must show (`Authorization: Bearer …`). `None` only where nobody from elsewhere
    /// can come in.
    pub token: Option<String>,
    /// Names of this host that clients may use, besides those of the loopback.
    pub hosts: Vec<String>,
}

/// Everything behind the door.
struct HttpServer {
    mcp: StreamableHttpService<Server, LocalSessionManager>,
    shared: Arc<ServerState>,
    /// A digest, so that comparing it tells nothing by how long it takes.
    token: Option<Hash>,
    hosts: Vec<String>,
}

/// Serves clients until `stop` resolves. Then nobody new is let in, calls are cancelled and
/// recorded, and answers under way go out.
pub async fn serve_http(
    opening: Startup,
    wait_limits: WaitLimits,
    http: Http,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let shared = ServerState::new(opening, wait_limits)?;
    let Http { listener, token, hosts } = http;
    let http_server = Arc::new(http_server(shared.clone(), token.as_deref(), hosts));
    let (graceful, room) = (GracefulShutdown::new(), Arc::new(Semaphore::new(MAX_CONNECTIONS)));
    tokio::pin!(stop);
    loop {
        let accepted = tokio::select! {
            accepted = accept(&listener, &room) => accepted,
            () = &mut stop => break,
        };
        let Some((stream, place)) = accepted else { continue };
        let watcher = graceful.watcher();
        let http_server = http_server.clone();
        tokio::spawn(async move {
            let answer = service_fn(move |request| {
                let http_server = http_server.clone();
                async move { Ok::<_, Infallible>(http_server.answer(request).await) }
            });
            let mut server = http1::Builder::new();
            server.timer(TokioTimer::new()).header_read_timeout(HEADER_TIMEOUT);
            let connection = server.serve_connection(TokioIo::new(stream), answer);
            // An error means that the client went away, which its calls have noticed.
            let _ = watcher.watch(connection).await;
            drop(place);
        });
    }
    drop(listener);
    end(&shared, graceful).await;
    Ok(())
}

/// The next connection, once there is room for it.
async fn accept(
    listener: &TcpListener,
    room: &Arc<Semaphore>,
) -> Option<(TcpStream, tokio::sync::OwnedSemaphorePermit)> {
    let place = room.clone().acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, _)) => {
            // A slow network is no reason to refuse.
            let _ = stream.set_nodelay(true);
            Some((stream, place))
        }
        Err(err) => {
            tracing::warn!("a connection could not be taken: {err}");
            tokio::time::sleep(Duration::from_millis(50)).await;
            None
        }
    }
}

async fn end(shared: &ServerState, graceful: GracefulShutdown) {
    shared.gone.cancel();
    shared.calls.tracker.close();
    if tokio::time::timeout(SHUTDOWN_TIMEOUT, shared.calls.tracker.wait()).await.is_err() {
        tracing::error!("some calls did not end in time");
    }
    let _ = tokio::time::timeout(SHUTDOWN_TIMEOUT, graceful.shutdown()).await;
}

fn http_server(shared: Arc<ServerState>, token: Option<&str>, more: Vec<String>) -> HttpServer {
    let mut hosts: Vec<String> = ["localhost", "127.0.0.1", "::1"].map(str::to_owned).into();
    hosts.extend(more);
    let origins = hosts.iter().flat_map(|host| {
        let host = if host.contains(':') { format!("[{host}]") } else { host.clone() };
        [format!("http://{host}:*"), format!("https://{host}:*")]
    });
    let config = StreamableHttpServerConfig::default()
        .with_allowed_hosts(hosts.clone())
        .with_allowed_origins(origins.collect::<Vec<_>>())
        .enforce_origin_validation()
        .with_cancellation_token(shared.gone.clone());
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.keep_alive = Some(SESSION_TIMEOUT);
    let each = shared.clone();
    let mcp = StreamableHttpService::new(
        move || Server::over_http(each.clone()),
        Arc::new(sessions),
        config,
    );
    HttpServer { mcp, shared, token: token.map(|it| Hash::sha256(it.as_bytes())), hosts }
}

impl HttpServer {
    async fn answer(&self, request: Request<Incoming>) -> Answer {
        if !self.is_here(request.headers()) {
            return said(StatusCode::FORBIDDEN, "this is not the host that was meant\n");
        }
        if request.uri().path() == "/health" && request.method() == Method::GET {
            return self.health().await;
        }
        if !self.is_known(request.headers()) {
            let mut answer = said(StatusCode::UNAUTHORIZED, "a bearer token is needed\n");
            answer.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            return answer;
        }
        match request.uri().path() {
            "/mcp" => self.speak(request).await,
            "/metrics" if request.method() == Method::GET => self.metrics().await,
            _ => said(StatusCode::NOT_FOUND, "there is /mcp, /health and /metrics\n"),
        }
    }

    async fn speak(&self, request: Request<Incoming>) -> Answer {
        let ends = request.method() == Method::DELETE;
        let mut answer = self.mcp.handle(request).await;
        // The official Python client takes "accepted" for a failure to end its session.
        if ends && answer.status() == StatusCode::ACCEPTED {
            *answer.status_mut() = StatusCode::OK;
        }
        answer
    }

    /// Whether the request names this host: a page that a browser was led to by another name does
    /// not (DNS rebinding).
    fn is_here(&self, headers: &HeaderMap) -> bool {
        let host = headers.get(HOST).and_then(|it| it.to_str().ok()).unwrap_or_default();
        let name = match host.strip_prefix('[') {
            Some(rest) => rest.split(']').next(),
            None => host.split(':').next(),
        };
        name.is_some_and(|name| self.hosts.iter().any(|it| it.eq_ignore_ascii_case(name)))
    }

    fn is_known(&self, headers: &HeaderMap) -> bool {
        let Some(token) = &self.token else { return true };
        let shown = headers.get(AUTHORIZATION).and_then(|it| it.to_str().ok()).unwrap_or_default();
        let shown = shown.split_once(' ').filter(|(kind, _)| kind.eq_ignore_ascii_case("bearer"));
        shown.is_some_and(|(_, shown)| Hash::sha256(shown.trim().as_bytes()) == *token)
    }

    /// Up means: the workspace is open. A log that cannot be opened is not up.
    async fn health(&self) -> Answer {
        match self.gate().await {
            Some(_) => said(StatusCode::OK, "ok\n"),
            None => said(StatusCode::SERVICE_UNAVAILABLE, "not open\n"),
        }
    }

    async fn metrics(&self) -> Answer {
        match self.gate().await {
            Some(gate) => said(StatusCode::OK, &metrics(&gate)),
            None => said(StatusCode::SERVICE_UNAVAILABLE, "not open\n"),
        }
    }

    async fn gate(&self) -> Option<Gate> {
        let opened = tokio::time::timeout(Duration::from_secs(5), self.shared.gate());
        opened.await.ok()?.ok()
    }
}

/// The counters of the gate, as Prometheus reads them.
fn metrics(gate: &Gate) -> String {
    let counts = gate.metrics().counts();
    let mut text = String::new();
    let mut family = |name: &str, kind: &str, help: &str, rows: &[(String, String)]| {
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
        for (labels, value) in rows {
            let _ = writeln!(text, "{name}{labels} {value}");
        }
    };
    let one = |value: u64| vec![(String::new(), value.to_string())];
    let outcomes: Vec<_> = counts
        .outcomes
        .iter()
        .map(|(code, count)| (format!("{{outcome=\"{code}\"}}"), count.to_string()))
        .collect();
    family("eclusa_calls_total", "counter", "Calls answered, by outcome.", &outcomes);
    let destructive = one(counts.destructive);
    let help = "Calls of destructive tools that ran.";
    family("eclusa_destructive_calls_total", "counter", help, &destructive);
    let quantiles: Vec<_> = [("0.5", counts.p50), ("0.99", counts.p99)]
        .map(|(at, time)| (format!("{{quantile=\"{at}\"}}"), time.as_secs_f64().to_string()))
        .into();
    let help = "Time from arrival to answer, in seconds.";
    family("eclusa_call_seconds", "summary", help, &quantiles);
    text
}

fn said(status: StatusCode, text: &str) -> Answer {
    let body = Full::new(Bytes::copy_from_slice(text.as_bytes())).boxed();
    let mut answer = Response::new(body);
    *answer.status_mut() = status;
    let plain = HeaderValue::from_static("text/plain; charset=utf-8");
    answer.headers_mut().insert(CONTENT_TYPE, plain);
    answer
}
