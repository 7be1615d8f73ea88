//! What holds for any text: no planted secret survives, once is enough, clean text is not copied.

use std::borrow::Cow;

use proptest::prelude::*;
use serde_json::Value;

use crate::{Redactor, redact::SecretRule, redact::sieve::Sieve};

/// What stands before a secret, and the secret: of every kind that is told by its shape.
fn planted() -> impl Strategy<Value = (String, String)> {
    let shaped = |head: &'static str, tail: &'static str| {
        tail.prop_map(move |tail| (String::new(), [head, &tail].concat())).boxed()
    };
    let named = |before: &'static str, value: &'static str| {
        value.prop_map(move |value| (before.to_owned(), value)).boxed()
    };
    prop::strategy::Union::new([
        shaped("ghp_", "[A-Za-z0-9]{36}"),
        shaped("github_pat_", "[A-Za-z0-9_]{82}"),
        shaped("glpat-", "[A-Za-z0-9]{20}"),
        shaped("AKIA", "[A-Z2-7]{16}"),
        shaped("AIza", "[A-Za-z0-9_-]{35}"),
        shaped("xoxb-", "[0-9]{12}-[A-Za-z0-9]{24}"),
        shaped("sk_live_", "[A-Za-z0-9]{24}"),
        shaped("sk-ant-", "api03-[A-Za-z0-9_-]{60}AA"),
        shaped("sk-proj-", "[A-Za-z0-9_-]{60}"),
        shaped("npm_", "[A-Za-z0-9]{36}"),
        shaped("pypi-AgE", "[A-Za-z0-9_-]{80}"),
        shaped("dckr_pat_", "[A-Za-z0-9_-]{27}"),
        shaped("hf_", "[a-m][N-Z][0-9][A-Za-z0-9]{10}abcdefgh[A-Z]{13}"),
        shaped("SG.", "[A-Za-z0-9_-]{22}\\.[A-Za-z0-9_-]{43}"),
        shaped("dop_v1_", "[0-9a-f]{64}"),
        shaped("shpat_", "[0-9a-f]{32}"),
        shaped("eyJ", "[A-Za-z0-9_-]{20}\\.eyJ[A-Za-z0-9_-]{20}\\.[A-Za-z0-9_-]{30}"),
        shaped("12345678", ":AA[A-Za-z0-9_-]{33}"),
        named("-----BEGIN RSA PRIVATE KEY-----", "\n[A-Za-z0-9+/]{64}\n[A-Za-z0-9+/]{40}=\n"),
        named("\nAuthorization: Bearer ", "Zq7x2Kp9[A-Za-z0-9]{16}"),
        named(" https://user:", "[A-Za-z0-9!*,._-]{9}@host/"),
        named(" password=", "Zq7x2Kp9[A-Za-z0-9]{8}"),
        named("{\"client_secret\": \"", "Zq7x2Kp9[A-Za-z0-9]{8}\""),
    ])
}

/// Anything that could stand around a secret.
fn around() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[a-zA-Z0-9_.=:;/@\"' \\n-]{0,24}",
        Just("password=".to_owned()),
        Just("[redacted:".to_owned()),
        Just("[redacted:github-token]".to_owned()),
        Just("\"token\": \"".to_owned()),
        Just(" --api-key ".to_owned()),
        Just("https://a:b@".to_owned()),
    ]
}

fn soup() -> impl Strategy<Value = String> {
    let piece = prop_oneof![around(), planted().prop_map(|(before, secret)| before + &secret)];
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn no_planted_secret_survives(
        left in around(), (before, secret) in planted(), right in around(),
    ) {
        let text = format!("{left}{before}{secret}{right}");
        let (shown, count) = Redactor::default().text(&text);
        prop_assert!(!shown.contains(secret.trim()), "{shown}");
        prop_assert!(count > 0);
    }

    #[test]
    fn no_planted_secret_survives_in_a_value(
        left in around(), (before, secret) in planted(), right in around(), name in "[a-z]{1,6}",
    ) {
        let text = Value::from(format!("{left}{before}{secret}{right}"));
        let value = serde_json::json!({ "list": [{ (name): text }] });
        let (shown, _) = Redactor::default().value(&value);
        let plain = Value::from(secret.trim()).to_string();
        prop_assert!(!shown.to_string().contains(plain.trim_matches('"')));
    }

    /// S0.25, C28: redacting what is redacted already changes nothing.
    #[test]
    fn once_is_enough(text in soup()) {
        let (once, _) = Redactor::default().text(&text);
        let (twice, count) = Redactor::default().text(&once);
        prop_assert_eq!((twice.as_ref(), count), (once.as_ref(), 0));
    }

    /// What was found is all that changes: the rest is there, in order.
    #[test]
    fn only_secrets_are_taken_away(text in soup()) {
        let (shown, _) = Redactor::default().text(&text);
        let mut rest = text.as_str();
        for part in shown.split("[redacted:") {
            let kept = part.split_once(']').map_or(part, |(_, kept)| kept);
            let last = kept.rsplit(']').next().unwrap_or(kept);
            let at = rest.find(last);
            prop_assert!(at.is_some(), "{last:?} of {shown:?}");
            rest = rest.get(at.unwrap_or(0) + last.len()..).unwrap_or_default();
        }
    }

    #[test]
    fn clean_text_is_borrowed(text in "[a-z \\n,.]{0,300}") {
        let (shown, count) = Redactor::default().text(&text);
        prop_assert!(matches!(shown, Cow::Borrowed(_)) && count == 0);
    }

    /// The first look never overlooks a keyword, whatever its case and wherever it stands.
    #[test]
    fn the_sieve_holds_every_keyword(
        left in any::<String>(), right in any::<String>(), pick in any::<prop::sample::Index>(),
        upper in any::<u64>(),
    ) {
        let redactor = Redactor::default();
        let keywords: Vec<&String> = redactor.rules().iter().flat_map(SecretRule::keywords).collect();
        let sieve = Sieve::new(keywords.iter().copied());
        let keyword = pick.get(&keywords).chars().enumerate();
        let keyword: String = keyword
            .map(|(at, c)| if upper >> (at % 64) & 1 == 1 { c.to_ascii_uppercase() } else { c })
            .collect();
        let text = [left, keyword, right].concat();
        prop_assert!(sieve.may_hold(&text));
    }
}
