//! Requests that are not encrypted.

use std::{
    io::{Read, Write},
    net::{IpAddr, SocketAddr},
    sync::atomic::Ordering,
    time::Duration,
};

use eclusa_sandbox::proxy::{Limits, Refusal, Way};

use crate::world::{HERE, World, echo, host, server};

fn rule(host: SocketAddr) -> String {
    format!("a.example:{}", host.port())
}

#[test]
fn an_allowed_host_gets_the_request_and_it_is_reported_with_its_bytes() {
    let echo = echo();
    let world = World::new(&[&rule(echo)], &[("a.example", &[HERE])], echo);
    let port = echo.port();
    let answer = world.ask(format!("POST http://a.example:{port}/x HTTP/1.1\r\nContent-Length: 4\r\n\r\nbodyGET http://b.example/ HTTP/1.1\r\n\r\n").as_bytes());
    let sent = format!(
        "POST /x HTTP/1.1\r\nHost: a.example:{port}\r\ncontent-length: 4\r\nConnection: close\r\n\r\nbody"
    );
    assert!(answer.ends_with(&format!("\r\n\r\n{sent}")), "nothing follows the body: {answer}");
    let attempts = world.attempts();
    assert_eq!(attempts.len(), 1);
    let attempt = &attempts[0];
    assert_eq!((attempt.host.as_str(), attempt.port, attempt.way), ("a.example", port, Way::Plain));
    assert_eq!(attempt.outcome, Ok(echo));
    assert_eq!((attempt.sent, attempt.received), (sent.len() as u64, answer.len() as u64));
}

#[test]
fn chunks_are_written_anew_and_nothing_follows_the_last() {
    let echo = echo();
    let world = World::new(&[&rule(echo)], &[("a.example", &[HERE])], echo);
    let head = format!(
        "POST http://a.example:{}/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
        echo.port()
    );
    let answer = world.ask(
        format!("{head}0004;x=y\r\nwiki\r\n0\r\nTrailer: t\r\n\r\nGET /smuggled HTTP/1.1\r\n\r\n")
            .as_bytes(),
    );
    assert!(answer.ends_with("\r\n\r\n4\r\nwiki\r\n0\r\n\r\n"), "{answer}");
    for wrong in [
        "-1\r\n",
        "0x4\r\nwiki\r\n",
        "4\nwiki\r\n0\r\n\r\n",
        "4\r\nwikiX0\r\n\r\n",
        "fffffffff\r\n",
        "\r\n",
    ] {
        let answer = world.ask(format!("{head}{wrong}").as_bytes());
        assert_eq!(answer, "", "half a request gets no answer: {wrong:?}");
    }
}

#[test]
fn a_host_that_no_rule_allows_is_refused_before_anybody_resolves_it() {
    let echo = echo();
    let world = World::new(&[&rule(echo)], &[("b.example", &[HERE])], echo);
    let answer = world.ask(b"GET http://b.example/secret HTTP/1.1\r\n\r\n");
    assert!(
        answer.starts_with("HTTP/1.1 403 ") && answer.contains("`b.example` is not among"),
        "{answer}"
    );
    let answer = world.ask(b"GET http://a.example/ HTTP/1.1\r\n\r\n");
    assert!(answer.starts_with("HTTP/1.1 403 "), "another port is another rule: {answer}");
    assert_eq!(world.asked.load(Ordering::SeqCst), 0);
    let attempts = world.attempts();
    assert_eq!(attempts[0].outcome, Err(Refusal::Host("b.example".to_owned())));
    let grants: Vec<_> = attempts.iter().map(|it| it.grant()).collect();
    assert_eq!(grants, [Some("b.example".to_owned()), Some("a.example".to_owned())]);
}

#[test]
fn addresses_that_are_not_public_are_refused_in_every_dress() {
    let echo = echo();
    let dressed = [
        "127.0.0.1",
        "10.0.0.1",
        "192.168.1.1",
        "172.16.0.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "::1",
        "::",
        "::ffff:127.0.0.1",
        "::ffff:169.254.169.254",
        "64:ff9b::7f00:1",
        "fd00:ec2::254",
        "fe80::1",
        "2002:7f00:1::",
    ];
    for text in dressed {
        let ip: IpAddr = text.parse().unwrap();
        let public: IpAddr = "93.184.215.14".parse().unwrap();
        // One bad answer among good ones is a no; and so is the address itself, even if allowed.
        let shown = if ip.is_ipv6() { format!("[{ip}]") } else { ip.to_string() };
        let world = World::new(&["a.example", &shown], &[("a.example", &[public, ip])], echo);
        for host in ["a.example", &shown] {
            let answer = world.ask(format!("GET http://{host}/ HTTP/1.1\r\n\r\n").as_bytes());
            assert!(answer.starts_with("HTTP/1.1 403 "), "{host} {text}: {answer}");
        }
        let attempts = world.attempts();
        assert!(
            attempts.iter().all(|it| matches!(it.outcome, Err(Refusal::Special { .. }))),
            "{attempts:?}"
        );
    }
}

