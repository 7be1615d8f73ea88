//! Signed requests: a machine signs what it asks with its own key, whatever ends TLS on the way to the server.

use std::str::FromStr;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::Serialize;

use crate::{Digest, FleetError, MachineKey, PublicKey};

/// How the header `authorization` begins.
const SCHEME: &str = "Eclusa ";

/// How far the time of a request may be from the server's clock, in milliseconds.
pub const MAX_CLOCK_OFF: u64 = 5 * 60 * 1_000;

/// A request, as it is signed. Whoever has not enrolled yet is machine 0.
#[derive(Debug, Clone, Copy)]
pub struct RequestLine<'a> {
    /// The fleet that it is meant for.
    pub fleet: &'a str,
    /// `GET` or `POST`.
    pub method: &'a str,
    /// Path and query.
    pub path: &'a str,
    /// The body.
    pub body: &'a [u8],
}

/// What is signed, in the order of its keys.
#[derive(Serialize)]
struct SignedRequest<'a> {
    at: u64,
    body_sha256: String,
    machine: u32,
    method: &'a str,
    path: &'a str,
    server: &'a str,
}

impl RequestLine<'_> {
    fn text(&self, machine: u32, at: u64) -> String {
        let signed = SignedRequest {
            at,
            body_sha256: Digest::compute(self.body).to_string(),
            machine,
            method: self.method,
            path: self.path,
            server: self.fleet,
        };
        // Texts and numbers can always be written.
        format!("eclusa request v1\n{}\n", serde_json::to_string(&signed).unwrap_or_default())
    }

    /// The header `authorization` of this request.
    pub fn sign(&self, key: &MachineKey, machine: u32, at: u64) -> String {
        let signature = URL_SAFE_NO_PAD.encode(key.sign(&self.text(machine, at)));
        format!("{SCHEME}{machine}.{at}.{signature}")
    }
}

/// Who a request says it is of. Nothing in it is checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestAuthor {
    /// The machine; 0 before it is enrolled.
    pub machine: u32,
    /// When it was signed, in milliseconds since 1970.
    pub at: u64,
    signature: Vec<u8>,
}

impl RequestAuthor {
    /// Whether it was signed at about this time.
    pub fn is_recent(&self, now: u64) -> bool {
        self.at.abs_diff(now) <= MAX_CLOCK_OFF
    }

    /// Whether this key signed exactly this request.
    pub fn signed(&self, request: &RequestLine<'_>, key: &[u8; 32]) -> bool {
        PublicKey::verify_bytes(key, &request.text(self.machine, self.at), &self.signature)
    }
}

impl FromStr for RequestAuthor {
    type Err = FleetError;

    /// Reads the header `authorization`.
    fn from_str(header: &str) -> Result<RequestAuthor, FleetError> {
        let read = || {
            let mut parts = header.strip_prefix(SCHEME)?.splitn(3, '.');
            let machine = parts.next()?.parse().ok()?;
            let at = parts.next()?.parse().ok()?;
            let signature = URL_SAFE_NO_PAD.decode(parts.next()?).ok()?;
            Some(RequestAuthor { machine, at, signature })
        };
        read().ok_or_else(|| {
            FleetError::malformed(
                "the request is not signed: `authorization` is not that of a machine",
            )
        })
    }
}
