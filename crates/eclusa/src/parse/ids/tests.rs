//! Made ids are unique and recognisable.

use std::collections::HashSet;

use super::{IdGenerator, was_made};

#[test]
fn made_ids_differ_within_and_between_makers() {
    let mut seen = HashSet::new();
    for _ in 0..100 {
        let mut ids = IdGenerator::default();
        for _ in 0..10 {
            assert!(seen.insert(ids.next()));
        }
    }
    assert!(seen.iter().all(|id| was_made(id)));
}

#[test]
fn the_models_own_ids_are_kept_and_not_taken_for_made_ones() {
    let mut ids = IdGenerator::default();
    for id in ["call_1", "toolu_01", "made_", "made_1", "made_00000000000000ff_", "ünï"] {
        assert_eq!(ids.or_next(Some(id)), id);
        assert!(!was_made(id), "{id}");
    }
    assert!(was_made(&ids.or_next(None)));
    assert!(was_made(&ids.or_next(Some(""))));
}
