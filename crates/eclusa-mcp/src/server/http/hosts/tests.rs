//! What passes for this host, and what only begins or ends like it.

use hyper::header::HeaderValue;

use super::*;

fn accepts(host: &[&str], origin: &[&str]) -> bool {
    let names = HostNames(["localhost", "127.0.0.1", "::1"].map(str::to_owned).into());
    let mut headers = HeaderMap::new();
    for host in host {
        headers.append(HOST, HeaderValue::from_str(host).unwrap());
    }
    for origin in origin {
        headers.append(ORIGIN, HeaderValue::from_str(origin).unwrap());
    }
    names.accept(&headers)
}

#[test]
fn a_host_is_read_whole() {
    for host in ["localhost", "LOCALHOST:8377", "127.0.0.1:1", "[::1]", "[::1]:8377"] {
        assert!(accepts(&[host], &[]), "{host}");
    }
    for host in [
        "",
        "evil.example",
        "localhost.evil.example",
        "[::1].evil.example",
        "[localhost]evil",
        "[localhost]",
        "localhost:80.evil.example",
        "localhost:",
        "localhost:+80",
        "localhost:99999",
        "localhost@evil.example",
        "localhost, evil.example",
        "::1",
        "[::1",
    ] {
        assert!(!accepts(&[host], &[]), "{host}");
    }
    assert!(!accepts(&[], &[]));
    assert!(!accepts(&["localhost", "localhost"], &[]));
}

#[test]
fn an_origin_is_a_page_of_this_host_or_none() {
    for origin in ["http://localhost", "https://localhost:3000", "http://[::1]:1"] {
        assert!(accepts(&["localhost"], &[origin]), "{origin}");
    }
    for origin in [
        "null",
        "localhost",
        "ftp://localhost",
        "http://evil.example",
        "http://localhost:80.evil.example",
        "http://localhost/",
        "http://localhost@evil.example",
        "http://[::1].evil.example",
        "HTTP://localhost.",
    ] {
        assert!(!accepts(&["localhost"], &[origin]), "{origin}");
    }
    assert!(!accepts(&["localhost"], &["http://localhost", "http://localhost"]));
}
