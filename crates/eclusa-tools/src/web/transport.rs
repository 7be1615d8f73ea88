//! One request to one address that was checked, and nothing beyond it.

use std::{error::Error, net::SocketAddr, sync::Arc, time::Duration};

use futures::future::BoxFuture;
use reqwest::{
    Client, Response,
    dns::{Addrs, Name, Resolve, Resolving},
    header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE, HeaderName, LOCATION},
    redirect::Policy,
};

use super::{Address, Checked, Kind, WebError};

/// What a server answered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WebAnswer {
    /// The status.
    pub status: u16,
    /// Where it redirects to, if it does.
    pub location: Option<String>,
    /// What it says the body is.
    pub content_type: Option<String>,
    /// How long it says the body is, as it is sent.
    pub length: Option<u64>,
    /// The body, unpacked, as far as it was wanted.
    pub body: Vec<u8>,
    /// True if there was more.
    pub cut: bool,
}

/// Asks a server.
pub trait Transport: Send + Sync {
    /// Sends one request and follows nothing. Connects to the places that were checked only,
    /// and reads at most `most` bytes, counted after unpacking.
    fn get<'a>(
        &'a self,
        to: &'a Checked,
        most: usize,
    ) -> BoxFuture<'a, Result<WebAnswer, WebError>>;
}

/// Asks a server over HTTP, without proxies, cookies or a connection kept for later.
#[derive(Debug, Clone, Copy, Default)]
pub struct HttpTransport;

impl Transport for HttpTransport {
    fn get<'a>(
        &'a self,
        to: &'a Checked,
        most: usize,
    ) -> BoxFuture<'a, Result<WebAnswer, WebError>> {
        Box::pin(async move {
            let address = to.address();
            let failed = |err: reqwest::Error| failed(address, &err);
            let request = client(to).map_err(failed)?.get(address.url().clone());
            let accept = "text/html, text/markdown, text/plain;q=0.9, */*;q=0.5";
            let response = request.header(ACCEPT, accept).send().await.map_err(failed)?;
            let ours = |peer: SocketAddr| {
                let same = |place: &SocketAddr| {
                    place.ip().to_canonical() == peer.ip().to_canonical()
                        && place.port() == peer.port()
                };
                to.places().iter().any(same)
            };
            if !response.remote_addr().is_some_and(ours) {
                let why = "the connection went to an address that was not checked".to_owned();
                return Err(WebError::Failed { url: address.to_string(), why });
            }
            read(response, most).await.map_err(failed)
        })
    }
}

/// A client for one hop: it knows the checked places and no others.
fn client(to: &Checked) -> reqwest::Result<Client> {
    let name = to.address().host().to_string();
    let pinned = Pinned { name, places: to.places().to_vec() };
    let builder = eclusa_net::http_client()
        .user_agent(concat!("eclusa/", env!("CARGO_PKG_VERSION")))
        .dns_resolver(Arc::new(pinned))
        .redirect(Policy::none())
        .no_proxy()
        .referer(false)
        .pool_max_idle_per_host(0)
        .connect_timeout(Duration::from_secs(10));
    if to.address().encrypted() {
        builder.https_only(true).build()
    } else {
        // Nothing is encrypted here, so that no certificates need to be loaded.
        builder.tls_certs_only(Vec::new()).build()
    }
}

/// Answers with what was checked, and for this one name only.
struct Pinned {
    name: String,
    places: Vec<SocketAddr>,
}

impl Resolve for Pinned {
    fn resolve(&self, name: Name) -> Resolving {
        let answer: Result<Addrs, Box<dyn Error + Send + Sync>> = if name.as_str() == self.name {
            Ok(Box::new(self.places.clone().into_iter()))
        } else {
            Err("this name was not checked".into())
        };
        Box::pin(async move { answer })
    }
}

async fn read(mut response: Response, most: usize) -> reqwest::Result<WebAnswer> {
    let header = |name: HeaderName| {
        response
            .headers()
            .get(name)
            .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
    };
    let redirects = matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308);
    let mut answer = WebAnswer {
        status: response.status().as_u16(),
        location: header(LOCATION).filter(|_| redirects),
        content_type: header(CONTENT_TYPE),
        length: header(CONTENT_LENGTH).and_then(|length| length.parse().ok()),
        ..WebAnswer::default()
    };
    if answer.location.is_some() || Kind::of(answer.content_type.as_deref()) == Kind::Binary {
        return Ok(answer);
    }
    // The length that a server states is not believed, and what it packed counts unpacked.
    while let Some(chunk) = response.chunk().await? {
        let room = most.saturating_sub(answer.body.len());
        answer.body.extend_from_slice(chunk.get(..room).unwrap_or(&chunk));
        if chunk.len() > room {
            answer.cut = true;
            break;
        }
    }
    Ok(answer)
}

/// The innermost reason, without the address, which the message has already.
fn failed(address: &Address, err: &reqwest::Error) -> WebError {
    let mut why: &dyn Error = err;
    while let Some(source) = why.source() {
        why = source;
    }
    WebError::Failed { url: address.to_string(), why: why.to_string() }
}
