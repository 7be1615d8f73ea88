//! Signatures that count, and all the others.

use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use eclusa::{Answer, Hash, approve::Statement};
use ring::{
    rand::SystemRandom,
    signature::{
        ECDSA_P256_SHA256_ASN1_SIGNING, ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair,
        EcdsaSigningAlgorithm, Ed25519KeyPair, KeyPair as _,
    },
};

use super::{passkey::Assertion, *};

/// An authenticator in software, as far as a page sees of it.
struct Authenticator {
    pair: EcdsaKeyPair,
    origin: &'static str,
    flags: u8,
}

impl Authenticator {
    fn new() -> Authenticator {
        let pair = key_pair(&ECDSA_P256_SHA256_ASN1_SIGNING);
        Authenticator { pair, origin: "http://localhost:8378", flags: 0x05 }
    }

    fn key(&self) -> PersonKey {
        PersonKey {
            credential: Some("Y3JlZA".to_owned()),
            origin: Some("http://localhost:8378".to_owned()),
            ..key(KeyKind::Passkey, self.pair.public_key().as_ref())
        }
    }

    fn client_data(&self, kind: &str, text: &str) -> String {
        let challenge = URL_SAFE_NO_PAD.encode(Hash::sha256(text.as_bytes()).as_bytes());
        json!({"type": kind, "challenge": challenge, "origin": self.origin, "crossOrigin": false})
            .to_string()
    }

    fn head(&self, flags: u8) -> Vec<u8> {
        let name = Hash::sha256(b"localhost");
        [&name.as_bytes()[..], &[flags], &[0, 0, 0, 1]].concat()
    }

    /// What it says and signs about a text.
    fn assertion(&self, text: &str) -> Assertion {
        let client_data = self.client_data("webauthn.get", text);
        let data = self.head(self.flags);
        let digest = Hash::sha256(client_data.as_bytes());
        let signed = [&data[..], &digest.as_bytes()[..]].concat();
        let signature = self.pair.sign(&SystemRandom::new(), &signed).unwrap();
        Assertion {
            authenticator_data: STANDARD.encode(data),
            client_data: STANDARD.encode(client_data),
            signature: STANDARD.encode(signature),
        }
    }

    fn sign(&self, text: &str) -> String {
        serde_json::to_string(&self.assertion(text)).unwrap()
    }

    /// What it says when it makes a key.
    fn registration(&self, text: &str) -> Registration {
        let public = self.pair.public_key().as_ref().to_vec();
        let cose = [
            &[0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21, 0x58, 0x20][..],
            &public[1..33],
            &[0x22, 0x58, 0x20],
            &public[33..],
        ];
        let data = [&self.head(self.flags | 0x40), &[7; 16][..], &[0, 4], b"cred", &cose.concat()];
        Registration {
            credential: URL_SAFE_NO_PAD.encode(b"cred"),
            public: STANDARD.encode(&public),
            authenticator_data: STANDARD.encode(data.concat()),
            client_data: STANDARD.encode(self.client_data("webauthn.create", text)),
        }
    }
}

#[test]
fn a_passkey_signs_one_statement_on_its_own_page_with_its_person_verified() {
    let here = Authenticator::new();
    let (key, text) = (here.key(), statement(&[7], "b1", &Answer::Once).text());
    assert_eq!(verify(&key, &text, &here.sign(&text)), Ok(()));
    let other = statement(&[8], "b1", &Answer::Once).text();
    assert_eq!(verify(&key, &other, &here.sign(&text)), Err(BadSignature), "another question");
    let unverified = Authenticator { flags: 0x01, ..Authenticator::new() };
    let own = unverified.key();
    assert_eq!(verify(&own, &text, &unverified.sign(&text)), Err(BadSignature), "nobody verified");
    let absent = Authenticator { flags: 0x04, ..Authenticator::new() };
    assert_eq!(verify(&absent.key(), &text, &absent.sign(&text)), Err(BadSignature));
    for origin in ["http://localhost:9999", "https://evil.example", "http://localhost:8378/"] {
        let elsewhere = Authenticator { origin, ..Authenticator::new() };
        let signed = elsewhere.sign(&text);
        assert_eq!(verify(&elsewhere.key(), &text, &signed), Err(BadSignature), "{origin}");
    }
    let stranger = Authenticator::new();
    assert_eq!(verify(&key, &text, &stranger.sign(&text)), Err(BadSignature), "another passkey");
    let removed = PersonKey { revoked: Some(2), ..here.key() };
    assert_eq!(verify(&removed, &text, &here.sign(&text)), Err(BadSignature));
    let unbound = PersonKey { origin: None, ..here.key() };
    assert_eq!(verify(&unbound, &text, &here.sign(&text)), Err(BadSignature));
    // A plain signature of the same key is none of a passkey, and the other way round.
    let plain = STANDARD.encode(here.pair.sign(&SystemRandom::new(), text.as_bytes()).unwrap());
    assert_eq!(verify(&key, &text, &plain), Err(BadSignature));
    let browser = PersonKey { kind: KeyKind::Browser, ..here.key() };
    assert_eq!(verify(&browser, &text, &here.sign(&text)), Err(BadSignature));
}

