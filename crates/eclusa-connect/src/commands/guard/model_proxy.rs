//! The proxy through which a guarded agent asks its model: a token comes in, the key goes out.
//!
//! It listens on the loopback of this machine and hands on what shows the token, to one service and
//! no other; what a live agent asks of our own tools goes to them. The key is known here alone.

use std::{io, net::Ipv4Addr, sync::Arc, time::Duration};

use eclusa_sandbox::proxy::ModelService;
use hyper::{Request, StatusCode, body::Incoming, header::HeaderMap};
use reqwest::{Client, Response, redirect::Policy};
use tokio::{net::TcpListener, sync::OnceCell, task::JoinHandle};
use url::Url;

use crate::{
    commands::loopback::{self, LoopbackResponse},
    guard::GUARD_TOOLS_PATH,
};

/// The longest request that is handed on.
const MAX_REQUEST: usize = 64 << 20;
/// How long the service may be silent.
const MAX_SILENCE: Duration = Duration::from_secs(600);

/// Headers in which services take keys: none of the agent's is handed on.
const KEY_HEADERS: [&str; 3] = ["x-api-key", "authorization", "x-goog-api-key"];
/// Headers of one connection.
const HOP_HEADERS: [&str; 6] =
    ["connection", "content-length", "host", "keep-alive", "transfer-encoding", "upgrade"];

/// Serves until it is dropped.
pub(super) struct ModelProxy {
    service: ModelService,
    token: String,
    serving: JoinHandle<()>,
}

/// Where requests go.
struct Destinations {
    /// Made by the first request: it reads every certificate that the machine trusts, and the agent
    /// need not wait for that.
    client: OnceCell<Client>,
    model: Destination,
    /// Our own tools, for an agent that has them.
    tools: Option<Destination>,
    token: String,
}

/// A service, and the header that it knows us by.
pub(super) struct Destination {
    /// Without a slash at its end.
    pub(super) url: String,
    pub(super) header: (&'static str, String),
}

/// Why a request is not handed on.
type HttpRefusal = (StatusCode, String);

impl ModelProxy {
    /// Starts a proxy of a service. The error says what is wrong with its address.
    pub(super) async fn open(
        service: &str,
        (name, before): (&'static str, &'static str),
        key: &str,
        token: String,
        tools: Option<Destination>,
    ) -> Result<ModelProxy, String> {
        let url: Url = service.parse().map_err(|err| format!("it is no address: {err}"))?;
        let local =
            ["localhost", "127.0.0.1", "[::1]"].contains(&url.host_str().unwrap_or_default());
        if url.scheme() != "https" && !(url.scheme() == "http" && local) {
            return Err("http is for services on this machine; use https".to_owned());
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err("it has more than a host and a path".to_owned());
        }
        let client = OnceCell::new();
        let header = (name, format!("{before}{key}"));
        let model = Destination { url: url.as_str().trim_end_matches('/').to_owned(), header };
        let destinations = Arc::new(Destinations { client, model, tools, token: token.clone() });
        let failed = |err: io::Error| format!("the proxy of the model cannot be started: {err}");
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(failed)?;
        let service = ModelService {
            proxy: listener.local_addr().map_err(failed)?,
            host: url.host_str().unwrap_or_default().to_owned(),
            port: url.port_or_known_default().unwrap_or_default(),
        };
        let serving = loopback::serve(listener, move |request| {
            let destinations = destinations.clone();
            async move { destinations.answer(request).await }
        });
        Ok(ModelProxy { service, token, serving })
    }

    pub(super) fn service(&self) -> &ModelService {
        &self.service
    }

    /// What the agent has in the place of the key.
    pub(super) fn token(&self) -> &str {
        &self.token
    }
}

impl Drop for ModelProxy {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Destinations {
    async fn answer(&self, request: Request<Incoming>) -> LoopbackResponse {
        match self.hand_on(request).await {
            Ok(response) => loopback::pass_on(response, &HOP_HEADERS),
            Err((status, why)) => loopback::text(status, "text/plain", format!("eclusa: {why}\n")),
        }
    }

    fn knows(&self, headers: &HeaderMap) -> bool {
        let mut keys = KEY_HEADERS.iter().flat_map(|it| headers.get_all(*it));
        keys.any(|value| {
            let value = value.as_bytes();
            value.strip_prefix(b"Bearer ").unwrap_or(value) == self.token.as_bytes()
        })
    }

    async fn client(&self) -> Result<&Client, HttpRefusal> {
        let make = || async {
            let client = eclusa_net::http_client().redirect(Policy::none());
            client.read_timeout(MAX_SILENCE).build()
        };
        let made = self.client.get_or_try_init(make).await;
        made.map_err(|err| (StatusCode::BAD_GATEWAY, format!("no connection can be made: {err}")))
    }

    async fn hand_on(&self, request: Request<Incoming>) -> Result<Response, HttpRefusal> {
        let (head, body) = request.into_parts();
        let path = head.uri.path_and_query().map(|it| it.as_str()).unwrap_or_default();
        if head.uri.authority().is_some() || !is_of_service(path) {
            return Err((StatusCode::BAD_REQUEST, "no path of the service".to_owned()));
        }
        let body = loopback::read_body(body, MAX_REQUEST).await?;
        if !self.knows(&head.headers) {
            return Err((StatusCode::FORBIDDEN, "the token of this proxy is missing".to_owned()));
        }
        let (destination, path) = match (&self.tools, path.strip_prefix(GUARD_TOOLS_PATH)) {
            (Some(tools), Some(rest)) if rest.is_empty() || rest.starts_with('?') => (tools, rest),
            _ => (&self.model, path),
        };
        let mut headers = head.headers;
        for name in KEY_HEADERS.iter().chain(&HOP_HEADERS) {
            headers.remove(*name);
        }
        let sent = self.client().await?.request(head.method, format!("{}{path}", destination.url));
        let (name, key) = &destination.header;
        let answer = sent.headers(headers).header(*name, key).body(body).send().await;
        answer.map_err(|err| {
            (StatusCode::BAD_GATEWAY, format!("it cannot be reached: {}", err.without_url()))
        })
    }
}

/// True for a path below the service's own: the service is the only host, and its path the only
/// beginning.
fn is_of_service(path: &str) -> bool {
    // `.` can be written as `%2e`, `/` as `%2f`: whoever reads them on the way is to see none.
    let plain =
        path.to_ascii_lowercase().replace("%2e", ".").replace("%2f", "/").replace("%5c", "\\");
    let climbs = plain.split(['/', '?', '\\']).any(|it| it == "..");
    path.starts_with('/') && !path.starts_with("//") && !climbs && !path.contains('\\')
}

#[cfg(test)]
mod tests;
