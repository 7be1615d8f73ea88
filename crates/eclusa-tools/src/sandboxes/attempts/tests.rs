//! Attempts without end.

use eclusa_sandbox::proxy::{Attempt, Refusal, Way};

use super::{Attempts, MAX_ATTEMPTS};

fn refused(host: &str) -> Attempt {
    Attempt {
        host: host.to_owned(),
        port: 443,
        way: Way::Tunnel,
        outcome: Err(Refusal::Host(host.to_owned())),
        sent: 0,
        received: 0,
    }
}

/// Shows H15.
#[test]
fn refused_attempts_are_bounded_and_counted() {
    let attempts = Attempts::default();
    for _ in 0..10_000 {
        attempts.add(refused("a.example"));
    }
    for number in 0..10_000 {
        attempts.add(refused(&format!("{number}.example")));
    }
    let (told, more) = attempts.take();
    assert_eq!(told.len(), MAX_ATTEMPTS);
    assert_eq!(told.len() as u64 + more, 20_000);
    assert_eq!((told[0].host.as_str(), told[1].host.as_str()), ("a.example", "0.example"));
}
