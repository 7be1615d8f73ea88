//! Fetches over a real connection to loopback, which each test allows by address and port.

use std::time::Duration;

use super::{
    Names,
    server::{Say, Server, page, redirect},
};
use crate::web::{Address, Fetched, Fetcher, HostRules, Limits, WebError};

/// A fetcher that may talk to this server, called `site.example`, and to no other private place.
fn fetcher(server: &Server, limits: Limits) -> Fetcher {
    let rules = HostRules::every_host().with_private(server.place);
    let ip = server.place.ip().to_string();
    Fetcher::new(rules, limits).with_resolver(Names::default().with("site.example", &[&[&ip]]))
}

fn at(server: &Server, path: &str) -> Address {
    Address::parse(&format!("http://site.example:{}{path}", server.place.port())).unwrap()
}

async fn get(server: &Server, path: &str) -> Result<Fetched, WebError> {
    let fetched = fetcher(server, Limits::default()).fetch(at(server, path), Some(64 * 1024)).await;
    fetched.map(|(fetched, _)| (*fetched).clone())
}

#[tokio::test]
async fn a_page_comes_from_the_address_that_was_checked() {
    let server = Server::start("127.0.0.1", |_| vec![("/a", page("text/plain", "hello"))]).await;
    let fetched = get(&server, "/a").await.unwrap();
    assert_eq!((fetched.status, fetched.body.as_slice(), fetched.cut), (200, &b"hello"[..], false));
    let asked = server.asked().concat().to_lowercase();
    assert!(asked.contains(&format!("host: site.example:{}\r\n", server.place.port())), "{asked}");
    assert!(!asked.contains("cookie") && !asked.contains("referer"), "{asked}");
}

/// Shows C6.
#[tokio::test]
async fn loopback_is_refused_unless_the_very_port_is_allowed() {
    let server = Server::start("127.0.0.1", |_| Vec::new()).await;
    let names = || Names::default().with("site.example", &[&["127.0.0.1"]]);
    let mut other = server.place;
    other.set_port(server.place.port() ^ 1);
    for rules in [HostRules::every_host(), HostRules::every_host().with_private(other)] {
        let fetcher = Fetcher::new(rules, Limits::default()).with_resolver(names());
        let literal = Address::parse(&format!("http://{}/", server.place)).unwrap();
        for address in [at(&server, "/"), literal] {
            let err = fetcher.fetch(address, None).await.unwrap_err();
            assert!(matches!(err, WebError::Special { .. }), "{err}");
        }
    }
    assert_eq!(server.asked(), [""; 0], "something was sent");
}

/// Shows C6.
#[tokio::test]
async fn a_redirect_to_a_private_address_is_refused() {
    let inner = Server::start("127.0.0.1", |_| vec![("/", page("text/plain", "secret"))]).await;
    let secret = format!("http://{}/", inner.place);
    let outer = Server::start("127.0.0.1", |_| {
        vec![("/a", redirect(&secret)), ("/b", redirect("http://169.254.169.254/latest/"))]
    })
    .await;
    for path in ["/a", "/b"] {
        let err = get(&outer, path).await.unwrap_err();
        assert!(
            matches!(&err, WebError::Redirect { why, .. } if matches!(**why, WebError::Special { .. })),
            "{err}"
        );
    }
    assert_eq!(inner.asked(), [""; 0], "the redirect was followed");
}

/// Shows C6.
#[tokio::test]
async fn a_name_that_changes_its_answer_leads_nowhere_else() {
    let server = Server::start("127.0.0.1", |_| {
        vec![("/a", page("text/plain", "hello")), ("/b", redirect("/a"))]
    })
    .await;
    let answers: &[&[&str]] = &[&["127.0.0.1"], &["127.0.0.2"]];
    let changing = || {
        let rules = HostRules::every_host().with_private(server.place);
        Fetcher::new(rules, Limits::default())
            .with_resolver(Names::default().with("site.example", answers))
    };
    // One hop asks once: the second answer is never heard.
    let (fetched, _) = changing().fetch(at(&server, "/a"), None).await.unwrap();
    assert_eq!(fetched.body, b"hello");
    // The second hop asks again, hears the second answer and refuses it.
    let err = changing().fetch(at(&server, "/b"), None).await.unwrap_err();
    assert!(matches!(err, WebError::Redirect { .. }), "{err}");
}

#[tokio::test]
async fn an_encrypted_address_is_never_asked_in_the_clear() {
    let server = Server::start("127.0.0.1", |_| vec![("/", page("text/plain", "hello"))]).await;
    let address = format!("https://site.example:{}/", server.place.port());
    let limits = Limits { time: Duration::from_secs(2), ..Limits::default() };
    let fetched = fetcher(&server, limits).fetch(Address::parse(&address).unwrap(), None).await;
    assert!(matches!(fetched, Err(WebError::Failed { .. } | WebError::Slow { .. })), "{fetched:?}");
    assert_eq!(server.asked(), [""; 0]);
}

#[tokio::test]
async fn redirects_are_followed_five_times_and_not_for_ever() {
    let server = Server::start("127.0.0.1", |_| {
        vec![
            ("/loop", redirect("/loop")),
            ("/1", redirect("/2")),
            ("/2", redirect("3")),
            ("/3", redirect("/4")),
            ("/4", redirect("/5")),
            ("/5", redirect("/6")),
            ("/6", page("text/plain", "there")),
            ("/0", redirect("/1")),
        ]
    })
    .await;
    assert_eq!(get(&server, "/1").await.unwrap().body, b"there");
    for path in ["/0", "/loop"] {
        let before = server.asked().len();
        let err = get(&server, path).await.unwrap_err();
        assert!(matches!(err, WebError::Loop { limit: 5, .. }), "{err}");
        assert_eq!(server.asked().len() - before, 6);
    }
}

