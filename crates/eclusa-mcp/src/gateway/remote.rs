//! A server at an address: HTTP, what we show it, and logging in.
//!
//! Nothing that a client showed us is passed on: a server gets the headers that the configuration
//! names, or a token that was issued for it alone (RFC 8707) and is kept by whoever keeps secrets.

use std::{collections::HashMap, io, sync::Arc, time::Duration};

use eclusa::settings::{Endpoint, ServerSettings};
use futures::future::BoxFuture;
use reqwest::{
    StatusCode,
    header::{ACCEPT, WWW_AUTHENTICATE},
};
use rmcp::{
    RoleClient,
    service::{
        ClientInitializeError, ClientLifecycleMode, RunningService, serve_client_with_lifecycle,
    },
    transport::{
        StreamableHttpClientTransport,
        auth::{
            AuthClient, AuthError, AuthorizationManager, AuthorizationRequest,
            AuthorizationSession, CredentialStore, StoredCredentials,
        },
        streamable_http_client::StreamableHttpClientTransportConfig,
    },
};
use serde_json::json;

use super::{
    bounded_http::BoundedHttpClient, client_handler::UpstreamHandler,
    ordered_transport::OrderedTransport, pipe_transport::LastError,
};
use crate::lines::MAX_LINE_BYTES;

/// How long a server may take to turn somebody away.
const CHALLENGE_TIMEOUT: Duration = Duration::from_secs(10);

/// How often it is looked whether somebody has logged in to a server that is down.
const LOGIN_LOOK: Duration = Duration::from_secs(1);

/// What servers at an address are shown, and where it is kept.
pub trait Credentials: Send + Sync + 'static {
    /// The value of an environment variable that the configuration names.
    fn variable(&self, name: &str) -> Option<String>;

    /// The token of a server, as it was kept.
    fn load(&self, server: &str) -> io::Result<Option<Vec<u8>>>;

    /// Keeps the token of a server, or forgets it.
    fn keep(&self, server: &str, token: Option<&[u8]>) -> io::Result<()>;
}

/// Connects to a server at an address.
pub(super) async fn connect(
    settings: &ServerSettings,
    keys: &Arc<dyn Credentials>,
    handler: UpstreamHandler,
    lifecycle: ClientLifecycleMode,
    last_error: &LastError,
) -> Result<RunningService<RoleClient, UpstreamHandler>, String> {
    let Endpoint::Url { url, headers } = &settings.reach else {
        return Err("it has no address".to_owned());
    };
    let mut config = StreamableHttpClientTransportConfig::with_uri(url.as_str());
    config.custom_headers = display(headers, &**keys)?;
    config.max_sse_event_size = MAX_LINE_BYTES;
    config.reinit_on_expired_session = true;
    let (http, ear) = (client()?, handler.upstream.clone());
    let http = BoundedHttpClient {
        http,
        name: settings.name.as_str().into(),
        last_error: last_error.clone(),
    };
    let serving: BoxFuture<'static, _> = match logged_in(settings, url, keys).await? {
        Some(manager) => {
            let client = AuthClient::new(http, manager);
            let transport = StreamableHttpClientTransport::with_client(client, config);
            let transport = OrderedTransport::new(transport, ear);
            Box::pin(serve_client_with_lifecycle(handler, transport, lifecycle))
        }
        None => {
            let transport = StreamableHttpClientTransport::with_client(http, config);
            let transport = OrderedTransport::new(transport, ear);
            Box::pin(serve_client_with_lifecycle(handler, transport, lifecycle))
        }
    };
    serving.await.map_err(|err: ClientInitializeError| {
        last_error.take().unwrap_or_else(|| format!("it cannot be reached: {err}"))
    })
}

/// Comes back once another token is kept for a server than before: somebody has logged in.
pub(super) async fn logged_in_anew(server: &str, keys: &dyn Credentials) {
    let kept = || keys.load(server).ok().flatten();
    let before = kept();
    while kept() == before {
        tokio::time::sleep(LOGIN_LOOK).await;
    }
}

/// A client that follows no redirect: what we show is for one server.
fn client() -> Result<reqwest::Client, String> {
    let client = eclusa_net::http_client()
        .redirect(reqwest::redirect::Policy::none())
        .user_agent(concat!("eclusa/", env!("CARGO_PKG_VERSION")))
        // An old connection whose last answer was not read to its end costs more than a new one.
        .pool_max_idle_per_host(0);
    client.build().map_err(|err| format!("there is no HTTP here: {err}"))
}

type Headers = HashMap<reqwest::header::HeaderName, reqwest::header::HeaderValue>;

/// The headers that the configuration names, with their values.
fn display(
    headers: &std::collections::BTreeMap<String, String>,
    keys: &dyn Credentials,
) -> Result<Headers, String> {
    let read = |(name, variable): (&String, &String)| {
        let value = keys.variable(variable).ok_or_else(|| {
            format!("the variable `{variable}` for its header `{name}` is not set")
        })?;
        let name = name.parse().map_err(|_| format!("`{name}` is not the name of a header"))?;
        let mut value = reqwest::header::HeaderValue::from_str(&value)
            .map_err(|_| format!("the value of the variable `{variable}` cannot be a header"))?;
        value.set_sensitive(true);
        Ok((name, value))
    };
    headers.iter().map(read).collect()
}

