//! Tests of peer.

use super::*;

#[test]
#[cfg(target_endian = "little")]
fn the_user_of_the_other_end_is_found() {
    let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n   \
        0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1\n   \
        1: 0100007F:C001 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1000        0 2 1\n   \
        2: 0100007F:1F90 0100007F:C001 01 00000000:00000000 00:00000000 00000000     0        0 3 1\n";
    let [peer, ours, other] = ["127.0.0.1:49153", "127.0.0.1:8080", "127.0.0.1:9"]
        .map(|it| it.parse::<SocketAddr>().unwrap());
    assert_eq!(user_of(table, peer, ours), Some(1000));
    assert_eq!(user_of(table, other, ours), None);
    assert_eq!(user_of(&format!("{table}{table}"), peer, ours), None);
    assert_eq!(spelt("[::1]:80".parse().unwrap()), "00000000000000000000000001000000:0050");
}

#[test]
fn a_connection_of_our_own_is_known_and_one_from_elsewhere_is_not() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let ours = listener.local_addr().unwrap();
    let client = std::net::TcpStream::connect(ours).unwrap();
    let (_stream, peer) = listener.accept().unwrap();
    assert_eq!(client.local_addr().unwrap(), peer);
    assert!(is_same_user(peer, ours));
    assert!(!is_same_user("192.0.2.1:5".parse().unwrap(), ours));
}
