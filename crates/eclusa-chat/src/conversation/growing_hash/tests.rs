//! It is the hash of the bytes, whatever came before them.

use eclusa::Hash;
use proptest::prelude::*;

use super::GrowingHash;

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn it_is_the_hash_of_the_bytes_whatever_came_before(
        requests in prop::collection::vec((0usize..2_000, 0usize..2_000, any::<u8>()), 1..12),
    ) {
        let (mut hashes, mut body) = (GrowingHash::default(), Vec::new());
        for (kept, added, byte) in requests {
            // It is cut somewhere, and something else follows: nothing, where it is a retry.
            body.truncate(kept);
            body.extend(std::iter::repeat_n(byte, added));
            prop_assert_eq!(hashes.sha256(&body), Hash::sha256(&body));
            prop_assert_eq!(hashes.sha256(&body), Hash::sha256(&body));
        }
    }
}
