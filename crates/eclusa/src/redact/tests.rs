//! What is redacted, and what is left.

use std::borrow::Cow;

use serde_json::json;

use super::{Redactor, SecretRule, rules};

mod properties;

/// A token that looks real, put together so that no scanner takes this file for a leak.
fn github() -> String {
    ["ghp", "_0123456789abcdefghijABCDEFGHIJ012345"].concat()
}

fn text(text: &str) -> String {
    Redactor::default().text(text).0.into_owned()
}

#[test]
fn every_shipped_rule_does_what_its_examples_say() {
    let shipped = SecretRule::from_toml(include_str!("secrets.toml")).unwrap();
    let all = Redactor::default();
    assert_eq!(all.rules().len(), shipped.len());
    for rule in &shipped {
        let (id, examples) = (rule.id(), rule.examples());
        assert!(!examples.found.is_empty() && !examples.left.is_empty(), "{id} has no examples");
        assert!(!rule.description().is_empty() && !rule.keywords().is_empty(), "{id}");
        assert_eq!(shipped.iter().filter(|it| it.id() == id).count(), 1, "{id} is there twice");
        let alone = Redactor::off().with_rules([rule.clone()]);
        for example in &examples.found {
            let (shown, count) = alone.text(example);
            assert!(count > 0 && shown.contains(&format!("[redacted:{id}]")), "{id}: {example:?}");
            assert!(all.text(example).1 > 0, "{id}: {example:?}");
        }
        for example in &examples.left {
            assert_eq!(alone.text(example).0, *example, "{id}");
        }
    }
}

#[test]
fn a_mark_names_the_rule_and_the_rest_stays() {
    assert_eq!(
        text(&format!("push with {} now", github())),
        "push with [redacted:github-token] now"
    );
    // sp-mask-003: a mask that goes on past the delimiter would hide a command.
    assert_eq!(
        text("API_KEY=abc123;rm -rf build"),
        "API_KEY=[redacted:secret-in-assignment];rm -rf build"
    );
    assert_eq!(
        text("curl -H 'Authorization: Bearer abcDEF123456' https://x"),
        "curl -H 'Authorization: Bearer [redacted:authorization]' https://x"
    );
    assert_eq!(
        text("postgres://app:hunter2@db/app?sslmode=require"),
        "postgres://app:[redacted:url-password]@db/app?sslmode=require"
    );
}

#[test]
fn several_are_counted_and_overlapping_ones_once() {
    let both = format!("password=\"{}\" and {0}", github());
    let both = both.replace("{0}", &github());
    let (shown, count) = Redactor::default().text(&both);
    assert_eq!(count, 2, "{shown}");
    assert!(!shown.contains(&github()));
}

#[test]
fn a_forged_mark_hides_nothing() {
    let forged = json!({ "password": "[redacted:hunter2x]" });
    let (shown, count) = Redactor::default().value(&forged);
    assert_eq!((&shown["password"], count), (&json!("[redacted:secret-by-name]"), 1));
    let secret = format!("[redacted:{}", github());
    assert!(!text(&secret).contains(&github()));
    let inside = text(&format!("password=\"[redacted:github-token]{}\"", github()));
    assert!(!inside.contains(&github()), "{inside}");
    assert_eq!(text("[redacted:github-token]"), "[redacted:github-token]");
}

#[test]
fn fields_with_a_telling_name_go_s0_25() {
    let value = json!({
        "user": "me", "password": "x", "token": "abc", "apiKey": "k", "API-KEY": "k",
        "X-Auth-Token": "t", "client_secret": "s", "private.key": "p", "db": { "Passwd": "y" },
        "tokens": ["a"], "secrets": ["one", 2, ""],
        "max_tokens": 4096, "token_count": "12", "next_page_token": "CAUQAA",
        "has_password": true, "password_hint": "dog", "secret": null, "pwd": 5, "passphrase": "",
        "tokenizer": "bpe", "monkey": "m", "Secret-Key": { "name": "n", "value": "v" },
    });
    let gone = json!("[redacted:secret-by-name]");
    let expected = json!({
        "user": "me", "password": gone, "token": gone, "apiKey": gone, "API-KEY": gone,
        "X-Auth-Token": gone, "client_secret": gone, "private.key": gone, "db": { "Passwd": gone },
        "tokens": ["a"], "secrets": [gone, 2, ""],
        "max_tokens": 4096, "token_count": "12", "next_page_token": "CAUQAA",
        "has_password": true, "password_hint": "dog", "secret": null, "pwd": 5, "passphrase": "",
        "tokenizer": "bpe", "monkey": "m", "Secret-Key": { "name": "n", "value": gone },
    });
    let redactor = Redactor::default();
    let (shown, count) = redactor.value(&value);
    assert_eq!((shown.as_ref(), count), (&expected, 10));
    // S0.25: any other kind of result passes unchanged; and once is enough.
    assert!(matches!(redactor.value(&expected), (Cow::Borrowed(_), 0)));
    for other in [json!(null), json!(5), json!(true), json!("password"), json!(["token"])] {
        assert!(matches!(redactor.value(&other), (Cow::Borrowed(_), 0)), "{other}");
    }
}

#[test]
fn secrets_inside_values_and_names_of_fields_go() {
    let secret = github();
    let mut value = json!({ "a": [{ "b": format!("x {secret} y") }], "n": 1 });
    value[&secret] = json!("one");
    value[format!("{secret}{secret}")] = json!("two");
    let (shown, count) = Redactor::default().value(&value);
    assert!(!shown.to_string().contains(&secret));
    assert!(count >= 3);
    assert_eq!(shown["a"][0]["b"], "x [redacted:github-token] y");
    assert_eq!(shown.as_object().unwrap().len(), 4, "no field is lost: {shown}");
}