#[tokio::test]
async fn a_redirect_to_another_host_is_told_and_not_followed_unless_a_rule_names_it() {
    let server = Server::start("127.0.0.1", |port| {
        let other = format!("http://other.example:{port}/there");
        vec![("/a", redirect(&other)), ("/there", page("text/plain", "other"))]
    })
    .await;
    let names = || Names::default().with("site.example", &[&["127.0.0.1"]]);
    // The other name cannot be resolved here, and nobody tries to.
    let err = get(&server, "/a").await.unwrap_err();
    assert!(matches!(err, WebError::Elsewhere { .. }), "{err}");
    assert_eq!(server.asked().len(), 1);
    let port = server.place.port();
    let named = HostRules::new(&["*".to_owned(), format!("other.example:{port}")], &[]).unwrap();
    let named = named.with_private(server.place);
    let fetcher = Fetcher::new(named, Limits::default())
        .with_resolver(names().with("other.example", &[&["127.0.0.1"]]));
    let (fetched, _) = fetcher.fetch(at(&server, "/a"), None).await.unwrap();
    assert_eq!(fetched.body, b"other");
}

#[tokio::test]
async fn a_body_is_read_up_to_the_limit_and_no_further() {
    let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n".to_vec();
    let server = Server::start("127.0.0.1", |_| {
        vec![
            ("/endless", Say::Endless(head.clone(), vec![b'x'; 65536])),
            ("/exact", page("text/plain", vec![b'x'; 64 * 1024])),
            ("/more", page("text/plain", vec![b'x'; 64 * 1024 + 1])),
        ]
    })
    .await;
    for (path, cut) in [("/endless", true), ("/exact", false), ("/more", true)] {
        let fetched = get(&server, path).await.unwrap();
        assert_eq!((fetched.body.len(), fetched.cut), (64 * 1024, cut), "{path}");
    }
}

#[tokio::test]
async fn what_is_packed_counts_unpacked() {
    let bomb = bomb(200_000);
    assert!(bomb.len() < 400_000);
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\n";
    let server = Server::start("127.0.0.1", |_| {
        vec![("/bomb", Say::Bytes([head.as_bytes(), &bomb].concat()))]
    })
    .await;
    let fetched = get(&server, "/bomb").await.unwrap();
    assert_eq!((fetched.body.len(), fetched.cut), (64 * 1024, true));
    assert!(fetched.body.iter().all(|byte| *byte == b'a'));
}

#[tokio::test]
async fn a_server_that_never_finishes_is_left() {
    let server = Server::start("127.0.0.1", |_| {
        vec![
            ("/silent", Say::Then(Vec::new())),
            (
                "/half",
                Say::Then(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nhal".to_vec()),
            ),
        ]
    })
    .await;
    let limits = Limits { time: Duration::from_millis(200), ..Limits::default() };
    for path in ["/silent", "/half"] {
        let err =
            fetcher(&server, limits.clone()).fetch(at(&server, path), None).await.unwrap_err();
        assert!(matches!(err, WebError::Slow { .. }), "{err}");
    }
}

#[tokio::test]
async fn what_is_binary_is_not_read() {
    let endless =
        b"HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\nContent-Length: 9000000000\r\n\r\n";
    let server = Server::start("127.0.0.1", |_| vec![("/film", Say::Then(endless.to_vec()))]).await;
    let fetched = get(&server, "/film").await.unwrap();
    assert_eq!((fetched.body.len(), fetched.length), (0, Some(9_000_000_000)));
}

#[tokio::test]
async fn an_answer_is_known_for_a_while() {
    let server = Server::start("127.0.0.1", |_| vec![("/a", page("text/plain", "hello"))]).await;
    let keeping = fetcher(&server, Limits::default());
    let none = fetcher(&server, Limits { keep: Duration::ZERO, ..Limits::default() });
    for (fetcher, most, known, asked) in [
        (&keeping, Some(3), false, 1),
        (&keeping, Some(3), true, 1),
        // Less was kept than is wanted now.
        (&keeping, None, false, 2),
        (&keeping, Some(2), true, 2),
        (&none, None, false, 3),
        (&none, None, false, 4),
    ] {
        let (_, was_known) = fetcher.fetch(at(&server, "/a"), most).await.unwrap();
        assert_eq!((was_known, server.asked().len()), (known, asked));
    }
}

/// Many times 258 letters as gzip, 13 bits for each: one letter, then "the same again".
fn bomb(times: usize) -> Vec<u8> {
    let mut bits: Vec<bool> = vec![true, true, false]; // the last block, with the fixed code
    let mut code = |code: u32, length: u32| {
        bits.extend((0..length).rev().map(|at| (code >> at) & 1 == 1));
    };
    code(0x30 + u32::from(b'a'), 8);
    for _ in 0..times {
        code(0b1100_0101, 8);
        code(0, 5);
    }
    code(0, 7);
    let mut gzip = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    gzip.extend(bits.chunks(8).map(|byte| {
        byte.iter().enumerate().fold(0u8, |sum, (at, bit)| sum | (u8::from(*bit) << at))
    }));
    gzip.extend([0; 8]);
    gzip
}
