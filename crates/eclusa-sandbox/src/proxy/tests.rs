//! What a head and a greeting say, and that nothing is read in two ways.

use proptest::prelude::*;

use super::{
    Host, Hosts, Way,
    head::{self, BodyLength},
    hello::{self, Greeting},
};

fn head(text: &str) -> Result<head::RequestHead, String> {
    head::read(text.replace('\n', "\r\n").as_bytes(), None)
}

#[test]
fn a_plain_request_is_written_anew() {
    let text = "POST http://Example.ORG:8080/a/b?c=d HTTP/1.1\nHost: example.org:8080\n\
                Proxy-Authorization: secret\nConnection: keep-alive, X-Hop\nX-Hop: 1\nX-Kept:  v \n\
                Content-Length: 5\n\n";
    let head = head(text).unwrap();
    let expected = "POST /a/b?c=d HTTP/1.1\r\nHost: example.org:8080\r\nx-kept: v\r\n\
                    content-length: 5\r\nConnection: close\r\n\r\n";
    assert_eq!(String::from_utf8(head.rewritten).unwrap(), expected);
    assert_eq!(
        (head.host, head.port, head.way),
        (Host::Name("example.org".into()), 8080, Way::Plain)
    );
    assert_eq!(head.body, BodyLength::Sized(5));
}

#[test]
fn the_header_that_says_where_the_body_ends_cannot_be_dropped() {
    let text = "POST http://a.example/ HTTP/1.1\nConnection: content-length\nContent-Length: 5\n\n";
    let head = head(text).unwrap();
    assert!(String::from_utf8(head.rewritten).unwrap().contains("content-length: 5\r\n"));
}

#[test]
fn requests_that_could_be_read_in_two_ways_are_refused() {
    let table = [
        "GET /path HTTP/1.1\nHost: a.example\n\n",
        "GET https://a.example/ HTTP/1.1\n\n",
        "GET ftp://a.example/ HTTP/1.1\n\n",
        "GET http://a.example/ HTTP/2\n\n",
        "GET  http://a.example/ HTTP/1.1\n\n",
        "GET http://a.example/ b HTTP/1.1\n\n",
        "GET http://user@a.example/ HTTP/1.1\n\n",
        "GET http://a.example#b/ HTTP/1.1\n\n",
        "GET http://a.example\\@b.example/ HTTP/1.1\n\n",
        "GET http:/// HTTP/1.1\n\n",
        "GET http://a.example:0/ HTTP/1.1\n\n",
        "GET http://a.example:+80/ HTTP/1.1\n\n",
        "GET http://a.example:99999/ HTTP/1.1\n\n",
        "GET http://ä.example/ HTTP/1.1\n\n",
        "GET http://a.example\0.b.example/ HTTP/1.1\n\n",
        "GET http://127.1/ HTTP/1.1\n\n",
        "GET http://0x7f000001/ HTTP/1.1\n\n",
        "GET http://2130706433/ HTTP/1.1\n\n",
        "GET http://[::1/ HTTP/1.1\n\n",
        "GET http://a.example/ HTTP/1.1\nHost: b.example\n\n",
        "GET http://a.example/ HTTP/1.1\nHost: a.example:81\n\n",
        "GET http://a.example/ HTTP/1.1\nHost: a.example\nHost: a.example\n\n",
        "GET http://a.example/ HTTP/1.1\nHost : a.example\n\n",
        "GET http://a.example/ HTTP/1.1\nX: 1\n folded\n\n",
        "GET http://a.example/ HTTP/1.1\nno colon\n\n",
        "POST http://a.example/ HTTP/1.1\nContent-Length: 5\nContent-Length: 5\n\n",
        "POST http://a.example/ HTTP/1.1\nContent-Length: 5\nTransfer-Encoding: chunked\n\n",
        "POST http://a.example/ HTTP/1.1\nContent-Length: +5\n\n",
        "POST http://a.example/ HTTP/1.1\nContent-Length: 5, 5\n\n",
        "POST http://a.example/ HTTP/1.1\nTransfer-Encoding: gzip, chunked\n\n",
        "POST http://a.example/ HTTP/1.1\nTransfer-Encoding: xchunked\n\n",
        "CONNECT a.example HTTP/1.1\n\n",
        "CONNECT http://a.example:443/ HTTP/1.1\n\n",
        "CONNECT a.example:443 HTTP/1.1\nHost: b.example:443\n\n",
        "CONNECT a.example:443:443 HTTP/1.1\n\n",
        "CONNECT [::1]443 HTTP/1.1\n\n",
    ];
    for text in table {
        assert!(head(text).is_err(), "{text:?}");
    }
    for bytes in [
        "GET http://a.example/ HTTP/1.1\nHost: a.example\n\n".as_bytes(),
        b"GET http://a.example/ HTTP/1.1\r\nX: a\nY: b\r\n\r\n",
        b"GET http://a.example/ HTTP/1.1\r\nX: a\rY: b\r\n\r\n",
        b"GET http://a.example/ HTTP/1.1\r\nX: \xff\r\n\r\n",
    ] {
        assert!(head::read(bytes, None).is_err(), "{bytes:?}");
    }
}

