//! Requests that a person signs with their own key: a cookie reads at most, a key answers.

use std::str::FromStr;

use serde_json::json;

use crate::{Digest, FleetError, MAX_CLOCK_OFF, RequestLine};

/// How the header `authorization` begins.
const SCHEME: &str = "Eclusa-Person ";

/// Whose key signed a request, as it says itself. Nothing in it is checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PersonAuthor {
    /// The key, by its name.
    pub key: String,
    /// When it was signed, in milliseconds since 1970.
    pub at: u64,
    /// The signature, in base64.
    pub signature: String,
}

impl PersonAuthor {
    /// The text that is signed for this request.
    pub fn text(request: &RequestLine<'_>, key: &str, at: u64) -> String {
        let body = json!({
            "at": at,
            "body_sha256": Digest::compute(request.body).to_string(),
            "key": key,
            "method": request.method,
            "path": request.path,
            "server": request.fleet,
        });
        format!("eclusa person request v1\n{body}\n")
    }

    /// The header `authorization`.
    pub fn header(&self) -> String {
        format!("{SCHEME}{}.{}.{}", self.key, self.at, self.signature)
    }

    /// Whether it was signed at about this time.
    pub fn is_recent(&self, now: u64) -> bool {
        self.at.abs_diff(now) <= MAX_CLOCK_OFF
    }
}

impl FromStr for PersonAuthor {
    type Err = FleetError;

    /// Reads the header `authorization`.
    fn from_str(header: &str) -> Result<PersonAuthor, FleetError> {
        let read = || {
            let mut parts = header.strip_prefix(SCHEME)?.splitn(3, '.');
            let key = parts.next()?.to_owned();
            let at = parts.next()?.parse().ok()?;
            Some(PersonAuthor { key, at, signature: parts.next()?.to_owned() })
        };
        read().ok_or_else(|| {
            FleetError::malformed(
                "the request is not signed: `authorization` is not that of a person",
            )
        })
    }
}
