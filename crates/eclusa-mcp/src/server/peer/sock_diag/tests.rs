//! Tests of sock_diag.

use super::*;

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
