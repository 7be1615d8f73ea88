//! The proxy through which a guarded agent asks its model: a token comes in, the key goes out.
//!
//! It listens on the loopback of this machine and hands on what shows the token, to one service and
//! no other; what a live agent asks of our own tools goes to them. The key is known here alone.

use std::{io, net::Ipv4Addr, sync::Arc, time::Duration};

use eclusa_sandbox::proxy::ModelService;
use reqwest::{Client, Method, Response, header::HeaderMap, redirect::Policy};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream, tcp::OwnedReadHalf},
    sync::OnceCell,
    task::JoinHandle,
};
use url::Url;

use crate::guard::GUARD_TOOLS_PATH;

/// The longest request that is handed on.
const MAX_REQUEST: u64 = 64 << 20;
/// The longest head of one.
const MAX_HEAD: usize = 64 << 10;
/// How long a request may take to arrive.
const REQUEST_TIME: Duration = Duration::from_secs(60);
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
struct Upstream {
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

/// One request, read whole.
struct AgentRequest {
    method: Method,
    path: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

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
        let upstream = Arc::new(Upstream { client, model, tools, token: token.clone() });
        let failed = |err: io::Error| format!("the proxy of the model cannot be started: {err}");
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(failed)?;
        let service = ModelService {
            proxy: listener.local_addr().map_err(failed)?,
            host: url.host_str().unwrap_or_default().to_owned(),
            port: url.port_or_known_default().unwrap_or_default(),
        };
        let serving = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let upstream = upstream.clone();
                tokio::spawn(async move {
                    // An agent that goes away in the middle asks again, or gives up.
                    let _ = upstream.serve(stream).await;
                });
            }
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

impl Upstream {
    /// One request, one answer.
    async fn serve(&self, stream: TcpStream) -> io::Result<()> {
        let (read, mut write) = stream.into_split();
        let read = tokio::time::timeout(REQUEST_TIME, read_request(read)).await;
        let answer = match read {
            Ok(Ok(request)) if self.knows(&request) => self.hand_on(request).await,
            Ok(Ok(_)) => Err((403, "the token of this proxy is missing".to_owned())),
            Ok(Err(err)) => Err((400, err.to_string())),
            Err(_) => Err((408, "the request did not come in time".to_owned())),
        };
        let mut response = match answer {
            Ok(response) => response,
            Err((status, why)) => {
                let text = format!("eclusa: {why}\n");
                let head = format!(
                    "HTTP/1.1 {status} Refused\r\ncontent-type: text/plain\r\n\
                     content-length: {}\r\nconnection: close\r\n\r\n{text}",
                    text.len()
                );
                write.write_all(head.as_bytes()).await?;
                return write.shutdown().await;
            }
        };
        write.write_all(&head(&response)).await?;
        // Piece by piece: a model's answer is read while it is written.
        while let Some(piece) = response.chunk().await.map_err(io::Error::other)? {
            write.write_all(&piece).await?;
        }
        write.shutdown().await
    }

    fn knows(&self, request: &AgentRequest) -> bool {
        let mut headers = request.headers.iter();
        headers.any(|(name, value)| {
            let value = value.strip_prefix("Bearer ").unwrap_or(value);
            KEY_HEADERS.contains(&name.as_str()) && value == self.token
        })
    }

    async fn client(&self) -> Result<&Client, (u16, String)> {
        let make = || async {
            let client = eclusa_net::http_client().redirect(Policy::none());
            client.read_timeout(MAX_SILENCE).build()
        };
        let made = self.client.get_or_try_init(make).await;
        made.map_err(|err| (502, format!("no connection can be made: {err}")))
    }

    async fn hand_on(&self, request: AgentRequest) -> Result<Response, (u16, String)> {
        let path = request.path.as_str();
        let (destination, path) = match (&self.tools, path.strip_prefix(GUARD_TOOLS_PATH)) {
            (Some(tools), Some(rest)) if rest.is_empty() || rest.starts_with('?') => (tools, rest),
            _ => (&self.model, path),
        };
        let url = format!("{}{path}", destination.url);
        let mut sent = self.client().await?.request(request.method, url).body(request.body);
        let passed = |name: &str| !KEY_HEADERS.contains(&name) && !HOP_HEADERS.contains(&name);
        for (name, value) in request.headers.iter().filter(|(name, _)| passed(name)) {
            sent = sent.header(name, value);
        }
        let (name, key) = &destination.header;
        let answer = sent.header(*name, key).send().await;
        answer.map_err(|err| (502, format!("it cannot be reached: {}", err.without_url())))
    }
}

/// The head of an answer, without what was about the other connection.
fn head(response: &Response) -> Vec<u8> {
    let status = response.status();
    let mut head = format!("HTTP/1.1 {} \r\n", status.as_u16()).into_bytes();
    let headers: &HeaderMap = response.headers();
    for (name, value) in headers {
        if !HOP_HEADERS.contains(&name.as_str()) {
            head.extend_from_slice(name.as_str().as_bytes());
            head.extend_from_slice(b": ");
            head.extend_from_slice(value.as_bytes());
            head.extend_from_slice(b"\r\n");
        }
    }
    head.extend_from_slice(b"connection: close\r\n\r\n");
    head
}

/// Reads a request whole.
async fn read_request(read: OwnedReadHalf) -> io::Result<AgentRequest> {
    let bad = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
    let mut read = BufReader::new(read).take(MAX_REQUEST);
    let mut line = String::new();
    read.read_line(&mut line).await?;
    let mut words = line.split_whitespace();
    let method = words.next().and_then(|it| it.parse().ok()).ok_or_else(|| bad("no method"))?;
    let path = words.next().unwrap_or_default().to_owned();
    // The service is the only host, and its path the only beginning.
    let climbs = path.split(['/', '?']).any(|it| it == ".." || it.eq_ignore_ascii_case("%2e%2e"));
    if !path.starts_with('/') || path.starts_with("//") || climbs || path.contains('\\') {
        return Err(bad("no path of the service"));
    }
    let (mut headers, mut length, mut chunked, mut size) = (Vec::new(), 0_u64, false, 0);
    loop {
        line.clear();
        size += read.read_line(&mut line).await?;
        if size > MAX_HEAD {
            return Err(bad("the head is too long"));
        }
        let header = line.trim_end();
        if header.is_empty() {
            break;
        }
        let (name, value) = header.split_once(':').ok_or_else(|| bad("a header is none"))?;
        let (name, value) = (name.to_ascii_lowercase(), value.trim());
        match name.as_str() {
            "content-length" => length = value.parse().map_err(|_| bad("no length"))?,
            "transfer-encoding" => chunked = value.eq_ignore_ascii_case("chunked"),
            _ => headers.push((name, value.to_owned())),
        }
    }
    let mut body = Vec::new();
    if !chunked {
        (&mut read).take(length).read_to_end(&mut body).await?;
    }
    while chunked {
        line.clear();
        read.read_line(&mut line).await?;
        let size = line.split(';').next().unwrap_or_default().trim();
        let size = u64::from_str_radix(size, 16).map_err(|_| bad("a chunk has no size"))?;
        let had = body.len() as u64;
        (&mut read).take(size).read_to_end(&mut body).await?;
        if body.len() as u64 - had != size {
            return Err(bad("it is cut short"));
        }
        line.clear();
        read.read_line(&mut line).await?;
        chunked = size > 0;
    }
    if body.len() as u64 >= MAX_REQUEST || (length > 0 && body.len() as u64 != length) {
        return Err(bad("it is cut short, or longer than 64 MB"));
    }
    Ok(AgentRequest { method, path, headers, body })
}
