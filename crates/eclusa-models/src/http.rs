//! A model at an address: one request, its stream read as it comes, and what a failure means.

use std::{sync::Arc, time::Duration};

use futures::future::BoxFuture;
use reqwest::{Client, Response, StatusCode, Url, redirect::Policy};
use serde_json::Value;

use crate::{
    model::{Delta, Model, ModelError, ModelProfile, ModelReply, ModelRequest},
    wire::{self, WireCache, WireSettings},
};

mod reply_reader;
pub(crate) mod sse;

pub use reply_reader::ReplyReader;

/// So long nothing may come.
const MAX_SILENCE: Duration = Duration::from_secs(120);
/// So long a connection may take.
const MAX_CONNECT: Duration = Duration::from_secs(20);
/// So much of an error is read.
const MAX_ERROR: usize = 16 << 10;
/// So much of an error is told.
const MAX_MESSAGE: usize = 300;

/// A model at an address.
pub struct HttpModel {
    profile: ModelProfile,
    settings: WireSettings,
    address: Url,
    client: Client,
    /// Goes to the host of the address and nowhere else; in no record and no transcript.
    key: Option<Arc<str>>,
    cache: WireCache,
}

impl HttpModel {
    /// The model that these settings describe. The error says what is wrong with the address.
    pub fn new(settings: WireSettings, key: Option<Arc<str>>) -> Result<HttpModel, String> {
        let base = settings.url.trim_end_matches('/');
        // People copy addresses with the version in them.
        let base = base.strip_suffix("/v1").unwrap_or(base);
        let whole = format!("{base}{}", wire::path(settings.wire, &settings.model));
        let address = checked(&whole)?;
        let client = eclusa_net::http_client()
            .redirect(Policy::none())
            .connect_timeout(MAX_CONNECT)
            .no_proxy()
            .build()
            .map_err(|err| format!("no connection can be made: {err}"))?;
        let host = address.host_str().unwrap_or_default();
        let host = match address.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        };
        let profile = ModelProfile {
            name: settings.name.clone(),
            model: settings.model.clone(),
            wire: settings.wire.as_str(),
            host,
            declares: settings.native.then_some(settings.wire),
            window: settings.window,
            output: settings.output,
            images: settings.images,
            price: settings.price.clone(),
        };
        Ok(HttpModel { profile, settings, address, client, key, cache: WireCache::default() })
    }

    async fn stream(
        &self,
        body: Vec<u8>,
        hear: &mut (dyn FnMut(Delta) + Send),
    ) -> Result<ModelReply, ModelError> {
        let mut request = self
            .client
            .post(self.address.clone())
            .header("content-type", "application/json")
            .header("accept", "text/event-stream");
        for (name, value) in wire::headers(self.settings.wire, self.key.as_deref()) {
            request = request.header(name, value);
        }
        let sending = tokio::time::timeout(MAX_SILENCE, request.body(body).send());
        let mut response = match sending.await {
            Ok(Ok(response)) => response,
            Ok(Err(err)) => return Err(unreachable(&self.profile.host, &err)),
            Err(_) => return Err(silent()),
        };
        if !response.status().is_success() {
            return Err(refused(response, &self.profile.host).await);
        }
        let mut reply = ReplyReader::new(&self.settings);
        loop {
            let chunk = match tokio::time::timeout(MAX_SILENCE, response.chunk()).await {
                Ok(Ok(Some(chunk))) => chunk,
                Ok(Ok(None)) => return reply.finish(hear),
                Ok(Err(err)) => return Err(unreachable(&self.profile.host, &err)),
                Err(_) => return Err(silent()),
            };
            reply.push(&chunk, hear)?;
        }
    }
}

impl Model for HttpModel {
    fn profile(&self) -> &ModelProfile {
        &self.profile
    }

    fn body(&self, request: &ModelRequest) -> Vec<u8> {
        wire::body(&self.settings, request, &self.cache)
    }

    fn ask<'a>(
        &'a self,
        body: Vec<u8>,
        hear: &'a mut (dyn FnMut(Delta) + Send),
    ) -> BoxFuture<'a, Result<ModelReply, ModelError>> {
        Box::pin(self.stream(body, hear))
    }
}

/// An address that a key may be sent to: encrypted, or on this machine.
fn checked(address: &str) -> Result<Url, String> {
    let url = Url::parse(address).map_err(|err| format!("`{address}` is not an address: {err}"))?;
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    let here =
        host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|it| it.is_loopback());
    match url.scheme() {
        "https" => Ok(url),
        "http" if here => Ok(url),
        _ => Err(format!("`{address}` is not encrypted: use https, or http on this machine")),
    }
}

fn silent() -> ModelError {
    ModelError::retry(format!("the server said nothing for {} s", MAX_SILENCE.as_secs()), None)
}

fn unreachable(host: &str, err: &reqwest::Error) -> ModelError {
    let mut what: &dyn std::error::Error = err;
    while let Some(source) = what.source() {
        what = source;
    }
    ModelError::retry(format!("the connection to {host} failed: {what}"), None)
}

/// What a status other than success means.
async fn refused(mut response: Response, host: &str) -> ModelError {
    let status = response.status();
    let after = wait(&response);
    let mut body = Vec::new();
    while let Ok(Ok(Some(chunk))) = tokio::time::timeout(MAX_SILENCE, response.chunk()).await {
        body.extend_from_slice(&chunk);
        if body.len() > MAX_ERROR {
            break;
        }
    }
    meaning(status, &String::from_utf8_lossy(&body), after, host)
}

fn meaning(status: StatusCode, body: &str, after: Option<Duration>, host: &str) -> ModelError {
    let what = match error_message(body) {
        said if said.is_empty() => format!("{host} answered {status}"),
        said => format!("{host} answered {status}: {said}"),
    };
    let lower = body.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|it| lower.contains(it));
    match status.as_u16() {
        400 if wire::says_too_long(body) => ModelError::too_long(what),
        413 => ModelError::too_long(what),
        429 if has(&["insufficient_quota", "billing", "credit balance"]) => ModelError::fatal(what),
        408 | 409 | 429 | 500..=599 => ModelError::retry(what, after),
        401 | 403 => ModelError::fatal(what + "; check the key of this model"),
        404 => ModelError::fatal(what + "; check `model` and `url` of this model"),
        _ => ModelError::fatal(what),
    }
}

/// What a server says of a failure, in one line. Pages of those who stand before it say nothing.
fn error_message(body: &str) -> String {
    let value: Value = serde_json::from_str(body).unwrap_or_default();
    let value = value.get(0).unwrap_or(&value);
    let error = value.get("error").unwrap_or(value);
    let message = error.as_str().or_else(|| error.get("message")?.as_str());
    let text = match message {
        Some(message) => message,
        None if body.trim_start().starts_with('<') => "",
        None => body,
    };
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(MAX_MESSAGE).collect()
}

/// How long the server asks to wait.
fn wait(response: &Response) -> Option<Duration> {
    let number = |name: &str| {
        response
            .headers()
            .get(name)?
            .to_str()
            .ok()?
            .trim()
            .parse::<f64>()
            .ok()
            .filter(|it| *it >= 0.0 && *it < 1e9)
    };
    let ms = number("retry-after-ms").map(|it| Duration::from_secs_f64(it / 1_000.0));
    ms.or_else(|| number("retry-after").map(Duration::from_secs_f64))
}

#[cfg(test)]
mod tests;
