//! A new key of a person: made in the browser with an invite, and kept until somebody signs it into the people document.
//! Until then it opens nothing.

use eclusa::audit::{Clock as _, SystemClock};
use eclusa_approvals::web::{NewKey, Registration};
use eclusa_fleet::{Digest, SignedDocument, join_statement};
use hyper::{Request, StatusCode, body::Incoming, header::ORIGIN};
use serde::Deserialize;
use serde_json::json;

use super::{body, session::in_time};
use crate::{
    http::{Answer, HttpRefusal, json},
    server::FleetServer,
    store::pending_keys,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Join {
    invite: SignedDocument,
    secret: String,
    expires: u64,
    /// A passkey, or the public part of a key of the browser and its signature.
    #[serde(default)]
    passkey: Option<Registration>,
    #[serde(default)]
    public: String,
    #[serde(default)]
    signature: String,
}

pub(super) async fn join(
    server: &FleetServer,
    request: Request<Incoming>,
) -> Result<Answer, HttpRefusal> {
    let origin = request.headers().get(ORIGIN).and_then(|it| it.to_str().ok());
    let origin = origin.unwrap_or_default().to_owned();
    let given: Join = body(request).await?;
    let now = SystemClock.unix_ms();
    in_time(given.expires, now)?;
    let refused = |why: &str| match server.page.may_fail() {
        true => HttpRefusal::new(StatusCode::FORBIDDEN, why),
        false => HttpRefusal::new(StatusCode::TOO_MANY_REQUESTS, "too many tries; wait a minute"),
    };
    let invite = server.documents().held.check_invite(&given.invite, now);
    let invite = invite.map_err(|err| refused(&err.to_string()))?;
    let person = invite.person().ok_or_else(|| {
        refused("the invite is for a machine; `eclusa fleet invite --person NAME` makes one for a person")
    })?;
    if Digest::compute(given.secret.as_bytes()) != invite.secret {
        return Err(refused("the secret of the invite is another one; open the whole link"));
    }
    let new = match given.passkey {
        Some(passkey) => NewKey::Passkey(passkey),
        None => NewKey::Browser { public: given.public, signature: given.signature },
    };
    let text = join_statement(&server.anchor.name, &invite.id, person, given.expires);
    let key = new.check(&text, &origin, now).ok_or_else(|| {
        refused("the key was not made here and now, or did not verify its person")
    })?;
    if !pending_keys::keep(&server.database, (&invite, person), &key).await? {
        return Err(refused("the invite was used as often as it may be; ask for another one"));
    }
    let digest = Digest::compute(key.public.as_bytes()).to_string();
    Ok(json(StatusCode::OK, &json!({"person": person, "digest": digest})))
}
