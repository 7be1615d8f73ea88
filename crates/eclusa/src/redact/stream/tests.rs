//! However a text is cut into pieces, what is shown of it is what redacting it whole shows.

use proptest::prelude::*;

use super::RedactedStream;
use crate::Redactor;

/// What is shown when the text comes in pieces of these lengths.
fn shown(text: &str, lengths: &[usize]) -> String {
    let mut stream = RedactedStream::new(Redactor::default());
    let mut chars = text.chars().peekable();
    let mut out = String::new();
    let mut lengths = lengths.iter().cycle();
    while chars.peek().is_some() {
        let length = *lengths.next().unwrap_or(&1);
        let piece: String = chars.by_ref().take(length).collect();
        out.push_str(&stream.push(&piece));
    }
    out.push_str(&stream.finish());
    out
}

fn token() -> String {
    format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8")
}

#[test]
fn a_token_that_comes_in_pieces_is_never_shown() {
    let text = format!("here it is: {} and more\nAuthorization: Bearer abcDEF123456 x", token());
    for length in 1..12 {
        let shown = shown(&text, &[length]);
        assert_eq!(shown, Redactor::default().text(&text).0, "{length}");
        assert!(!shown.contains("ghp_") && !shown.contains("abcDEF"), "{shown}");
    }
}

#[test]
fn a_key_over_several_lines_is_never_shown() {
    let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ\n".repeat(6);
    let (begin, end) = ("-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----");
    let text = format!("look:\n{begin}\n{body}{end}\nthat was it\n");
    for length in [1, 7, 60, 1000] {
        let shown = shown(&text, &[length]);
        assert_eq!(shown, Redactor::default().text(&text).0, "{length}");
        assert!(!shown.contains("MIIE"), "{shown}");
    }
}

#[test]
fn words_of_no_interest_are_shown_as_they_come() {
    let mut stream = RedactedStream::new(Redactor::default());
    assert_eq!(stream.push("one two thr"), "one two ");
    assert_eq!(stream.push("ee four"), "three ");
    assert_eq!(stream.finish(), "four");
}

proptest! {
    #[test]
    fn lines_without_secrets_come_out_whole(
        text in "([a-zé ]{0,12}[ \n]){0,20}",
        lengths in proptest::collection::vec(1_usize..9, 1..5),
    ) {
        prop_assert_eq!(shown(&text, &lengths), text);
    }
}
