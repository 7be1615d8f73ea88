//! Roots of trees of every small size, and seals over them.

use super::{Frontier, HeadLeaf, Seal, TreeHash, hash, node};
use crate::SigningKey;

fn leaves(count: u64) -> Vec<TreeHash> {
    let leaf = |seq| HeadLeaf { hash: "h".to_owned(), machine: 1, seq, store: "s".to_owned() };
    (0..count).map(|it| leaf(it).tree_hash()).collect()
}

/// The root as RFC 6962 defines it.
fn defined(leaves: &[TreeHash]) -> TreeHash {
    match leaves {
        [] => hash(&[]),
        [one] => *one,
        many => {
            let split = many.len().next_power_of_two() / 2;
            let (left, right) = many.split_at(split);
            node(&defined(left), &defined(right))
        }
    }
}

#[test]
fn the_root_is_that_of_rfc_6962() {
    let mut frontier = Frontier::default();
    for (size, next) in (1..=70_u64).zip(leaves(70)) {
        frontier.push(next);
        let kept = Frontier::from_bytes(size, &frontier.to_bytes());
        assert_eq!(kept.as_ref(), Some(&frontier));
        let all = leaves(size);
        let root = frontier.root();
        assert_eq!(root, defined(&all), "{size}");
    }
    assert_eq!(Frontier::default().root(), defined(&[]));
    assert!(Frontier::from_bytes(3, &[0; 32]).is_none());
}

#[test]
fn a_seal_is_read_as_it_was_signed() {
    let seal = Seal { fleet: "acme".to_owned(), size: 3, root: [7; 32] };
    let text = seal.sign(&SigningKey::generate("acme-seal-1").unwrap());
    assert!(text.starts_with("acme seals\n3\nBwcH"), "{text}");
    assert_eq!(seal.to_string().parse(), Ok(seal));
    assert!("acme seals\n03\nBwcH\n".parse::<Seal>().is_err());
}
