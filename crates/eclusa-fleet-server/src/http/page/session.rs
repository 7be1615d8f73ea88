//! Looking at the page: somebody signs with a key of the people document that they look, here and now, and gets a cookie
//! for it. The cookie reads; it answers nothing.

use std::time::Duration;

use eclusa::{
    Hash,
    audit::{Clock as _, SystemClock},
    random::random_name,
};
use eclusa_fleet::sign_in_statement;
use hyper::{
    HeaderMap, Request, StatusCode,
    body::Incoming,
    header::{COOKIE, HeaderValue, SET_COOKIE},
};
use serde::Deserialize;
use serde_json::json;

use super::body;
use crate::{
    http::{Answer, HttpRefusal, json, person},
    server::FleetServer,
    store::sessions::{self, PageSession},
};

/// How long somebody stays, in seconds.
const SESSION_TIME: u64 = 12 * 60 * 60;

/// The furthest that what is signed may reach into the future, in milliseconds.
pub(super) const MAX_AHEAD: u64 = 15 * 60 * 1_000;

/// So many random bytes has a cookie.
const TOKEN: usize = 24;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SignIn {
    fleet: String,
    origin: String,
    nonce: String,
    expires: u64,
    signature: String,
    #[serde(default)]
    passkey: Option<String>,
    #[serde(default)]
    key: String,
}

pub(super) async fn sign_in(
    server: &FleetServer,
    request: Request<Incoming>,
) -> Result<Answer, HttpRefusal> {
    let given: SignIn = body(request).await?;
    let now = SystemClock.unix_ms();
    in_time(given.expires, now)?;
    let refused = |why: &str| HttpRefusal::new(StatusCode::FORBIDDEN, why);
    // Signed for another server of other people it opens nothing here.
    if given.fleet != server.anchor.name || !server.page.origins.contains(&given.origin) {
        return Err(refused("this was signed for another page"));
    }
    let people = person::people(server, now)?;
    let text = sign_in_statement(&given.fleet, &given.origin, &given.nonce, given.expires);
    // Two authenticators may call their keys by one name.
    let keys: Vec<&str> = match &given.passkey {
        Some(credential) => people.passkeys(credential).map(|it| it.id.as_str()).collect(),
        None => vec![&given.key],
    };
    let signer = |key: &&str| {
        let (person, _) = people.signer(key, &text, &given.signature)?;
        Some(PageSession { person: person.to_owned(), key: (*key).to_owned() })
    };
    let session = keys.iter().find_map(signer).ok_or_else(|| match server.page.may_fail() {
        true => refused(
            "no key of the people document in force signed this: it waits to be signed into the document, was taken out of it, \
             or is another one",
        ),
        false => HttpRefusal::new(
            StatusCode::TOO_MANY_REQUESTS,
            "too many wrong signatures; wait a minute",
        ),
    })?;
    let token = random_name::<TOKEN>().map_err(|err| HttpRefusal::later(err.to_string()))?;
    let (id, proof) = (Hash::sha256(token.as_bytes()), Hash::sha256(text.as_bytes()));
    let hashes = (&id.as_bytes()[..], &proof.as_bytes()[..]);
    if !sessions::open(&server.database, hashes, &session, Duration::from_secs(SESSION_TIME))
        .await?
    {
        return Err(refused("this was signed to look once, and has been used"));
    }
    let (name, secure) = &server.page.cookie;
    let secure = if *secure { "; Secure" } else { "" };
    let cookie = format!(
        "{name}={token}; Path=/; HttpOnly; SameSite=Strict; Max-Age={SESSION_TIME}{secure}"
    );
    let mut answer = json(StatusCode::OK, &json!({"person": session.person}));
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        answer.headers_mut().insert(SET_COOKIE, cookie);
    }
    Ok(answer)
}

/// Whether what is signed is neither old nor for long.
pub(super) fn in_time(expires: u64, now: u64) -> Result<(), HttpRefusal> {
    match expires > now && expires <= now.saturating_add(MAX_AHEAD) {
        true => Ok(()),
        false => Err(HttpRefusal::new(
            StatusCode::FORBIDDEN,
            "what was signed is too old, or the clock of the browser is wrong",
        )),
    }
}

pub(super) async fn sign_out(
    server: &FleetServer,
    request: &Request<Incoming>,
) -> Result<Answer, HttpRefusal> {
    for id in ids(server, request.headers()) {
        sessions::close(&server.database, id.as_bytes()).await?;
    }
    Ok(json(StatusCode::OK, &json!({"signed_out": true})))
}

/// Who sends this request. Another port of this host can set a second cookie, but not make one that counts.
pub(super) async fn find(
    server: &FleetServer,
    headers: &HeaderMap,
) -> Result<Option<PageSession>, HttpRefusal> {
    for id in ids(server, headers) {
        if let Some(session) = sessions::find(&server.database, id.as_bytes()).await? {
            return Ok(Some(session));
        }
    }
    Ok(None)
}

/// The digests of the cookies that could be ours, a few at most.
fn ids(server: &FleetServer, headers: &HeaderMap) -> Vec<Hash> {
    let name = server.page.cookie.0.as_str();
    let cookies = headers.get_all(COOKIE).iter().filter_map(|it| it.to_str().ok());
    let pairs = cookies.flat_map(|it| it.split(';')).filter_map(|it| it.trim().split_once('='));
    pairs.filter(|it| it.0 == name).take(4).map(|it| Hash::sha256(it.1.as_bytes())).collect()
}