#[test]
fn every_byte_of_what_a_passkey_says_counts() {
    let here = Authenticator::new();
    let (key, text) = (here.key(), statement(&[7], "b1", &Answer::Once).text());
    let good = here.assertion(&text);
    let flipped = |part: &str, at: usize| {
        let mut bytes = STANDARD.decode(part).unwrap();
        bytes[at] ^= 1;
        STANDARD.encode(bytes)
    };
    let says = |it: &Assertion| serde_json::to_string(it).unwrap();
    let length = |part: &str| STANDARD.decode(part).unwrap().len();
    for at in 0..length(&good.authenticator_data) {
        let authenticator_data = flipped(&good.authenticator_data, at);
        let bad = Assertion { authenticator_data, ..good.clone() };
        assert_eq!(verify(&key, &text, &says(&bad)), Err(BadSignature), "data {at}");
    }
    for at in 0..length(&good.client_data) {
        let bad = Assertion { client_data: flipped(&good.client_data, at), ..good.clone() };
        assert_eq!(verify(&key, &text, &says(&bad)), Err(BadSignature), "client {at}");
    }
    for at in 0..length(&good.signature) {
        let bad = Assertion { signature: flipped(&good.signature, at), ..good.clone() };
        assert_eq!(verify(&key, &text, &says(&bad)), Err(BadSignature), "signature {at}");
    }
    for bad in ["", "{}", "null", "[]", &says(&good).replace("client_data", "data")] {
        assert_eq!(verify(&key, &text, bad), Err(BadSignature), "{bad}");
    }
    let framed = here.client_data("webauthn.get", &text).replace("false", "true");
    let bad = Assertion { client_data: STANDARD.encode(framed), ..good };
    assert_eq!(verify(&key, &text, &says(&bad)), Err(BadSignature));
}

#[test]
fn a_new_passkey_is_the_one_that_the_authenticator_made_here_and_now() {
    let (here, origin) = (Authenticator::new(), "http://localhost:8378");
    let text = passkey_statement("ann", 9);
    let good = here.registration(&text);
    assert_eq!(check_new(&good, &text, origin), Ok(()));
    assert_eq!(check_new(&good, &passkey_statement("bob", 9), origin), Err(BadSignature));
    assert_eq!(check_new(&good, &text, "http://localhost:9"), Err(BadSignature));
    let other = Authenticator::new().registration(&text);
    let swapped = Registration { public: other.public, ..good.clone() };
    assert_eq!(check_new(&swapped, &text, origin), Err(BadSignature), "another key");
    let renamed = Registration { credential: URL_SAFE_NO_PAD.encode(b"creD"), ..good.clone() };
    assert_eq!(check_new(&renamed, &text, origin), Err(BadSignature), "another name");
    let unverified = Authenticator { flags: 0x01, ..Authenticator::new() };
    assert_eq!(check_new(&unverified.registration(&text), &text, origin), Err(BadSignature));
    let client_data = STANDARD.encode(here.client_data("webauthn.get", &text));
    let reused = Registration { client_data, ..good.clone() };
    assert_eq!(check_new(&reused, &text, origin), Err(BadSignature));
    let bytes = STANDARD.decode(&good.authenticator_data).unwrap();
    for length in 0..bytes.len() {
        let authenticator_data = STANDARD.encode(&bytes[..length]);
        let cut = Registration { authenticator_data, ..good.clone() };
        assert_eq!(check_new(&cut, &text, origin), Err(BadSignature), "cut at {length}");
    }
}

