//! Signatures of webhooks, out and in, as Standard Webhooks has them: HMAC-SHA256 over
//! `id.timestamp.body`.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use ring::hmac;

/// The header with the id of a message.
pub(crate) const ID: &str = "webhook-id";
/// The header with the time of an attempt, in seconds since 1970.
pub(crate) const TIMESTAMP: &str = "webhook-timestamp";
/// The header with the signatures.
pub(crate) const SIGNATURE: &str = "webhook-signature";

/// The least that a secret must have, in bytes.
const MIN_SECRET: usize = 24;

/// The secrets that are shared with the other side: two while one takes the place of the other.
pub struct WebhookSecrets(Vec<hmac::Key>);

impl std::fmt::Debug for WebhookSecrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "WebhookSecrets({})", self.0.len())
    }
}

impl WebhookSecrets {
    /// Secrets as they are written: base64, `whsec_` before it or not, blanks between several. What is
    /// wrong is told without the secret.
    pub fn parse(text: &str) -> Result<WebhookSecrets, String> {
        let mut keys = Vec::new();
        for word in text.split_whitespace() {
            let bytes = STANDARD.decode(word.strip_prefix("whsec_").unwrap_or(word));
            let bytes = bytes.map_err(|_| "the secret is not base64".to_owned())?;
            if bytes.len() < MIN_SECRET {
                return Err(format!("the secret is shorter than {MIN_SECRET} bytes"));
            }
            keys.push(hmac::Key::new(hmac::HMAC_SHA256, &bytes));
        }
        match keys.is_empty() {
            true => Err("the secret is empty".to_owned()),
            false => Ok(WebhookSecrets(keys)),
        }
    }

    /// The signatures of a message, one for each secret.
    pub fn sign(&self, id: &str, timestamp: &str, body: &[u8]) -> String {
        let signed = signed(id, timestamp, body);
        let tags = self.0.iter().map(|key| STANDARD.encode(hmac::sign(key, &signed)));
        tags.map(|it| format!("v1,{it}")).collect::<Vec<_>>().join(" ")
    }

    /// Whether one of these signatures is ours. Comparing takes the same time for all of them.
    pub fn verify(&self, id: &str, timestamp: &str, body: &[u8], signatures: &str) -> bool {
        let signed = signed(id, timestamp, body);
        let given = signatures.split_whitespace().take(8).filter_map(|it| it.strip_prefix("v1,"));
        let mut tags = given.filter_map(|it| STANDARD.decode(it).ok());
        tags.any(|tag| self.0.iter().any(|key| hmac::verify(key, &signed, &tag).is_ok()))
    }
}

fn signed(id: &str, timestamp: &str, body: &[u8]) -> Vec<u8> {
    [id.as_bytes(), b".", timestamp.as_bytes(), b".", body].concat()
}
