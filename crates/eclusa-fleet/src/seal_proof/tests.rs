//! In trees of every small size each leaf, and each smaller tree, is proved by its own proof and by no other.

use super::{consistency_ranges, inclusion_ranges, is_consistent, subtrees};
use crate::seal::{Frontier, HeadLeaf, TreeHash, is_included, joined};

/// More than a whole tree of 32, and a rest.
const LEAVES: u64 = 40;

fn leaf(seq: u64) -> TreeHash {
    HeadLeaf { hash: "h".to_owned(), machine: 1, seq, store: "s".to_owned() }.tree_hash()
}

/// The root of a range of leaves, by appending them.
fn root(range: std::ops::Range<u64>) -> TreeHash {
    let mut frontier = Frontier::default();
    range.for_each(|it| frontier.push(leaf(it)));
    frontier.root()
}

/// The hashes that a proof needs, put together of whole subtrees.
fn proof(ranges: Vec<std::ops::Range<u64>>) -> Vec<TreeHash> {
    let of = |(height, place): &(u32, u64)| root(place << height..(place + 1) << height);
    let of = |it: &std::ops::Range<u64>| {
        let parts: Vec<TreeHash> = subtrees(it).iter().map(of).collect();
        let found = joined(&parts).unwrap();
        assert_eq!(found, root(it.clone()), "{it:?}");
        found
    };
    ranges.iter().map(of).collect()
}

#[test]
fn every_leaf_is_proved() {
    for size in 1..=LEAVES {
        let whole = root(0..size);
        for at in 0..size {
            let proof = proof(inclusion_ranges(at, size));
            assert!(is_included(leaf(at), at, size, &proof, &whole), "{at} of {size}");
            assert!(size == 1 || !is_included(leaf(at), (at + 1) % size, size, &proof, &whole));
            assert!(!is_included(leaf(size), at, size, &proof, &whole));
            let longer = [proof.clone(), vec![whole]].concat();
            assert!(!is_included(leaf(at), at, size, &longer, &whole));
            let shorter = proof.split_last().map(|it| it.1);
            assert!(shorter.is_none_or(|it| !is_included(leaf(at), at, size, it, &whole)));
        }
    }
    assert_eq!(joined(&[]), None);
}

#[test]
fn every_smaller_tree_is_proved_and_no_other_one() {
    for new in 1..=LEAVES {
        let whole = root(0..new);
        for old in 0..=new {
            let (before, found) = (root(0..old), proof(consistency_ranges(old, new)));
            let check = |old: u64, before: &TreeHash, proof: &[TreeHash]| {
                is_consistent((old, before), (new, &whole), proof)
            };
            assert!(check(old, &before, &found), "{old} of {new}");
            let longer = [found.clone(), vec![whole]].concat();
            assert!(!check(old, &before, &longer), "{old} of {new}");
            if old == 0 {
                continue;
            }
            // As many leaves, and the last of them is another one.
            let mut other = Frontier::default();
            (0..old - 1).for_each(|it| other.push(leaf(it)));
            other.push(leaf(LEAVES + 1));
            let other = other.root();
            assert!(!check(old, &other, &found), "{old} of {new}");
            assert!(old == new || !check(old, &before, &[]) || found.is_empty(), "{old} of {new}");
            for at in 0..found.len() {
                let mut changed = found.clone();
                changed[at] = leaf(LEAVES + 2);
                assert!(!check(old, &before, &changed), "{old} of {new}: {at}");
            }
        }
        assert!(!is_consistent((new + 1, &whole), (new, &whole), &[]), "a tree does not shrink");
    }
}
