//! Tests of peer.
#![cfg(target_os = "linux")]

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
