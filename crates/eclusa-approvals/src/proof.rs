//! Whether a signature over a statement is that of a key.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use ring::signature::{ECDSA_P256_SHA256_FIXED, ED25519, UnparsedPublicKey};
use serde_json::json;

use crate::people::{KeyKind, PersonKey};

mod passkey;

pub use passkey::Registration;
pub(crate) use passkey::check_new;

/// A signature that does not count. What is wrong with it is nobody's business but ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the signature is not that of a registered key")]
pub(crate) struct BadSignature;

/// Checks that this key signed exactly this text. The signature is in base64: for a key of a
/// browser the two numbers of ECDSA one after the other, as WebCrypto gives them.
pub(crate) fn verify(key: &PersonKey, text: &str, signature: &str) -> Result<(), BadSignature> {
    if key.revoked.is_some() {
        return Err(BadSignature);
    }
    let decode = |text: &str| STANDARD.decode(text).map_err(|_| BadSignature);
    let verified = match key.kind {
        KeyKind::Passkey => return passkey::verify(key, text, signature),
        KeyKind::Browser => UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, decode(&key.public)?)
            .verify(text.as_bytes(), &decode(signature)?),
        KeyKind::File => UnparsedPublicKey::new(&ED25519, decode(&key.public)?)
            .verify(text.as_bytes(), &decode(signature)?),
    };
    verified.map_err(|_| BadSignature)
}

/// What whoever ends a job signs.
pub(crate) fn end_job_statement(queue: &str, job: u64, person: &str, expires: u64) -> String {
    let body = json!({"expires": expires, "job": job, "person": person, "queue": queue});
    format!("eclusa end-job v1\n{body}")
}

/// The challenge of a new passkey is the digest of this.
pub(crate) fn passkey_statement(person: &str, expires: u64) -> String {
    format!("eclusa passkey v1\n{}", json!({"expires": expires, "person": person}))
}

/// What the key signs that vouches for a new passkey.
pub(crate) fn register_statement(new: &Registration, person: &str, expires: u64) -> String {
    let (credential, public) = (&new.credential, &new.public);
    let body = json!({
        "credential": credential, "expires": expires, "person": person, "public": public,
    });
    format!("eclusa register v1\n{body}")
}

/// What whoever undoes a call signs.
pub(crate) fn undo_statement(queue: &str, call: u64, person: &str, expires: u64) -> String {
    let body = json!({"call": call, "expires": expires, "person": person, "queue": queue});
    format!("eclusa undo v1\n{body}")
}

#[cfg(test)]
mod tests;
