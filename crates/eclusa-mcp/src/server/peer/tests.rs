//! Tests of peer.

use std::net::{TcpListener, TcpStream};

use super::*;

/// A connection that was made and not accepted yet: whoever called, and its two ends.
fn connected(listener: &TcpListener) -> (TcpStream, SocketAddr, SocketAddr) {
    let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (peer, local) = (client.local_addr().unwrap(), client.peer_addr().unwrap());
    (client, peer, local)
}

#[test]
fn a_connection_of_our_own_is_known_and_one_from_elsewhere_is_not() {
    for address in ["127.0.0.1:0", "[::1]:0"] {
        // A machine may have no IPv6.
        let Ok(listener) = TcpListener::bind(address) else { continue };
        let (_client, peer, local) = connected(&listener);
        assert!(is_same_user(peer, local), "{address}");
        let (accepted, from) = listener.accept().unwrap();
        assert_eq!((from, accepted.local_addr().unwrap()), (peer, local));
        assert!(is_same_user(peer, local), "{address}");
        // Nobody called from the port that we listen on: the kernel tells of the listener instead.
        assert!(!is_same_user(local, SocketAddr::new(peer.ip(), 9)), "{address}");
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    assert!(!is_same_user("192.0.2.1:5".parse().unwrap(), listener.local_addr().unwrap()));
}

/// The kernel gives what nobody holds any more to root, who would be let in as "the same user".
#[test]
fn a_connection_that_its_program_has_closed_is_nobody_s() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (client, peer, local) = connected(&listener);
    drop(client);
    assert!(!is_same_user(peer, local));
}

#[test]
fn an_answer_counts_only_for_the_connection_that_was_asked_for() {
    let [peer, local] =
        ["127.0.0.1:49153", "127.0.0.1:8080"].map(|it| it.parse::<SocketAddr>().unwrap());
    let question = question(peer, local);
    let ends = &question[HEADER + 8..HEADER + 8 + ENDS];
    let answer = |kind: u16, state: u8, ends: &[u8], file: u32| {
        let mut bytes = vec![0; HEADER + 72];
        bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
        bytes[HEADER + 1] = state;
        bytes[HEADER + 4..HEADER + 4 + ENDS].copy_from_slice(ends);
        bytes[HEADER + 64..HEADER + 68].copy_from_slice(&1000u32.to_ne_bytes());
        bytes[HEADER + 68..].copy_from_slice(&file.to_ne_bytes());
        bytes
    };
    let right = answer(BY_FAMILY, ESTABLISHED, ends, 7);
    assert_eq!(user_in(&right, ends), Some(1000));
    for short in 0..right.len() {
        assert_eq!(user_in(&right[..short], ends), None);
    }
    let other = [0; ENDS];
    for wrong in [
        answer(2, ESTABLISHED, ends, 7),
        answer(BY_FAMILY, 6, ends, 7),
        answer(BY_FAMILY, ESTABLISHED, &other, 7),
        answer(BY_FAMILY, ESTABLISHED, ends, 0),
    ] {
        assert_eq!(user_in(&wrong, ends), None);
    }
}
