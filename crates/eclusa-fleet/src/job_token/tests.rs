//! What a token must be to let a job in: each thing by itself. The token by RSA was made once with openssl, whose key is gone.

use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use ring::{
    hmac,
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _},
};
use serde_json::json;

use super::*;

/// When the token by RSA is good, in seconds.
const AT: u64 = 1_800_000_000;

const MODULUS: &str = concat!(
    "x0k7b4Y8a6Ce_XT5f7oeqrIEvV1y-ORgsK-TPrfX3g6UU8F-aQwcSwv53fDDYhrgEYnRg0rUKWF0SrDfr2mH5icvnGFQoV22D4b6",
    "vAm-8LUnzx1rQmlw03Vwe8Kd2YXFTkNV2ZRMj-cBGwVPbgwAnggFWKgR5-NKdjagXnrVxvQ-l9OyhW9aLXSFGt_uNHKSEMcY_3gm",
    "8k1jp2gsgk1K5FwRJLmdir_9e7eIyy_-uHzYqwmSkl3pN2nBi94Q717y5WDeuPqddLCTUCHv8C0yB5N0szqwEXj2wx5MD9zwM9_e",
    "4R5_tHlvra19wN2sS89_ZGR-WDRXK6mDInyo5Xhw0w",
);

const BY_RSA: &str = concat!(
    "eyJhbGciOiJSUzI1NiIsImtpZCI6InJzYS0xIiwidHlwIjoiSldUIn0.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwi",
    "YXVkIjoiZWNsdXNhLWFjbWUiLCJzdWIiOiJyZXBvOmFjbWUvd2ViOnJlZjpyZWZzL2hlYWRzL21haW4iLCJyZXBvc2l0b3J5Ijoi",
    "YWNtZS93ZWIiLCJpYXQiOjE3OTk5OTk5OTAsImV4cCI6MTgwMDAwMDYwMH0.g47XdHr4FcRvRA11gWjFaEFhj_fbPygCrS2Yp7uF",
    "FgMBorngdELSEKKgtK3oQAXje_uaDCwX7bdw-9CORiJ2LTXTv0vciZhVIBbY2CZcUAhYAulI_TZEwa8_ibmls0aRGUaNbueO6FnS",
    "eFjC327qXFZtv7sUaZkLMyjZ8lJVxCE6GQOlnmTTLkz1YFPs1ytPQIhnJtikqCanT4m5jMACclWZzXZfI6wABsXaU5tRxtTNM_wZ",
    "kpIzvrrVWJyZ78sKyT-Lx7m3Wah1stwz47XVDpVTp07u7PYsdZ7m8AyXCmX8uaAn4eKkOcnLC03Es3pSYICt3brcM9aP6UWMHe3j",
    "0g",
);

fn rsa() -> IssuerKey {
    let key = json!({"kid": "rsa-1", "kty": "RSA", "n": MODULUS, "e": "AQAB", "alg": "RS256", "use": "sig"});
    serde_json::from_value(key).unwrap()
}

/// An issuer with a key of its own.
struct Issuer(EcdsaKeyPair);

impl Issuer {
    fn new() -> Issuer {
        let (random, kind) = (SystemRandom::new(), &ECDSA_P256_SHA256_FIXED_SIGNING);
        let made = EcdsaKeyPair::generate_pkcs8(kind, &random).unwrap();
        Issuer(EcdsaKeyPair::from_pkcs8(kind, made.as_ref(), &random).unwrap())
    }

    fn key(&self, kid: &str) -> IssuerKey {
        let point = self.0.public_key().as_ref();
        let (x, y) = (BASE64.encode(&point[1..33]), BASE64.encode(&point[33..]));
        let key = json!({"kid": kid, "kty": "EC", "crv": "P-256", "x": x, "y": y});
        serde_json::from_value(key).unwrap()
    }

    fn sign(&self, head: &Value, claims: &Value) -> String {
        let text =
            format!("{}.{}", BASE64.encode(head.to_string()), BASE64.encode(claims.to_string()));
        let signature = self.0.sign(&SystemRandom::new(), text.as_bytes()).unwrap();
        format!("{text}.{}", BASE64.encode(signature.as_ref()))
    }