#[test]
fn a_name_is_resolved_once_and_the_judged_address_is_connected_to() {
    let echo = echo();
    let world = World::new(&[&rule(echo)], &[("a.example", &[HERE])], echo);
    world.ask(format!("GET http://a.example:{}/ HTTP/1.1\r\n\r\n", echo.port()).as_bytes());
    assert_eq!(world.asked.load(Ordering::SeqCst), 1);
}

#[test]
fn names_without_address_and_hosts_that_do_not_answer_are_told_apart() {
    // Nobody listens at the near end of a connection, and as long as it is there nobody else can.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let silent = taken.local_addr().unwrap();
    let world = World::new(&["*"], &[("a.example", &[HERE]), ("none.example", &[])], silent);
    let answer =
        world.ask(format!("GET http://a.example:{}/ HTTP/1.1\r\n\r\n", silent.port()).as_bytes());
    assert!(answer.starts_with("HTTP/1.1 502 "), "{answer}");
    for name in ["none.example", "unknown.example"] {
        assert!(
            world
                .ask(format!("GET http://{name}/ HTTP/1.1\r\n\r\n").as_bytes())
                .starts_with("HTTP/1.1 502 ")
        );
    }
    let attempts = world.attempts();
    assert!(matches!(attempts[0].outcome, Err(Refusal::Unreachable { .. })));
    assert!(matches!(attempts[1].outcome, Err(Refusal::Unresolved { .. })));
}

#[test]
fn malformed_and_overlong_heads_are_refused_and_reported() {
    let echo = echo();
    let limits = Limits { head: 1000, ..Limits::default() };
    let world = World::limited(&["*"], &[], echo, limits);
    for bytes in [
        "GET / HTTP/1.1\r\n\r\n".to_owned(),
        format!("GET http://a.example/{} HTTP/1.1\r\n\r\n", "x".repeat(6000)),
        "nonsense\r\n\r\n".to_owned(),
    ] {
        assert!(world.ask(bytes.as_bytes()).starts_with("HTTP/1.1 400 "), "{bytes}");
    }
    assert!(world.attempts().iter().all(|it| matches!(it.outcome, Err(Refusal::Malformed(_)))));
}

#[test]
fn more_connections_than_allowed_are_turned_away_and_reported() {
    let echo = echo();
    let limits = Limits { connections: 2, ..Limits::default() };
    let world = World::limited(&["*"], &[], echo, limits);
    let (_one, _two) = (world.call(), world.call());
    assert!(world.ask(b"").starts_with("HTTP/1.1 503 "));
    let attempts = world.attempts();
    assert_eq!(attempts.len(), 1, "those who said nothing attempted nothing: {attempts:?}");
    assert_eq!(attempts[0].outcome, Err(Refusal::Busy(2)));
}

#[test]
fn a_silent_connection_is_ended() {
    // It says nothing, and stays until the other side goes.
    let silent = host(|mut stream| {
        let _ = stream.read_to_end(&mut Vec::new());
    });
    let limits = Limits { idle: Duration::from_secs(2), ..Limits::default() };
    let world = World::limited(&["*"], &[("a.example", &[HERE])], silent, limits);
    assert_eq!(
        world.ask(format!("GET http://a.example:{}/ HTTP/1.1\r\n\r\n", silent.port()).as_bytes()),
        ""
    );
    assert_eq!(world.ask(b"GET http://a.exam").get(..13), Some("HTTP/1.1 400 "));
    assert_eq!(world.attempts().len(), 2);
}

#[test]
fn stopping_ends_what_is_going_on_and_reports_it() {
    let echo = echo();
    let world = World::new(&[&rule(echo)], &[("a.example", &[HERE])], echo);
    let mut stream = world.call();
    write!(
        stream,
        "POST http://a.example:{}/ HTTP/1.1\r\nContent-Length: 100\r\n\r\nsome",
        echo.port()
    )
    .unwrap();
    while world.asked.load(Ordering::SeqCst) == 0 {
        std::thread::yield_now();
    }
    let attempts = world.attempts();
    assert_eq!((attempts.len(), attempts[0].host.as_str()), (1, "a.example"));
    assert_eq!(stream.read(&mut [0; 10]).unwrap_or(0), 0, "the connection is closed");
}

#[test]
#[expect(clippy::disallowed_methods, reason = "tests run real programs")]
fn curl_gets_through() {
    let server = server();
    let world = World::new(&[&rule(server)], &[("a.example", &[HERE])], server);
    let url = format!("http://a.example:{}/path", server.port());
    let curl = |words: &[&str]| {
        let mut command = std::process::Command::new("curl");
        command.args(["-sS", "-m", "60", "-x", &world.url()]).args(words);
        let done = command.output().unwrap();
        assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap()
    };
    assert_eq!(curl(&[&url]), "");
    assert_eq!(curl(&["-d", "words=some", &url]), "words=some");
    assert_eq!(curl(&["-H", "Expect: 100-continue", "-d", "waits", &url]), "waits");
    let chunked = curl(&["-H", "Transfer-Encoding: chunked", "-d", "in chunks", &url]);
    assert_eq!(chunked, "9\r\nin chunks\r\n0\r\n\r\n");
    let refused = curl(&["-o", "-", "-w", "%{http_code}", "http://b.example/"]);
    assert!(refused.ends_with("\n403"), "{refused}");
    assert_eq!(world.attempts().len(), 5);
}
