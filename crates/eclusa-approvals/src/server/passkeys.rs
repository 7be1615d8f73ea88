//! Registering a passkey. The first is vouched for by the key of the paired browser; every further one
//! by a passkey that is there, because a key that a browser keeps must not make a stronger one.

use hyper::{
    Request, StatusCode,
    body::Incoming,
    header::{HeaderValue, ORIGIN},
};
use serde::Deserialize;
use serde_json::json;

use super::{
    Answer, PageServer, Session,
    answers::{done, now},
    text,
};
use crate::{
    people::{KeyKind, PersonKey},
    proof::{Registration, check_new, passkey_statement, register_statement},
};

/// So many a person may have.
const MAX_PASSKEYS: usize = 20;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewPasskey {
    passkey: Registration,
    expires: u64,
    /// The passkey that vouches for it, where the person has one.
    #[serde(default)]
    by: Option<String>,
    signature: String,
}

impl PageServer {
    /// Registers a passkey for the person of this session.
    pub(super) async fn register_passkey(
        &self,
        request: Request<Incoming>,
        session: &Session,
    ) -> Answer {
        let origin = request.headers().get(ORIGIN).map(HeaderValue::to_str);
        let Some(Ok(origin)) = origin.map(|it| it.map(str::to_owned)) else {
            return text(StatusCode::FORBIDDEN, "only our own page may do this");
        };
        let new: NewPasskey = match self.json(request).await {
            Ok(new) => new,
            Err(refusal) => return refusal,
        };
        let known = match self.people.passkeys(&session.person) {
            Ok(known) => known,
            Err(err) => return text(StatusCode::INTERNAL_SERVER_ERROR, &err.to_string()),
        };
        if known.len() >= MAX_PASSKEYS {
            return text(StatusCode::CONFLICT, "there are many already; remove some first");
        }
        if !known.is_empty() && new.by.is_none() {
            return text(StatusCode::FORBIDDEN, "a passkey that is there must vouch for a new one");
        }
        let person = &session.person;
        let statement = register_statement(&new.passkey, person, new.expires);
        let by = new.by.as_deref();
        if let Err(refusal) = self.signed_by(session, by, &statement, &new.signature, new.expires) {
            return refusal;
        }
        if check_new(&new.passkey, &passkey_statement(person, new.expires), &origin).is_err() {
            let why = "the passkey was not made here and now, or did not verify its person";
            return text(StatusCode::FORBIDDEN, why);
        }
        let key = PersonKey {
            credential: Some(new.passkey.credential),
            origin: Some(origin),
            ..PersonKey::new(KeyKind::Passkey, new.passkey.public, "passkey".to_owned(), now())
        };
        match self.people.add(person, key) {
            Ok(()) => done(json!({"registered": true})),
            Err(err) => text(StatusCode::CONFLICT, &err.to_string()),
        }
    }
}
