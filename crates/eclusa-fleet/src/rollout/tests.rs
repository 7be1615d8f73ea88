//! Who is among the first: the same machines each time, others for another version, and about as many as was said.

use crate::{MachinePublicKey, rollout_place};

fn among_the_first(percent: u8, version: u64) -> Vec<u16> {
    let key = |it: u16| {
        let mut key = [7; 32];
        key[..2].copy_from_slice(&it.to_be_bytes());
        MachinePublicKey(key)
    };
    (0..10_000).filter(|it| rollout_place(key(*it), version) < percent).collect()
}

#[test]
fn whoever_is_among_the_first_five_is_among_the_first_twenty() {
    let (few, more) = (among_the_first(5, 17), among_the_first(20, 17));
    assert!(few.iter().all(|it| more.contains(it)));
    assert_eq!(few, among_the_first(5, 17));
    assert!((400..600).contains(&few.len()), "{}", few.len());
    assert!((1_800..2_200).contains(&more.len()), "{}", more.len());
    assert_eq!(among_the_first(100, 17).len(), 10_000);
    assert!(among_the_first(0, 17).is_empty());
    // Nobody is always the first to try.
    let both = among_the_first(5, 18).into_iter().filter(|it| few.contains(it)).count();
    assert!(both < 100, "{both}");
}