#[test]
fn what_is_no_secret_stays() {
    for benign in [
        "commit 3f786850e387550fdab836ed7e6dc881de23001b",
        "id 550e8400-e29b-41d4-a716-446655440000",
        "![x](data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4)",
        "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor.",
        "let password = read_password();",
        "fn login(user: &str, password: &str) -> Result<Token, Error> {",
        "password: String, token: Option<AccessToken>, secret: [u8; 32],",
        "if password != confirm_password { return Err(\"passwords differ\") }",
        "token = lexer.next_token()  # token: Token2",
        "const MAX_TOKENS = 4096; max_tokens=8192",
        "checksum = \"0b993bddc193ae5bd0d623b49ec06ac3e9312875fdae725a975c51db1cc1677f\"",
        "\"integrity\": \"sha512-RdJUflcE3cUzKiMqQgsCu06FPu9UdIJO0beYbPhHN4k6apgJtifcoCtT9bcxOpYBtpD2kCM6Sbzg4CausW/PKQ==\"",
        "\"js-tokens\": \"^4.0.0\", \"jsonwebtoken\": \"^9.0.2\"",
        "js-tokens@^4.0.0:\n  version \"4.0.0\"\n  resolved \"https://registry.example/js-tokens.tgz#19203fb59991df98e3a287050d4647cdeaf32499\"",
        "[[package]]\nname = \"secret-service\"\nversion = \"4.0.0\"",
        "type=\"password\" name=\"password\" placeholder=\"Your password\"",
        "export GITHUB_TOKEN=$(gh auth token)",
        "password: ${{ secrets.DEPLOY_PASSWORD }}",
        "https://example.com:8443/path?x=1#y",
        "see https://docs.example/authorization: it explains bearer tokens",
        "The token is valid for 3600 seconds; the secret is never shown.",
        "git@github.com:owner/repo.git",
        "sk-learn and task-runner and desk-organiser",
        "2026-11-15T03:18:21Z INFO token refreshed",
    ] {
        let (shown, count) = Redactor::default().text(benign).clone();
        assert_eq!((shown.as_ref(), count), (benign, 0));
    }
}

#[test]
fn off_leaves_everything() {
    let value = json!({ "password": github() });
    assert!(matches!(Redactor::off().value(&value), (Cow::Borrowed(_), 0)));
    assert!(matches!(Redactor::off().text(&github()), (Cow::Borrowed(_), 0)));
}

#[test]
fn more_rules_can_be_added() {
    let own = "[[rule]]\nid = 'acme'\nkeywords = ['ACME-']\nregex = 'acme-([0-9]{4})'\n";
    let redactor = Redactor::from_toml(own).unwrap();
    assert_eq!(redactor.text("acme-1234 5").0, "acme-[redacted:acme] 5");
    assert_eq!(redactor.text(&github()).0, "[redacted:github-token]");
    assert_eq!(
        format!("{redactor:?}"),
        format!("Redactor {{ rules: {} }}", redactor.rules().len())
    );
}

#[test]
fn rules_that_do_not_do_what_they_say_are_errors_without_quoting_examples() {
    let error = |text: &str| SecretRule::from_toml(text).unwrap_err().to_string();
    assert!(error("[[rule]]\nid = 'a'\nregex = '('").starts_with("rule `a`: its `regex` is wrong"));
    assert!(error("[[rule]]\nid = 'a b'\nregex = 'x'").starts_with("rule `a b`: an `id` has"));
    assert!(error("[[rule]]\nid = 'a'\nregexp = 'x'").starts_with("line 3: unknown field"));
    let example = "[[rule]]\nid = 'a'\nregex = 'x'\nmatch = ['x', 'hunter2']";
    assert_eq!(error(example), "rule `a`: example 2 of `match` is not found");
    let example = "[[rule]]\nid = 'a'\nregex = 'x'\nnot_match = ['hunter2x']";
    assert_eq!(error(example), "rule `a`: example 1 of `not_match` is found");
}

#[test]
fn rules_of_gitleaks_are_read() {
    let loaded = SecretRule::from_gitleaks(
        r#"
        title = "rules"
        [extend]
        useDefault = true
        [[rules]]
        id = "acme"
        description = "Acme"
        regex = '''(?i)acme(_|-)([a-z0-9]{8})\b'''
        secretGroup = 2
        entropy = 1.5
        keywords = ["acme"]
        tags = ["key"]
          [[rules.allowlists]]
          regexTarget = "match"
          regexes = ['''acme-dead''']
          [rules.allowlist]
          stopwords = ["sample"]
        [[rules]]
        id = "pkcs12"
        path = '''\.p12$'''
        [allowlist]
        paths = ['''go\.sum''']
        regexes = ['''^test''']
        "#,
    )
    .unwrap();
    assert_eq!(loaded.skipped, ["pkcs12"]);
    let redactor = Redactor::off().with_rules(loaded.rules);
    let shown = |text: &str| redactor.text(text).0.into_owned();
    assert_eq!(shown("acme_a1b2c3d4."), "acme_[redacted:acme].");
    for left in ["acme-deadbeef", "acme_xsample9", "acme_test1234", "acme_aaaaaaaa", "a1b2c3d4"] {
        assert_eq!(shown(left), left);
    }
}

#[test]
fn unreadable_rules_redact_everything() {
    let engine = super::engine::Engine::all();
    assert_eq!(engine.redact("anything").0, "[redacted:rules-unreadable]");
    assert_eq!(engine.redact("[redacted:rules-unreadable]").1, 0);
    assert!(rules::own("not toml").is_err());
}
