//! Links work once and in time; cookies are known by themselves.

use hyper::header::HeaderValue;

use super::*;

#[test]
fn a_link_works_once_and_for_two_minutes() {
    let (sessions, now) = (Sessions::new(8378, false), Instant::now());
    let code = sessions.link("ana").unwrap();
    assert_eq!(sessions.redeem("another", now), None);
    assert_eq!(sessions.redeem(&code, now + Duration::from_secs(110)), Some("ana".to_owned()));
    assert_eq!(sessions.redeem(&code, now), None, "it was used");
    let code = sessions.link("ana").unwrap();
    // A little has passed since it was made.
    assert_eq!(sessions.redeem(&code, Instant::now() + Duration::from_secs(120)), None);
    assert_eq!(sessions.redeem(&code, now), None, "it was tried too late, and is gone");
}

#[test]
fn a_cookie_of_another_port_or_another_making_is_nobodys() {
    let sessions = Sessions::new(8378, false);
    let cookie = sessions.open("ana", "k1").unwrap();
    let (pair, rest) = cookie.split_once(';').unwrap();
    assert!(rest.contains("HttpOnly") && rest.contains("SameSite=Strict"), "{rest}");
    assert!(!rest.contains("Secure"), "there is no TLS on this machine");
    let who = |text: &str| {
        let mut headers = HeaderMap::new();
        headers.insert(COOKIE, HeaderValue::from_str(text).unwrap());
        sessions.find(&headers).map(|it| it.person)
    };
    assert_eq!(who(pair), Some("ana".to_owned()));
    // Another server of this machine can set one of the same name, and gets nobody in with it.
    assert_eq!(who(&format!("eclusa-approvals-8378=forged; {pair}")), Some("ana".to_owned()));
    assert_eq!(who("eclusa-approvals-8378=forged"), None);
    assert_eq!(who(&pair.replace("8378", "8379")), None);
    let secure = Sessions::new(8378, true).open("ana", "k1").unwrap();
    assert!(secure.starts_with("__Host-") && secure.ends_with("; Secure"), "{secure}");
}