#[test]
fn hosts_are_compared_as_names_and_not_as_text() {
    let hosts =
        Hosts::new(&["example.org", "*.example.net", "api.example.com:8443", "[::1]:443"]).unwrap();
    let table = [
        ("example.org", 443, true),
        ("EXAMPLE.org.", 443, true),
        ("example.org", 80, false),
        ("example.org", 22, false),
        ("sub.example.org", 443, false),
        ("example.org.evil.example", 443, false),
        ("evilexample.org", 443, false),
        ("a.example.net", 443, true),
        ("a.b.example.net", 443, true),
        ("example.net", 443, false),
        ("evilexample.net", 443, false),
        ("api.example.com", 8443, true),
        ("api.example.com", 443, false),
        ("[::1]", 443, true),
        ("93.184.215.14", 443, false),
    ];
    for (host, port, allowed) in table {
        let host = Host::parse(host).unwrap();
        assert_eq!(hosts.allow(&host, port, Way::Tunnel), allowed, "{host}:{port}");
    }
    let plain = |host: &str| hosts.allow(&Host::parse(host).unwrap(), 80, Way::Plain);
    assert!(plain("example.org") && !plain("api.example.com"));
    assert!(!Hosts::none().allow(&Host::Name("example.org".into()), 443, Way::Tunnel));
}

#[test]
fn a_rule_that_cannot_be_read_is_an_error() {
    for entry in [
        "",
        "*.",
        "**",
        "a*b.example",
        "https://a.example",
        "a.example/",
        "a.example:",
        "a.example:x",
        "*.1.2.3.4",
        "user@a.example",
        "a..b",
    ] {
        assert!(Hosts::new(&[entry]).is_err(), "{entry:?}");
    }
}

/// A greeting that names these hosts, in records of this size.
fn greeting(names: &[&str], record: usize) -> Vec<u8> {
    let counted = |width: usize, bytes: &[u8]| {
        let length = (bytes.len() as u32).to_be_bytes();
        [&length[4 - width..], bytes].concat()
    };
    let mut extensions = vec![0, 23, 0, 0];
    for name in names {
        let entry = [vec![0], counted(2, name.as_bytes())].concat();
        extensions.extend([vec![0, 0], counted(2, &counted(2, &entry))].concat());
    }
    let body = [
        vec![3, 3],
        vec![7; 32],
        counted(1, &[9; 32]),
        counted(2, &[0x13, 1]),
        counted(1, &[0]),
        counted(2, &extensions),
    ]
    .concat();
    let message = [vec![1], counted(3, &body)].concat();
    message.chunks(record).flat_map(|part| [vec![22, 3, 1], counted(2, part)].concat()).collect()
}

#[test]
fn the_name_in_a_greeting_is_found_however_it_is_cut() {
    for record in [1, 3, 50, 16384] {
        let bytes = greeting(&["example.org"], record);
        let whole = Greeting::Whole(Some("example.org".to_owned()));
        assert_eq!(hello::read(&bytes), Ok(whole));
        for end in 0..bytes.len() {
            assert_eq!(hello::read(&bytes[..end]), Ok(Greeting::Partial), "{record} {end}");
        }
    }
    assert_eq!(hello::read(&greeting(&[], 100)), Ok(Greeting::Whole(None)));
}

#[test]
fn a_greeting_of_openssl_is_read() {
    let bytes = include_bytes!("tests/openssl-greeting.bin");
    let whole = Greeting::Whole(Some("www.example.org".to_owned()));
    assert_eq!(hello::read(bytes), Ok(whole));
}