    fn token(&self, change: impl FnOnce(&mut Value, &mut Value)) -> String {
        let mut head = json!({"alg": "ES256", "kid": "ec-1"});
        let mut claims = claims();
        change(&mut head, &mut claims);
        self.sign(&head, &claims)
    }
}

fn claims() -> Value {
    json!({
        "iss": "https://issuer.example", "aud": "eclusa-acme", "sub": "repo:acme/web:ref:refs/heads/main",
        "repository": "acme/web", "iat": AT - 10, "exp": AT + 600,
    })
}

fn enrolment() -> JobEnrolment {
    let pairs = |name: &str, value: &str| BTreeMap::from([(name.to_owned(), value.to_owned())]);
    JobEnrolment {
        issuer: "https://issuer.example".to_owned(),
        audience: "eclusa-acme".to_owned(),
        claims: pairs("repository", "acme/*"),
        labels: pairs("team", "web"),
        keys: Vec::new(),
    }
}

fn check_at(token: &str, keys: &[IssuerKey], now: u64) -> Result<JobIdentity, String> {
    let token = JobToken::parse(token).map_err(|err| err.to_string())?;
    token.check(&[enrolment()], keys, now * 1_000).map_err(|err| err.to_string())
}

fn check(token: &str, keys: &[IssuerKey]) -> Result<JobIdentity, String> {
    check_at(token, keys, AT)
}

#[test]
fn a_job_is_let_in_by_either_kind_of_key() {
    let issuer = Issuer::new();
    let keys = [rsa(), issuer.key("ec-1")];
    for token in [BY_RSA.to_owned(), issuer.token(|_, _| {})] {
        let job = check(&token, &keys).unwrap();
        assert_eq!(job.subject, "repo:acme/web:ref:refs/heads/main");
        assert_eq!(job.labels, enrolment().labels);
    }
    let several = issuer.token(|_, claims| claims["aud"] = json!(["other", "eclusa-acme"]));
    assert!(check(&several, &keys).is_ok());
    // Keys that the policy names count in the place of those that are published.
    let token = JobToken::parse(&issuer.token(|_, _| {})).unwrap();
    let pinned = JobEnrolment { keys: vec![issuer.key("ec-1")], ..enrolment() };
    assert!(token.check(&[pinned], &[], AT * 1_000).is_ok());
    let pinned = JobEnrolment { keys: vec![Issuer::new().key("ec-1")], ..enrolment() };
    assert!(token.check(&[pinned], &[issuer.key("ec-1")], AT * 1_000).is_err());
}

#[test]
fn what_a_platform_did_not_say_of_this_job_counts_for_nothing() {
    let issuer = Issuer::new();
    let keys = [rsa(), issuer.key("ec-1")];
    let refused = |what: &str, token: &str| {
        let why = check(token, &keys).unwrap_err();
        assert!(why.contains(what), "{what}: {why}");
    };
    let changed = |change: fn(&mut Value)| issuer.token(|_, claims| change(claims));
    refused(
        "no job of the issuer",
        &changed(|it| it["iss"] = json!("https://issuer.example.evil")),
    );
    refused("another audience", &changed(|it| it["aud"] = json!("eclusa-other")));
    refused("another audience", &changed(|it| it["aud"] = json!(null)));
    refused(
        "not what the policy lets enrol",
        &changed(|it| it["repository"] = json!("evil/acme/web")),
    );
    refused(
        "not what the policy lets enrol",
        &changed(|it| it["repository"] = json!(["acme/web"])),
    );
    refused("does not say until when", &changed(|it| it["exp"] = json!(null)));
    refused("good for more than a day", &changed(|it| it["exp"] = json!(AT + 90_000)));
    refused("has not come yet", &changed(|it| it["nbf"] = json!(AT + 300)));
    refused("has not come yet", &changed(|it| it["iat"] = json!(AT + 300)));
    let token = issuer.token(|_, _| {});
    assert!(check_at(&token, &keys, AT + 655).is_ok(), "clocks differ by a minute");
    let why = check_at(&token, &keys, AT + 661).unwrap_err();
    assert!(why.contains("has expired"), "{why}");
}

