//! Requests to the server of the fleet, signed with this machine's key.

use std::time::Duration;

use eclusa::audit::{Clock as _, Head, SystemClock};
use eclusa_fleet::{
    DocumentBundle, MachineKey, RequestFailure, RequestLine, TrailWire,
    wire::{ChainHead, ChainRequest, ChainState, RefusedRequest},
};
use eclusa_net::http_client;
use reqwest::{Client, Method, Url, redirect};
use serde::{Serialize, de::DeserializeOwned};

use crate::{failure::Failure, reviewers::service::chain};

/// How long a request may take that does not wait for news.
pub(super) const REQUEST_TIME: Duration = Duration::from_secs(10);

/// The server, as this machine speaks to it.
pub(super) struct ServerClient {
    http: Client,
    server: Url,
    fleet: String,
    key: MachineKey,
    machine: u32,
    /// How far the server's clock is ahead, in milliseconds.
    pub(super) offset: i64,
}

/// An address that nobody on the way can read along or change.
pub(super) fn safe_address(text: &str) -> Result<Url, String> {
    let url: Url = text.parse().map_err(|_| "it is not an address".to_owned())?;
    let here = ["localhost", "127.0.0.1", "[::1]"];
    let local = url.host_str().is_some_and(|it| here.contains(&it));
    match url.scheme() == "https" || (url.scheme() == "http" && local) {
        true => Ok(url),
        false => Err("use https, or http to this machine".to_owned()),
    }
}

/// A client that follows no redirects.
pub(super) fn plain_client() -> Result<Client, String> {
    http_client()
        .redirect(redirect::Policy::none())
        .user_agent(concat!("eclusa/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|err| chain(&err))
}

impl ServerClient {
    pub(super) fn new(
        server: &str,
        fleet: &str,
        key: MachineKey,
        (machine, offset): (u32, i64),
    ) -> Result<ServerClient, Failure> {
        let failed =
            |why: String| Failure::failed(format!("cannot use the server `{server}`: {why}"));
        let (server, http) =
            (safe_address(server).map_err(failed)?, plain_client().map_err(failed)?);
        Ok(ServerClient { http, server, fleet: fleet.to_owned(), key, machine, offset })
    }

    /// Sends JSON.
    pub(super) async fn post<T: DeserializeOwned>(
        &mut self,
        path: &str,
        body: &impl Serialize,
        time: Duration,
    ) -> Result<T, RequestFailure> {
        let body = serde_json::to_vec(body).unwrap_or_default();
        self.send(Method::POST, path, body, time).await
    }

    /// Sends a request. Where this machine's clock is off, the server's time is taken and it is sent once more.
    pub(super) async fn send<T: DeserializeOwned>(
        &mut self,
        method: Method,
        path: &str,
        body: Vec<u8>,
        time: Duration,
    ) -> Result<T, RequestFailure> {
        let answered = self.send_once(method.clone(), path, body.clone(), time).await;
        let Err(RequestFailure::Refused {
            status: 401,
            said: RefusedRequest { now: Some(now), .. },
        }) = answered
        else {
            return answered;
        };
        let (server, own) = (i64::try_from(now), i64::try_from(SystemClock.unix_ms()));
        self.offset = server.unwrap_or_default().saturating_sub(own.unwrap_or_default());
        self.send_once(method, path, body, time).await
    }

    async fn send_once<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Vec<u8>,
        time: Duration,
    ) -> Result<T, RequestFailure> {
        let later = |err: &reqwest::Error| RequestFailure::Later {
            why: format!("the server at {} is not reached: {}", self.server, chain(err)),
            timed_out: err.is_timeout(),
        };
        let line = RequestLine { fleet: &self.fleet, method: method.as_str(), path, body: &body };
        let at = SystemClock.unix_ms().saturating_add_signed(self.offset);
        let header = line.sign(&self.key, self.machine, at);
        let unusable = |err: &dyn std::fmt::Display| RequestFailure::Later {
            why: format!("the server at {} answers what cannot be read: {err}", self.server),
            timed_out: false,
        };
        let url = self.server.join(path).map_err(|err| unusable(&err))?;
        let request = self.http.request(method, url).timeout(time).body(body);
        let sent = request.header("authorization", header).send().await;
        let mut response = sent.map_err(|err| later(&err))?;
        let status = response.status();
        let mut answer = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|err| later(&err))? {
            answer.extend_from_slice(&chunk);
            if answer.len() > DocumentBundle::MAX_BYTES * 2 {
                return Err(unusable(&"it is too long"));
            }
        }
        if status.is_success() {
            return serde_json::from_slice(&answer).map_err(|err| unusable(&err));
        }
        let said: RefusedRequest = serde_json::from_slice(&answer).unwrap_or_default();
        match status.is_server_error() || status.as_u16() == 408 || status.as_u16() == 429 {
            true => Err(RequestFailure::Later {
                why: format!("the server at {} answered {status}: {}", self.server, said.error),
                timed_out: false,
            }),
            false => Err(RequestFailure::Refused { status: status.as_u16(), said }),
        }
    }
}

impl TrailWire for ServerClient {
    async fn begin(&mut self, request: &ChainRequest) -> Result<ChainState, RequestFailure> {
        self.post("/v1/chains", request, REQUEST_TIME).await
    }

    async fn ship(
        &mut self,
        chain: u32,
        before: Head,
        packed: Vec<u8>,
    ) -> Result<ChainHead, RequestFailure> {
        let path =
            format!("/v1/records?chain={chain}&before={}&previous={}", before.seq, before.hash);
        self.send(Method::POST, &path, packed, REQUEST_TIME).await
    }
}

/// Hands documents to a server, which needs no key for that: they carry their own signatures.
pub async fn publish(server: &str, documents: &DocumentBundle) -> Result<(), Failure> {
    let failed = |why: String| Failure::failed(format!("cannot publish at `{server}`: {why}"));
    let url =
        safe_address(server).and_then(|it| it.join("/v1/documents").map_err(|err| err.to_string()));
    let request = plain_client().map_err(failed)?.post(url.map_err(failed)?).timeout(REQUEST_TIME);
    let response = request.body(documents.to_text()).send().await;
    let response = response.map_err(|err| failed(chain(&err)))?;
    let status = response.status();
    let body = response.bytes().await.map_err(|err| failed(chain(&err)))?;
    if !status.is_success() {
        let said: RefusedRequest = serde_json::from_slice(&body).unwrap_or_default();
        return Err(failed(format!("{} ({status})", said.error)));
    }
    Ok(())
}
