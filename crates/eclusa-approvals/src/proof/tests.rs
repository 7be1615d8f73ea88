//! Signatures that count, and all the others.

use aws_lc_rs::{
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _},
};
use eclusa::{Answer, approve::Statement};

use super::*;

fn key(kind: KeyKind, public: &[u8]) -> PersonKey {
    let (id, label) = ("k1".to_owned(), "a browser".to_owned());
    PersonKey { id, kind, public: STANDARD.encode(public), label, added: 1, revoked: None }
}

fn statement<'a>(questions: &'a [u64], binding: &'a str, answer: &'a Answer) -> Statement<'a> {
    Statement { queue: "q", questions, binding, answer, person: "ann", expires: 9 }
}

#[test]
fn only_the_exact_statement_under_the_right_key_counts() {
    let random = SystemRandom::new();
    let pair = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap();
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
    let stranger = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap();
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
    let pair = Ed25519KeyPair::generate().unwrap();
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