#[test]
fn a_signature_counts_by_the_key_and_the_algorithm_of_the_issuer_alone() {
    let issuer = Issuer::new();
    let keys = [rsa(), issuer.key("ec-1")];
    let refused = |what: &str, token: &str| {
        let why = check(token, &keys).unwrap_err();
        assert!(why.contains(what), "{what}: {why}");
    };
    // No signature, and a digest keyed with what is public.
    for (algorithm, kid) in
        [("none", "ec-1"), ("None", "ec-1"), ("HS256", "rsa-1"), ("HS256", "ec-1")]
    {
        let head = json!({"alg": algorithm, "kid": kid});
        let text =
            format!("{}.{}", BASE64.encode(head.to_string()), BASE64.encode(claims().to_string()));
        refused("only RS256 and ES256 count", &format!("{text}."));
        for secret in [BASE64.decode(MODULUS).unwrap(), MODULUS.as_bytes().to_vec()] {
            let key = hmac::Key::new(hmac::HMAC_SHA256, &secret);
            let signature = BASE64.encode(hmac::sign(&key, text.as_bytes()));
            refused("only RS256 and ES256 count", &format!("{text}.{signature}"));
        }
    }
    // A key is for its own algorithm, by its own name, and nobody else's.
    refused("no key `ec-1`", &issuer.token(|head, _| head["alg"] = json!("RS256")));
    refused("no key `rsa-1`", &issuer.token(|head, _| head["kid"] = json!("rsa-1")));
    refused("no key `other`", &issuer.token(|head, _| head["kid"] = json!("other")));
    refused("which key signed it", &issuer.token(|head, _| head["kid"] = json!(null)));
    refused("no key `ec-1`", &Issuer::new().token(|_, _| {}));
    refused("extensions", &issuer.token(|head, _| head["crit"] = json!(["b64"])));
    let (head, rest) = BY_RSA.split_once('.').unwrap();
    let (body, signature) = rest.split_once('.').unwrap();
    let other = BASE64.encode(json!({"iss": "https://issuer.example", "aud": "eclusa-acme", "repository": "acme/x", "exp": AT + 9}).to_string());
    refused("no key `rsa-1`", &format!("{head}.{other}.{signature}"));
    refused("no key `rsa-1`", &format!("{head}.{body}."));
    let for_encryption = IssuerKey { used_for: Some("enc".to_owned()), ..issuer.key("ec-1") };
    assert!(check(&issuer.token(|_, _| {}), &[for_encryption]).is_err());
    for broken in ["", "a.b.c", "..", &"a".repeat(20_000), &format!("{BY_RSA}.x")] {
        assert!(JobToken::parse(broken).is_err() || check(broken, &keys).is_err());
    }
}

#[test]
fn a_policy_that_lets_everybody_in_is_not_signed() {
    let narrow = |claims: &[(&str, &str)]| JobEnrolment {
        claims: claims.iter().map(|it| (it.0.to_owned(), it.1.to_owned())).collect(),
        ..enrolment()
    };
    assert!(narrow(&[("repository", "acme/*")]).check().is_ok());
    for everybody in
        [narrow(&[]), narrow(&[("repository", "*")]), narrow(&[("a", "*"), ("b", "**")])]
    {
        assert!(
            everybody.check().unwrap_err().to_string().contains("lets every job of everybody in")
        );
    }
    let plain = JobEnrolment { issuer: "http://issuer.example".to_owned(), ..enrolment() };
    assert!(plain.check().unwrap_err().to_string().contains("over HTTPS"));
}

#[test]
fn a_star_stands_for_any_text() {
    for (pattern, text, expected) in [
        ("acme/*", "acme/web", true),
        ("acme/*", "evil/acme/web", false),
        ("acme/web", "acme/web2", false),
        ("*:ref:refs/heads/main", "repo:acme/web:ref:refs/heads/main", true),
        ("repo:*:ref:*main", "repo:a:ref:refs/heads/main", true),
        ("a*a", "a", false),
        ("a*b*c", "a-c-b-c", true),
        ("a*b*c", "a-c", false),
        ("*", "", true),
    ] {
        assert_eq!(fits(pattern, text), expected, "{pattern} {text}");
    }
}
