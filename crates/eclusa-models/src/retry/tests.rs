//! Waits grow, are bounded, and end.

use std::time::Duration;

use super::{MAX_TRIES, Retries, backoff};
use crate::model::ModelError;

#[test]
fn waits_double_up_to_half_a_minute_and_are_shortened_by_a_quarter_at_most() {
    let whole: Vec<u64> = (1..9).map(|tries| backoff(tries, 0.0).as_secs()).collect();
    assert_eq!(whole, [1, 2, 4, 8, 16, 30, 30, 30]);
    assert_eq!(backoff(1, 1.0), Duration::from_millis(750));
}

#[test]
fn the_servers_word_counts_up_to_two_minutes() {
    let mut retries = Retries::default();
    let wait = |secs| ModelError::retry("busy", Some(Duration::from_secs(secs)));
    assert_eq!(retries.after(wait(7)), Ok(Duration::from_secs(7)));
    let given_up = retries.after(wait(121)).unwrap_err();
    assert!(given_up.what.contains("121 s"), "{given_up}");
}

#[test]
fn what_cannot_get_better_is_not_tried_again_and_the_rest_not_for_ever() {
    assert!(Retries::default().after(ModelError::fatal("wrong key")).is_err());
    let mut retries = Retries::default();
    let busy = || ModelError::retry("busy", Some(Duration::ZERO));
    for _ in 1..MAX_TRIES {
        assert!(retries.after(busy()).is_ok());
    }
    assert!(retries.after(busy()).unwrap_err().what.contains("8 tries"));
}
