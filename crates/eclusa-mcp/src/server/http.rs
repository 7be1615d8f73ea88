//! Serving many clients over Streamable HTTP, with an eye on who they are.
//!
//! rmcp speaks the transport: sessions of the older era, the header rules of the newer, Host and
//! Origin. What is here is the door in front of it: bearer token, health and metrics, an orderly
//! end.

use std::{convert::Infallible, fmt::Write as _, io, sync::Arc, time::Duration};

use eclusa::{Gate, Hash};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited, combinators::BoxBody};
use hyper::{
    HeaderMap, Method, Request, Response, StatusCode,
    body::{Bytes, Incoming},
    header::{AUTHORIZATION, CONNECTION, CONTENT_TYPE, HeaderValue, WWW_AUTHENTICATE},
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
use tokio::net::{TcpListener, TcpStream};

use crate::server::{
    call::WaitLimits, handler::Server, peer::is_same_user, startup::Startup, state::ServerState,
};

mod connections;
mod hosts;
mod priming;
mod sessions;

use connections::{Connections, Slot};
use hosts::HostNames;
use sessions::Sessions;

/// The header that names a session of the older era.
const SESSION_ID: &str = "mcp-session-id";

/// How many connections are served at once; a further one takes the place of a slow one.
const MAX_CONNECTIONS: usize = 1024;

/// The largest request, in bytes: as large as a line on a pipe.
const MAX_BODY_BYTES: usize = crate::lines::MAX_LINE_BYTES;

/// How long a client may take to send the body of a request.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a client may take to send the head of a request.
const HEADER_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a session of the older era is kept without a word: longer than a person thinks.
const SESSION_TIMEOUT: Duration = Duration::from_secs(30 * 60);

/// How long calls that were cancelled, and answers under way, may take at the end.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(10);

type HttpAnswer = Response<BoxBody<Bytes, Infallible>>;

/// Where clients are served, and which.
pub struct Http {
    /// Where they come in.
    pub listener: TcpListener,
    /// What they must show (`Authorization: Bearer …`). `None` only where the caller lets nobody in
    /// whom it does not know.
    pub token: Option<String>,
    /// Lets programs of our own user in on the loopback without the token.
    pub same_user: bool,
    /// Names of this host that clients may use, besides those of the loopback.
    pub hosts: Vec<String>,
}

/// Everything behind the door.
struct HttpServer {
    mcp: StreamableHttpService<Server, LocalSessionManager>,
    sessions: Sessions,
    shared: Arc<ServerState>,
    /// A digest, so that comparing it tells nothing by how long it takes.
    token: Option<Hash>,
    hosts: HostNames,
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
    let Http { listener, token, same_user, hosts } = http;
    let http_server = Arc::new(http_server(shared.clone(), token.as_deref(), hosts));
    let (graceful, connections) = (GracefulShutdown::new(), Connections::new(MAX_CONNECTIONS));
    tokio::pin!(stop);
    loop {
        let accepted = tokio::select! {
            accepted = accept(&listener, &connections) => accepted,
            () = &mut stop => break,
        };
        let Some((stream, slot)) = accepted else { continue };
        let known = match (stream.peer_addr(), stream.local_addr()) {
            (Ok(peer), Ok(local)) if same_user => is_same_user(peer, local),
            _ => false,
        };
        let watcher = graceful.watcher();
        let http_server = http_server.clone();
        tokio::spawn(async move {
            let slot = Arc::new(slot);
            let closing = slot.closing.clone();
            let answer = service_fn(move |request| {
                let (http_server, slot) = (http_server.clone(), slot.clone());
                async move {
                    let answer = http_server.answer(request, &slot, known).await;
                    let answered = Answered(slot);
                    let counted = |body: BoxBody<Bytes, Infallible>| {
                        let counting = body.map_frame(move |frame| {
                            let _held = &answered;
                            frame
                        });
                        counting.boxed()
                    };
                    Ok::<_, Infallible>(answer.map(counted))
                }
            });
            let mut server = http1::Builder::new();
            server.timer(TokioTimer::new()).header_read_timeout(HEADER_TIMEOUT);
            let connection = server.serve_connection(TokioIo::new(stream), answer);
            tokio::select! {
                // An error means that the client went away, which its calls have noticed.
                _ = watcher.watch(connection) => {}
                () = closing.cancelled() => {}
            }
        });
    }
    drop(listener);
    end(&shared, graceful).await;
    Ok(())
}

/// An answer on its way. When it has been sent, the client may send its next request.
struct Answered(Arc<Slot>);

impl Drop for Answered {
    fn drop(&mut self) {
        self.0.begin();
    }
}

/// The next connection, and room for it.
async fn accept(
    listener: &TcpListener,
    connections: &Arc<Connections>,
) -> Option<(TcpStream, Slot)> {
    match listener.accept().await {
        Ok((stream, _)) => {
            // A slow network is no reason to refuse.
            let _ = stream.set_nodelay(true);
            Some((stream, connections.admit().await?))
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
        .with_max_request_body_bytes(MAX_BODY_BYTES)
        .with_cancellation_token(shared.gone.clone());
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.keep_alive = Some(SESSION_TIMEOUT);
    let each = shared.clone();
    let sessions = Sessions::new(sessions);
    let mcp = StreamableHttpService::new(
        move || Server::over_http(each.clone()),
        sessions.manager.clone(),
        config,
    );
    let hosts = HostNames(hosts);
    HttpServer { mcp, sessions, shared, token: token.map(|it| Hash::sha256(it.as_bytes())), hosts }
}

impl HttpServer {
    async fn answer(&self, request: Request<Incoming>, slot: &Slot, known: bool) -> HttpAnswer {
        if !self.hosts.accept(request.headers()) {
            return text_answer(StatusCode::FORBIDDEN, "wrong Host header\n");
        }
        if request.uri().path() == "/health" && request.method() == Method::GET {
            return self.health().await;
        }
        if !known && !self.is_known(request.headers()) {
            let mut answer = text_answer(StatusCode::UNAUTHORIZED, "a bearer token is needed\n");
            answer.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            return answer;
        }
        match request.uri().path() {
            "/mcp" => match received(request).await {
                Ok(request) => {
                    slot.received();
                    self.speak(request).await
                }
                Err(refusal) => refusal,
            },
            "/metrics" if request.method() == Method::GET => self.metrics().await,
            _ => text_answer(StatusCode::NOT_FOUND, "there is /mcp, /health and /metrics\n"),
        }
    }

    async fn speak(&self, request: Request<Full<Bytes>>) -> HttpAnswer {
        let ends = request.method() == Method::DELETE;
        let session = |headers: &HeaderMap| {
            headers.get(SESSION_ID).and_then(|it| it.to_str().ok()).map(str::to_owned)
        };
        let known = session(request.headers());
        if let Some(id) = &known {
            self.sessions.touch(id);
        }
        let (head, body) = request.into_parts();
        let bytes = body.clone().collect().await.map(|it| it.to_bytes()).unwrap_or_default();
        let unprimed = priming::is_unknown_to(&head.headers, &bytes);
        if head.method == Method::POST && is_json(&head.headers) && !is_json_text(&bytes) {
            return broken_json();
        }
        let mut answer = self.mcp.handle(Request::from_parts(head, body)).await;
        if let (None, Some(id)) = (known, session(answer.headers())) {
            self.sessions.opened(&id).await;
        }
        // The official Python client takes "accepted" for a failure to end its session.
        if ends && answer.status() == StatusCode::ACCEPTED {
            *answer.status_mut() = StatusCode::OK;
        }
        let kind = answer.headers().get(CONTENT_TYPE).and_then(|it| it.to_str().ok());
        match unprimed && kind.is_some_and(|it| it.starts_with("text/event-stream")) {
            true => answer.map(priming::without),
            false => answer,
        }
    }

    fn is_known(&self, headers: &HeaderMap) -> bool {
        let Some(token) = &self.token else { return true };
        let shown = headers.get(AUTHORIZATION).and_then(|it| it.to_str().ok()).unwrap_or_default();
        let shown = shown.split_once(' ').filter(|(kind, _)| kind.eq_ignore_ascii_case("bearer"));
        shown.is_some_and(|(_, shown)| Hash::sha256(shown.trim().as_bytes()) == *token)
    }

    /// Up means: the workspace is open. A log that cannot be opened is not up.
    async fn health(&self) -> HttpAnswer {
        match self.gate().await {
            Some(_) => text_answer(StatusCode::OK, "ok\n"),
            None => text_answer(StatusCode::SERVICE_UNAVAILABLE, "not open\n"),
        }
    }

    async fn metrics(&self) -> HttpAnswer {
        match self.gate().await {
            Some(gate) => text_answer(StatusCode::OK, &metrics(&gate)),
            None => text_answer(StatusCode::SERVICE_UNAVAILABLE, "not open\n"),
        }
    }

    async fn gate(&self) -> Option<Gate> {
        let opened = tokio::time::timeout(Duration::from_secs(5), self.shared.gate());
        opened.await.ok()?.ok()
    }
}

/// True when a request says that it brings JSON.
fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok()).unwrap_or_default();
    kind.trim_start().to_ascii_lowercase().starts_with("application/json")
}

fn is_json_text(bytes: &[u8]) -> bool {
    serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok()
}

/// What is sent as JSON and is none.
fn broken_json() -> HttpAnswer {
    let error = serde_json::json!({"code": -32700, "message": "the body is not JSON"});
    let text = serde_json::json!({"jsonrpc": "2.0", "id": null, "error": error}).to_string();
    let mut answer = text_answer(StatusCode::BAD_REQUEST, &text);
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}

/// The request with its whole body, which has a bounded size and comes in bounded time.
async fn received(request: Request<Incoming>) -> Result<Request<Full<Bytes>>, HttpAnswer> {
    let (head, body) = request.into_parts();
    let body = Limited::new(body, MAX_BODY_BYTES).collect();
    let mut refusal = match tokio::time::timeout(BODY_TIMEOUT, body).await {
        Ok(Ok(body)) => return Ok(Request::from_parts(head, Full::new(body.to_bytes()))),
        Ok(Err(err)) if err.is::<LengthLimitError>() => {
            text_answer(StatusCode::PAYLOAD_TOO_LARGE, "this request is too large\n")
        }
        Ok(Err(_)) => text_answer(StatusCode::BAD_REQUEST, "the request was not sent whole\n"),
        Err(_elapsed) => text_answer(StatusCode::REQUEST_TIMEOUT, "the request came too slowly\n"),
    };
    // What comes after it is the rest of a request that nobody reads.
    refusal.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    Err(refusal)
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

fn text_answer(status: StatusCode, text: &str) -> HttpAnswer {
    let body = Full::new(Bytes::copy_from_slice(text.as_bytes())).boxed();
    let mut answer = Response::new(body);
    *answer.status_mut() = status;
    let plain = HeaderValue::from_static("text/plain; charset=utf-8");
    answer.headers_mut().insert(CONTENT_TYPE, plain);
    answer
}