fn key(kind: KeyKind, public: &[u8]) -> PersonKey {
    PersonKey::new(kind, STANDARD.encode(public), "a browser".to_owned(), 1)
}

fn key_pair(kind: &'static EcdsaSigningAlgorithm) -> EcdsaKeyPair {
    let random = SystemRandom::new();
    let private = EcdsaKeyPair::generate_pkcs8(kind, &random).unwrap();
    EcdsaKeyPair::from_pkcs8(kind, private.as_ref(), &random).unwrap()
}

fn statement<'a>(questions: &'a [u64], binding: &'a str, answer: &'a Answer) -> Statement<'a> {
    Statement { queue: "q", questions, binding, answer, person: "ann", expires: 9 }
}

#[test]
fn only_the_exact_statement_under_the_right_key_counts() {
    let random = SystemRandom::new();
    let pair = key_pair(&ECDSA_P256_SHA256_FIXED_SIGNING);
    let browser = key(KeyKind::Browser, pair.public_key().as_ref());
    let yes = statement(&[7], "b1", &Answer::Once);
    let signature = STANDARD.encode(pair.sign(&random, yes.text().as_bytes()).unwrap());
    assert_eq!(verify(&browser, &yes.text(), &signature), Ok(()));
    let no = Answer::No(String::new());
    for other in [
        statement(&[8], "b1", &Answer::Once),
        statement(&[7, 8], "b1", &Answer::Once),
        statement(&[7], "b2", &Answer::Once),
        statement(&[7], "b1", &Answer::Session),
        statement(&[7], "b1", &no),
        Statement { queue: "r", ..yes.clone() },
        Statement { person: "bob", ..yes.clone() },
        Statement { expires: 10, ..yes.clone() },
    ] {
        assert_eq!(verify(&browser, &other.text(), &signature), Err(BadSignature), "{other:?}");
    }
    let stranger = key_pair(&ECDSA_P256_SHA256_FIXED_SIGNING);
    let stranger = key(KeyKind::Browser, stranger.public_key().as_ref());
    assert_eq!(verify(&stranger, &yes.text(), &signature), Err(BadSignature));
    let revoked = PersonKey { revoked: Some(2), ..browser.clone() };
    assert_eq!(verify(&revoked, &yes.text(), &signature), Err(BadSignature));
    for bad in ["", "AAAA", "not base64", signature.get(4..).unwrap()] {
        assert_eq!(verify(&browser, &yes.text(), bad), Err(BadSignature), "{bad}");
    }
}

#[test]
fn a_key_in_a_file_signs_too() {
    let pair = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
    let pair = Ed25519KeyPair::from_pkcs8(pair.as_ref()).unwrap();
    let file = key(KeyKind::File, pair.public_key().as_ref());
    let text = undo_statement("q", 7, "ann", 9);
    let signature = STANDARD.encode(pair.sign(text.as_bytes()));
    assert_eq!(verify(&file, &text, &signature), Ok(()));
    assert_eq!(verify(&file, &undo_statement("q", 8, "ann", 9), &signature), Err(BadSignature));
    let as_browser = PersonKey { kind: KeyKind::Browser, ..file };
    assert_eq!(verify(&as_browser, &text, &signature), Err(BadSignature));
}

#[test]
fn an_edit_and_a_reason_are_part_of_what_is_signed() {
    let edit = |command: &str| Answer::Edit(json!({"command": command}));
    let text = |answer: &Answer| statement(&[1], "b", answer).text();
    assert_ne!(text(&edit("a")), text(&edit("b")));
    assert_ne!(text(&Answer::No("a".to_owned())), text(&Answer::No("b".to_owned())));
    assert_eq!(
        text(&Answer::Once),
        "eclusa answer v1\n{\"answer\":\"once\",\"binding\":\"b\",\"edit_sha256\":null,\"expires\":9,\"person\":\"ann\",\"questions\":[1],\"queue\":\"q\",\"reason_sha256\":null}"
    );
}
