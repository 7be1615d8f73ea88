//! Tunnels, and the TLS greeting that must name the host they were asked for.

use std::{
    io::{Read, Write},
    net::SocketAddr,
};

use eclusa_sandbox::proxy::{Refusal, Way};

use crate::world::{HERE, World, host};

/// A host that answers each read with the same bytes.
fn mirror() -> SocketAddr {
    host(|mut stream| {
        let mut buffer = [0; 4096];
        while let Ok(read @ 1..) = stream.read(&mut buffer) {
            let _ = stream.write_all(&buffer[..read]);
        }
    })
}

/// A TLS greeting that names this host.
fn greeting(name: Option<&str>) -> Vec<u8> {
    let counted = |width: usize, bytes: &[u8]| {
        [&(bytes.len() as u32).to_be_bytes()[4 - width..], bytes].concat()
    };
    let names = name.map(|name| [vec![0], counted(2, name.as_bytes())].concat());
    let extension =
        names.map(|it| [vec![0, 0], counted(2, &counted(2, &it))].concat()).unwrap_or_default();
    let body = [
        vec![3, 3],
        vec![7; 32],
        counted(1, &[]),
        counted(2, &[0x13, 1]),
        counted(1, &[0]),
        counted(2, &extension),
    ]
    .concat();
    [vec![22, 3, 1], counted(2, &[vec![1], counted(3, &body)].concat())].concat()
}

/// Opens a tunnel, sends bytes through it, and returns as many as were sent, or fewer.
fn through(world: &World, authority: &str, bytes: &[u8]) -> Vec<u8> {
    let mut stream = world.call();
    write!(stream, "CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n\r\n").unwrap();
    let mut head = [0; 39];
    stream.read_exact(&mut head).unwrap();
    assert!(head.starts_with(b"HTTP/1.1 200 "), "{}", String::from_utf8_lossy(&head));
    stream.write_all(bytes).unwrap();
    let mut back = Vec::new();
    let _ = stream.take(bytes.len() as u64).read_to_end(&mut back);
    back
}

#[test]
fn a_tunnel_carries_what_greets_the_host_it_was_asked_for() {
    let mirror = mirror();
    let world =
        World::new(&[&format!("*.example:{}", mirror.port())], &[("a.example", &[HERE])], mirror);
    let bytes = [greeting(Some("A.example")), b"and more".to_vec()].concat();
    assert_eq!(through(&world, &format!("a.example:{}", mirror.port()), &bytes), bytes);
    let attempts = world.attempts();
    assert_eq!((attempts[0].outcome.clone(), attempts[0].way), (Ok(mirror), Way::Tunnel));
    assert_eq!((attempts[0].sent, attempts[0].received), (bytes.len() as u64, bytes.len() as u64));
}

#[test]
fn a_tunnel_to_one_host_does_not_lead_to_another() {
    let mirror = mirror();
    let world = World::new(&["*"], &[("a.example", &[HERE])], mirror);
    let authority = format!("a.example:{}", mirror.port());
    for bytes in [
        greeting(Some("b.example")),
        greeting(Some("a.example.b.example")),
        greeting(Some("a.example\0")),
        greeting(None),
        b"GET / HTTP/1.1\r\nHost: b.example\r\n\r\n".to_vec(),
        b"SSH-2.0-OpenSSH\r\n".to_vec(),
    ] {
        assert_eq!(through(&world, &authority, &bytes), b"", "nothing comes back");
    }
    let attempts = world.attempts();
    assert!(matches!(attempts[0].outcome, Err(Refusal::OtherName { .. })));
    assert!(matches!(attempts[3].outcome, Err(Refusal::NoName { .. })));
    assert!(
        attempts.iter().all(|it| it.sent == 0 && it.outcome.is_err()),
        "nothing went out: {attempts:?}"
    );
}

#[test]
fn an_address_has_no_name_to_greet() {
    let mirror = mirror();
    let world = World::new(&[&mirror.to_string()], &[], mirror);
    let bytes = greeting(None);
    assert_eq!(through(&world, &mirror.to_string(), &bytes), bytes);
    assert_eq!(through(&world, &mirror.to_string(), &greeting(Some("a.example"))), b"");
}

#[test]
fn a_tunnel_that_is_not_allowed_is_refused_with_the_grant_it_would_take() {
    let mirror = mirror();
    let world = World::new(&["a.example"], &[("a.example", &[HERE])], mirror);
    for authority in ["b.example:443", "a.example:22", "evila.example:443"] {
        let answer = world.ask(format!("CONNECT {authority} HTTP/1.1\r\n\r\n").as_bytes());
        assert!(answer.starts_with("HTTP/1.1 403 "), "{answer}");
    }
    let grants: Vec<_> = world.attempts().iter().filter_map(|it| it.grant()).collect();
    assert_eq!(grants, ["b.example", "a.example:22", "evila.example"]);
}

#[test]
fn bytes_that_do_not_wait_for_the_tunnel_are_refused() {
    let mirror = mirror();
    let world = World::new(&["*"], &[("a.example", &[HERE])], mirror);
    let head = format!("CONNECT a.example:{} HTTP/1.1\r\n\r\n", mirror.port());
    let answer = world.ask(&[head.into_bytes(), greeting(Some("a.example"))].concat());
    assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
}