#[test]
fn a_greeting_that_names_two_hosts_or_none_properly_is_refused() {
    assert!(hello::read(&greeting(&["a.example", "b.example"], 9999)).is_err());
    assert!(hello::read(&greeting(&["a.example", "a.example"], 9999)).is_err());
    for bytes in [
        b"GET / HTTP/1.1\r\n".as_slice(),
        b"SSH-2.0-x",
        &[22, 3, 1, 0, 0],
        &[22, 2, 0],
        &[22, 3, 1, 0, 4, 2, 0, 0, 0],
        &[21, 3, 1, 0, 2],
    ] {
        assert!(hello::read(bytes).is_err(), "{bytes:?}");
    }
}

/// Sends a request to a proxy that reaches no host, and gives its answer.
fn asked(request: &str, service: Option<std::net::SocketAddr>) -> String {
    use std::io::{Read as _, Write as _};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let own = listener.local_addr().unwrap();
    let proxy = super::Proxy::new(Hosts::none(), |_| {});
    let proxy = match service {
        Some(place) => proxy.with_model_proxy(super::ModelService {
            proxy: place,
            host: "model.example".to_owned(),
            port: 443,
        }),
        None => proxy,
    };
    let _serving = proxy.serve(listener).unwrap();
    let mut client = std::net::TcpStream::connect(own).unwrap();
    client.write_all(request.replace("OWN", &own.to_string()).as_bytes()).unwrap();
    let mut answer = String::new();
    client.read_to_string(&mut answer).unwrap();
    answer
}

/// A server that answers every request with its first line.
fn echoing() -> std::net::SocketAddr {
    use std::io::{BufRead as _, Write as _};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut line = String::new();
            let mut reader = std::io::BufReader::new(stream);
            reader.read_line(&mut line).unwrap();
            let answer = format!("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{line}");
            reader.into_inner().write_all(answer.as_bytes()).unwrap();
        }
    });
    address
}

#[test]
fn what_is_asked_of_the_proxy_itself_goes_through_the_door_and_nothing_else_does() {
    let service = echoing();
    for target in ["/v1/x?y=z", "http://OWN/v1/x?y=z"] {
        let request = format!("GET {target} HTTP/1.1\r\nHost: OWN\r\n\r\n");
        let answer = asked(&request, Some(service));
        assert!(answer.ends_with("GET /v1/x?y=z HTTP/1.1\r\n"), "{answer}");
        let answer = asked(&request, None);
        assert!(answer.starts_with("HTTP/1.1 4"), "{answer}");
    }
    for request in [
        "GET /x HTTP/1.1\r\nHost: other.example\r\n\r\n".to_owned(),
        format!("GET http://{service}/x HTTP/1.1\r\n\r\n"),
        "GET //other.example/x HTTP/1.1\r\nHost: a\r\n\r\n".to_owned(),
        "CONNECT OWN HTTP/1.1\r\n\r\n".to_owned(),
    ] {
        let answer = asked(&request, Some(service));
        assert!(answer.starts_with("HTTP/1.1 4"), "{request} {answer}");
    }
}

proptest! {
    #[test]
    fn no_bytes_make_a_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), at in 0..120_usize, with in any::<u8>()) {
        let _ = hello::read(&bytes);
        let _ = head::read(&bytes, None);
        let mut near = greeting(&["example.org"], 60);
        if let Some(byte) = near.get_mut(at) { *byte = with; }
        if let Ok(Greeting::Whole(Some(name))) = hello::read(&near) {
            prop_assert!(name.is_ascii());
        }
    }

    #[test]
    fn a_request_that_is_let_through_goes_to_the_host_that_was_judged(host in "[a-z0-9.:@#/\\[\\]%-]{1,24}", path in "[ -~]{0,12}") {
        let text = format!("GET http://{host}/{path} HTTP/1.1\r\n\r\n");
        if let Ok(head) = head::read(text.as_bytes(), None) {
            let sent = String::from_utf8(head.rewritten).unwrap();
            let mut lines = sent.split("\r\n");
            prop_assert_eq!(lines.next().unwrap().split(' ').count(), 3);
            let named = if head.port == 80 { head.host.to_string() } else { format!("{}:{}", head.host, head.port) };
            prop_assert_eq!(lines.next().unwrap(), format!("Host: {}", named));
        }
    }
}
