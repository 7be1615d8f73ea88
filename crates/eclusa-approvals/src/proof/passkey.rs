//! Passkeys: what an authenticator signs, checked as WebAuthn says. The challenge is ours to choose, and
//! it is the digest of the statement, so that one gesture fits one answer.
//!
//! Nothing of CBOR is read: of the keys that we ask for (ES256) there is one encoding, which is written
//! and compared.

use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use eclusa::Hash;
use ring::signature::{ECDSA_P256_SHA256_ASN1, UnparsedPublicKey};
use serde::{Deserialize, Serialize};

use super::BadSignature;
use crate::people::PersonKey;

/// Somebody was there.
const PRESENT: u8 = 0x01;
/// And the authenticator knows who.
const VERIFIED: u8 = 0x04;
/// The data holds a new key.
const ATTESTED: u8 = 0x40;

/// Where the digest of the name of the page ends, and where flags and counter do.
const NAME: usize = 32;
const HEAD: usize = NAME + 5;
/// What stands between the head and the name of the key: the make, and a length.
const MAKE: usize = 16;

/// What a passkey says besides its signature, in base64.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Assertion {
    pub(crate) authenticator_data: String,
    pub(crate) client_data: String,
    pub(crate) signature: String,
}

/// A new passkey, as the browser hands it over, in base64; the credential in that of addresses.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Registration {
    /// What the authenticator calls it.
    pub credential: String,
    /// The two numbers of the key, as they come.
    pub public: String,
    /// What the authenticator says of itself and of the key.
    pub authenticator_data: String,
    /// What the browser says of the gesture.
    pub client_data: String,
}

/// What the browser says about the gesture.
#[derive(Deserialize)]
struct ClientData {
    r#type: String,
    challenge: String,
    origin: String,
    #[serde(default, rename = "crossOrigin")]
    cross_origin: bool,
}

/// Checks that this passkey signed exactly this text, with its person verified, on the page where it
/// was registered.
pub(super) fn verify(key: &PersonKey, text: &str, signature: &str) -> Result<(), BadSignature> {
    let assertion: Assertion = serde_json::from_str(signature).map_err(|_| BadSignature)?;
    let origin = key.origin.as_deref().ok_or(BadSignature)?;
    let client_data = decode(&assertion.client_data)?;
    check_client(&client_data, "webauthn.get", text, origin)?;
    let data = decode(&assertion.authenticator_data)?;
    check_head(&data, origin, PRESENT | VERIFIED)?;
    let signed = [&data[..], &Hash::sha256(&client_data).as_bytes()[..]].concat();
    let public = decode(&key.public)?;
    UnparsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, public)
        .verify(&signed, &decode(&assertion.signature)?)
        .map_err(|_| BadSignature)
}

/// Checks that an authenticator made this key for this page and this text, with its person verified.
pub(crate) fn check_new(new: &Registration, text: &str, origin: &str) -> Result<(), BadSignature> {
    check_client(&decode(&new.client_data)?, "webauthn.create", text, origin)?;
    let data = decode(&new.authenticator_data)?;
    check_head(&data, origin, PRESENT | VERIFIED | ATTESTED)?;
    let credential = URL_SAFE_NO_PAD.decode(&new.credential).map_err(|_| BadSignature)?;
    let length = u16::try_from(credential.len()).map_err(|_| BadSignature)?;
    let rest = data.get(HEAD + MAKE..).ok_or(BadSignature)?;
    let expected = [&length.to_be_bytes()[..], &credential, &cose(&decode(&new.public)?)?].concat();
    match rest.starts_with(&expected) && !credential.is_empty() {
        true => Ok(()),
        false => Err(BadSignature),
    }
}

/// The one encoding of an ES256 key with these two numbers (RFC 9053, in the order of CTAP2).
fn cose(public: &[u8]) -> Result<Vec<u8>, BadSignature> {
    let numbers = match public.split_first() {
        Some((4, numbers)) if numbers.len() == 64 => numbers,
        _ => return Err(BadSignature),
    };
    let (x, y) = numbers.split_at(32);
    let head = [0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20];
    Ok([&head[..], x, &[0x22, 0x58, 0x20], y].concat())
}

fn check_client(bytes: &[u8], kind: &str, text: &str, origin: &str) -> Result<(), BadSignature> {
    let said: ClientData = serde_json::from_slice(bytes).map_err(|_| BadSignature)?;
    let challenge = URL_SAFE_NO_PAD.encode(Hash::sha256(text.as_bytes()).as_bytes());
    let fits = said.r#type == kind && said.challenge == challenge && said.origin == origin;
    if fits && !said.cross_origin { Ok(()) } else { Err(BadSignature) }
}

fn check_head(data: &[u8], origin: &str, flags: u8) -> Result<(), BadSignature> {
    let name = Hash::sha256(page_name(origin).ok_or(BadSignature)?.as_bytes());
    let has = data.get(NAME).is_some_and(|it| it & flags == flags);
    let fits = data.len() >= HEAD && data.starts_with(name.as_bytes()) && has;
    if fits { Ok(()) } else { Err(BadSignature) }
}

/// The name that passkeys of a page are bound to: its host, without the port.
fn page_name(origin: &str) -> Option<String> {
    url::Url::parse(origin).ok()?.host_str().map(str::to_owned)
}

fn decode(text: &str) -> Result<Vec<u8>, BadSignature> {
    STANDARD.decode(text).map_err(|_| BadSignature)
}
