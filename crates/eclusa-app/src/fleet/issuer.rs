//! Platforms that issue tokens to jobs: a token is asked for, and the keys that sign tokens are fetched.

use std::time::Duration;

use serde::Deserialize;

use super::client::{plain_client, safe_address};
use crate::{failure::Failure, reviewers::service::chain};

/// How long a platform may take.
const TIME: Duration = Duration::from_secs(10);

/// The longest answer that is read, in bytes.
const MAX_ANSWER: usize = 1 << 20;

#[derive(Deserialize)]
struct IssuerConfiguration {
    issuer: String,
    jwks_uri: String,
}

#[derive(Deserialize)]
struct IssuedToken {
    value: String,
}

/// The keys that an issuer publishes, as text, over HTTPS or from this machine.
pub async fn issuer_keys(issuer: &str) -> Result<String, String> {
    let place = format!("{}/.well-known/openid-configuration", issuer.trim_end_matches('/'));
    let about = get(&place, None).await?;
    let about: IssuerConfiguration =
        serde_json::from_str(&about).map_err(|err| format!("`{place}` cannot be read: {err}"))?;
    if about.issuer != issuer {
        return Err(format!("`{place}` is of the issuer `{}`", about.issuer.escape_debug()));
    }
    get(&about.jwks_uri, None).await
}

/// Asks the platform of this job for a token, as GitHub Actions hands them out.
pub async fn ask_for_token(url: &str, bearer: &str, audience: &str) -> Result<String, Failure> {
    let failed = |why: String| Failure::failed(format!("the platform gives no token: {why}"));
    let mut url = safe_address(url).map_err(failed)?;
    url.query_pairs_mut().append_pair("audience", audience);
    let text = get(url.as_str(), Some(bearer)).await.map_err(failed)?;
    let issued: IssuedToken =
        serde_json::from_str(&text).map_err(|_| failed("its answer cannot be read".to_owned()))?;
    Ok(issued.value)
}

async fn get(url: &str, bearer: Option<&str>) -> Result<String, String> {
    let mut request = plain_client()?.get(safe_address(url)?).timeout(TIME);
    if let Some(bearer) = bearer {
        request = request.bearer_auth(bearer);
    }
    let mut response = request.send().await.map_err(|err| chain(&err))?;
    if !response.status().is_success() {
        return Err(format!("it answered {}", response.status()));
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|err| chain(&err))? {
        body.extend_from_slice(&chunk);
        if body.len() > MAX_ANSWER {
            return Err("its answer is too long".to_owned());
        }
    }
    String::from_utf8(body).map_err(|_| "its answer is not text".to_owned())
}
