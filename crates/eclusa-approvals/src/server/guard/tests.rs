//! Each way in that is not ours.

use super::*;

fn headers(all: &[(&str, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in all {
        headers.append(
            HeaderName::from_bytes(name.as_bytes()).unwrap(),
            HeaderValue::from_str(value).unwrap(),
        );
    }
    headers
}

#[test]
fn only_our_own_names_are_answered() {
    let guard = Guard::new(8378, &["https://approvals.example".to_owned()]);
    let get = |host: &[(&str, &str)]| guard.check(&Method::GET, &headers(host));
    for ours in
        ["localhost:8378", "LOCALHOST:8378", "127.0.0.1:8378", "[::1]:8378", "approvals.example"]
    {
        assert_eq!(get(&[("host", ours)]), Ok(()), "{ours}");
    }
    for other in [
        "localhost",
        "localhost:8379",
        "evil.example",
        "evil.example:8378",
        "localhost:8378.evil.example",
        "127.0.0.1.evil.example:8378",
        "",
    ] {
        assert_eq!(get(&[("host", other)]), Err(Refusal::Host), "{other}");
    }
    assert_eq!(get(&[]), Err(Refusal::Host));
    assert_eq!(get(&[("host", "localhost:8378"), ("host", "evil.example")]), Err(Refusal::Host));
}

#[test]
fn only_our_own_page_writes() {
    let guard = Guard::new(8378, &[]);
    let json = ("content-type", "application/json");
    let ours = [
        ("host", "localhost:8378"),
        ("origin", "http://localhost:8378"),
        ("sec-fetch-site", "same-origin"),
        json,
    ];
    assert_eq!(guard.check(&Method::POST, &headers(&ours)), Ok(()));
    let with = |at: usize, value: Option<&'static str>| {
        let mut changed = ours.to_vec();
        match value {
            Some(value) => changed[at].1 = value,
            None => drop(changed.remove(at)),
        }
        guard.check(&Method::POST, &headers(&changed))
    };
    for origin in [
        None,
        Some("null"),
        Some("http://localhost:3000"),
        Some("https://localhost:8378"),
        Some("http://127.0.0.1:8378"),
        Some("http://evil.example"),
    ] {
        assert_eq!(with(1, origin), Err(Refusal::Origin), "{origin:?}");
    }
    for site in [None, Some("same-site"), Some("cross-site"), Some("none")] {
        assert_eq!(with(2, site), Err(Refusal::Origin), "{site:?}");
    }
    for kind in [
        None,
        Some("text/plain"),
        Some("application/x-www-form-urlencoded"),
        Some("application/json; charset=utf-8"),
    ] {
        assert_eq!(with(3, kind), Err(Refusal::Type), "{kind:?}");
    }
    assert_eq!(guard.check(&Method::DELETE, &headers(&ours[..1])), Err(Refusal::Origin));
}

#[test]
fn every_answer_is_protected() {
    let mut answer = Response::new(());
    protect(&mut answer);
    let policy = answer.headers()[CONTENT_SECURITY_POLICY].to_str().unwrap();
    assert!(policy.starts_with("default-src 'none'; script-src 'self'"));
    assert!(policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe"));
    assert_eq!(answer.headers()[CACHE_CONTROL], "no-store");
}
