//! Ed25519 keys as signed notes know them: by a name and four bytes of a digest.

use std::{fmt, str::FromStr};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use ring::{
    rand::{SecureRandom as _, SystemRandom},
    signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey},
};

use crate::{FleetError, digest::Digest};

/// What a public key begins with in base64: the kind of signature.
const ED25519_KIND: u8 = 1;

/// What a private key begins with as text.
const PRIVATE: &str = "PRIVATE+KEY+";

/// The public part of a key: `NAME+ID+BASE64`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicKey {
    name: String,
    bytes: [u8; 32],
}

impl PublicKey {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The key itself.
    pub(crate) fn bytes(&self) -> &[u8; 32] {
        &self.bytes
    }

    /// What signatures call it.
    pub(crate) fn id(&self) -> [u8; 4] {
        let mut text = self.name.clone().into_bytes();
        text.extend([b'\n', ED25519_KIND]);
        text.extend(self.bytes);
        Digest::compute(&text).short()
    }

    /// Whether it signed exactly this text.
    pub(crate) fn signed(&self, text: &str, signature: &[u8]) -> bool {
        PublicKey::verify_bytes(&self.bytes, text, signature)
    }

    /// The same for a key without a name.
    pub(crate) fn verify_bytes(key: &[u8; 32], text: &str, signature: &[u8]) -> bool {
        UnparsedPublicKey::new(&ED25519, key).verify(text.as_bytes(), signature).is_ok()
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut whole = vec![ED25519_KIND];
        whole.extend(self.bytes);
        let [a, b, c, d] = self.id();
        write!(f, "{}+{a:02x}{b:02x}{c:02x}{d:02x}+{}", self.name, STANDARD.encode(whole))
    }
}

impl FromStr for PublicKey {
    type Err = FleetError;

    fn from_str(text: &str) -> Result<PublicKey, FleetError> {
        let wrong =
            || FleetError::malformed(format!("`{}` is not a public key", text.escape_debug()));
        let mut parts = text.splitn(3, '+');
        let (name, base64) = (parts.next().unwrap_or_default(), parts.nth(1).unwrap_or_default());
        let whole = STANDARD.decode(base64).map_err(|_| wrong())?;
        let bytes = match whole.split_first() {
            Some((&ED25519_KIND, key)) => key.try_into().map_err(|_| wrong())?,
            _ => return Err(wrong()),
        };
        check_name(name)?;
        let key = PublicKey { name: name.to_owned(), bytes };
        // The middle is the id, and a key has one spelling.
        if key.to_string() == text { Ok(key) } else { Err(wrong()) }
    }
}

/// A name that fits into a line of a note and into a key.
pub(crate) fn check_name(name: &str) -> Result<(), FleetError> {
    let plain = |it: u8| it.is_ascii_alphanumeric() || b"-_.".contains(&it);
    match !name.is_empty() && name.len() <= 64 && name.bytes().all(plain) {
        true => Ok(()),
        false => Err(FleetError::malformed(format!(
            "`{}` is not a name: use up to 64 letters, digits, `-`, `_` and `.`",
            name.escape_debug()
        ))),
    }
}

/// A key that signs. Whoever can read its text signs as it.
pub struct SigningKey {
    public: PublicKey,
    seed: [u8; 32],
    pair: Ed25519KeyPair,
}

impl SigningKey {
    /// A new key of this name.
    pub fn generate(name: &str) -> Result<SigningKey, FleetError> {
        let mut seed = [0; 32];
        let filled = SystemRandom::new().fill(&mut seed);
        filled.map_err(|_| FleetError::malformed("the system gives no random bytes"))?;
        SigningKey::from_seed(name, seed)
    }

    fn from_seed(name: &str, seed: [u8; 32]) -> Result<SigningKey, FleetError> {
        check_name(name)?;
        let pair = Ed25519KeyPair::from_seed_unchecked(&seed)
            .map_err(|_| FleetError::malformed("this is not a signing key"))?;
        let mut bytes = [0; 32];
        bytes.copy_from_slice(pair.public_key().as_ref());
        Ok(SigningKey { public: PublicKey { name: name.to_owned(), bytes }, seed, pair })
    }

    /// Its public part.
    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    /// Signs a text.
    pub(crate) fn sign(&self, text: &str) -> Vec<u8> {
        self.pair.sign(text.as_bytes()).as_ref().to_vec()
    }

    /// The key as text, for a file that only its owner reads.
    pub fn private_text(&self) -> String {
        let mut whole = vec![ED25519_KIND];
        whole.extend(self.seed);
        let [a, b, c, d] = self.public.id();
        let name = &self.public.name;
        format!("{PRIVATE}{name}+{a:02x}{b:02x}{c:02x}{d:02x}+{}\n", STANDARD.encode(whole))
    }
}

impl FromStr for SigningKey {
    type Err = FleetError;

    fn from_str(text: &str) -> Result<SigningKey, FleetError> {
        // What is in the file is told nobody.
        let wrong = || FleetError::malformed("it holds no signing key of a fleet");
        let rest = text.trim().strip_prefix(PRIVATE).ok_or_else(wrong)?;
        let mut parts = rest.splitn(3, '+');
        let (name, base64) = (parts.next().unwrap_or_default(), parts.nth(1).unwrap_or_default());
        let whole = STANDARD.decode(base64).map_err(|_| wrong())?;
        let seed = match whole.split_first() {
            Some((&ED25519_KIND, seed)) => seed.try_into().map_err(|_| wrong())?,
            _ => return Err(wrong()),
        };
        SigningKey::from_seed(name, seed).map_err(|_| wrong())
    }
}