/// Whoever shows the token that was issued for this server, if there is one.
async fn logged_in(
    settings: &ServerSettings,
    url: &str,
    keys: &Arc<dyn Credentials>,
) -> Result<Option<AuthorizationManager>, String> {
    let kept = StoredToken { server: settings.name.clone(), keys: keys.clone() };
    if kept.keys.load(&kept.server).map_err(|err| format!("its token: {err}"))?.is_none() {
        return Ok(None);
    }
    let failed = |err: AuthError| format!("its token cannot be used: {err}");
    let mut manager = AuthorizationManager::new(url).await.map_err(failed)?;
    manager.set_credential_store(kept);
    let mut found = manager.resolve_metadata().await.map_err(failed)?;
    if !found.source.is_discovered() {
        // Some tell only whom they turn away.
        let challenge = challenge(url).await;
        let told = manager.resolve_metadata_from_challenge(challenge.as_deref()).await;
        found = told.map_err(failed)?;
    }
    manager.set_metadata(found.metadata);
    let usable = manager.initialize_from_store().await.map_err(failed)?;
    Ok(usable.then_some(manager))
}

/// What a server says to whom it turns away: who issues tokens for it, and for what. Some let
/// everybody in at first, and some know one era alone.
async fn challenge(url: &str) -> Option<String> {
    let version = "2026-07-28";
    let about = json!({
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let us = json!({"name": "eclusa", "version": env!("CARGO_PKG_VERSION")});
    let greeting = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": us});
    let http = client().ok()?;
    for (method, params) in [("tools/list", json!({"_meta": about})), ("initialize", greeting)] {
        let asks = json!({"jsonrpc": "2.0", "id": 0, "method": method, "params": params});
        let mut request = http.post(url).header(ACCEPT, "application/json, text/event-stream");
        if method != "initialize" {
            request = request.header("mcp-protocol-version", version).header("mcp-method", method);
        }
        let answer = request.json(&asks).timeout(CHALLENGE_TIMEOUT).send().await.ok()?;
        let turned_away = answer.status() == StatusCode::UNAUTHORIZED;
        if let Some(told) = answer.headers().get(WWW_AUTHENTICATE).filter(|_| turned_away) {
            return told.to_str().ok().map(str::to_owned);
        }
    }
    None
}

/// A login that waits for the person to come back from the browser.
pub struct Login {
    session: AuthorizationSession,
}

/// What a login is made with, where the server's own word is not enough.
#[derive(Debug, Default)]
pub struct LoginOptions {
    /// The client that a person has registered there, where programs cannot do that themselves.
    pub client: Option<String>,
    /// The secret of that client.
    pub secret: Option<String>,
    /// Further scopes that the token needs.
    pub scopes: Vec<String>,
}

impl Login {
    /// Finds out who issues tokens for this server, and registers with them. The person will come
    /// back to `redirect`, an address of this machine.
    pub async fn begin(
        settings: &ServerSettings,
        keys: Arc<dyn Credentials>,
        redirect: &str,
        terms: LoginOptions,
    ) -> Result<Login, String> {
        let Endpoint::Url { url, .. } = &settings.reach else {
            return Err(format!("`{}` is a program: it has no login", settings.name));
        };
        // The manager makes a client of its own.
        eclusa_net::choose_encryption();
        let failed = |err: AuthError| format!("`{url}` does not say how to log in: {err}");
        let mut manager = AuthorizationManager::new(url.as_str()).await.map_err(failed)?;
        let kept = StoredToken { server: settings.name.clone(), keys };
        let before = kept.load().await.ok().flatten().map(|it| it.granted_scopes);
        manager.set_credential_store(kept);
        let challenge = challenge(url).await;
        let found = manager.resolve_metadata_from_challenge(challenge.as_deref()).await;
        manager.set_metadata(found.map_err(failed)?.metadata);
        let mut request = AuthorizationRequest::new(redirect)
            .with_client_name("Eclusa")
            .with_initial_scope_selection();
        if !terms.scopes.is_empty() {
            let mut scopes = before.unwrap_or_default();
            scopes.extend(terms.scopes);
            scopes.sort();
            scopes.dedup();
            request = request.with_scopes(scopes);
        }
        (request.client_id, request.client_secret) = (terms.client, terms.secret);
        let session = AuthorizationSession::new(manager, request).await;
        let session = session.map_err(|(_, err)| format!("logging in failed: {err}"))?;
        Ok(Login { session })
    }

    /// Where the person logs in.
    pub fn address(&self) -> &str {
        self.session.get_authorization_url()
    }

    /// Ends the login with the address that the person came back to, and keeps the token.
    pub async fn end(self, came_back_to: &str) -> Result<(), String> {
        let ended = self.session.handle_callback_url(came_back_to).await;
        ended.map(drop).map_err(|err| format!("the login failed: {err}"))
    }
}

/// The token of one server, where secrets are kept.
struct StoredToken {
    server: String,
    keys: Arc<dyn Credentials>,
}

impl StoredToken {
    fn save_token(&self, token: Option<&[u8]>) -> Result<(), AuthError> {
        self.keys.keep(&self.server, token).map_err(unkept)
    }
}

fn unkept(err: impl std::fmt::Display) -> AuthError {
    AuthError::CredentialStoreError(err.to_string())
}

#[async_trait::async_trait]
impl CredentialStore for StoredToken {
    async fn load(&self) -> Result<Option<StoredCredentials>, AuthError> {
        let kept = self.keys.load(&self.server).map_err(unkept)?;
        kept.map(|it| serde_json::from_slice(&it).map_err(unkept)).transpose()
    }

    async fn save(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        self.save_token(Some(&serde_json::to_vec(&credentials).map_err(unkept)?))
    }

    async fn clear(&self) -> Result<(), AuthError> {
        self.save_token(None)
    }
}

#[cfg(test)]
mod tests;
