//! Proofs in the log of seals (RFC 6962): that a leaf is in it, and that it only grew. Which hashes a proof needs is said
//! here as ranges of leaves; whoever keeps the log knows their roots.

use std::ops::Range;

use crate::seal::{TreeHash, node};

/// The ranges of leaves whose roots lead from a leaf to the root of so many leaves, from the bottom up.
pub fn inclusion_ranges(index: u64, size: u64) -> Vec<Range<u64>> {
    let (mut range, mut proof) = (0..size, Vec::new());
    while let Some((left, right)) = halves(&range) {
        let (own, other) = if index < right.start { (left, right) } else { (right, left) };
        proof.push(other);
        range = own;
    }
    proof.reverse();
    proof
}

/// The ranges of leaves whose roots prove that the first `old` of `new` leaves are those that there were, from the bottom
/// up. Where there were none, or there are no more, nothing needs to be proved.
pub fn consistency_ranges(old: u64, new: u64) -> Vec<Range<u64>> {
    let (mut range, mut proof) = (0..new, Vec::new());
    if old == 0 || old >= new {
        return proof;
    }
    while range.end != old
        && let Some((left, right)) = halves(&range)
    {
        let (own, other) = if old <= right.start { (left, right) } else { (right, left) };
        proof.push(other);
        range = own;
    }
    // The root of the old tree is known to whoever asks.
    if range.start > 0 {
        proof.push(range);
    }
    proof.reverse();
    proof
}

/// A range of more than one leaf as a tree splits it: on the left the largest power of two that leaves something.
fn halves(range: &Range<u64>) -> Option<(Range<u64>, Range<u64>)> {
    let length = range.end.checked_sub(range.start).filter(|it| *it > 1)?;
    let middle = range.start + (1 << (length - 1).ilog2());
    Some((range.start..middle, middle..range.end))
}

/// The whole subtrees of a range that [`inclusion_ranges`] or [`consistency_ranges`] names, the largest first: each by its
/// height, and its place among those of that height.
pub fn subtrees(range: &Range<u64>) -> Vec<(u32, u64)> {
    let (mut at, mut all) = (range.start, Vec::new());
    while let Some(left) = range.end.checked_sub(at).filter(|it| *it > 0) {
        let height = left.ilog2().min(if at == 0 { u64::BITS } else { at.trailing_zeros() });
        all.push((height, at >> height));
        at += 1 << height;
    }
    all
}

/// Whether these hashes prove that the tree of `new` leaves holds the `old` ones as they were.
pub fn is_consistent(old: (u64, &TreeHash), new: (u64, &TreeHash), proof: &[TreeHash]) -> bool {
    let ((old, old_root), (new, new_root)) = (old, new);
    if old == 0 || old >= new {
        return proof.is_empty() && (old == 0 || (old == new && old_root == new_root));
    }
    let (mut at, mut last) = (old - 1, new - 1);
    let skip = at.trailing_ones();
    (at, last) = (at >> skip, last >> skip);
    let mut proof = proof.iter();
    // A whole tree begins with its own root.
    let first = if at == 0 { Some(old_root) } else { proof.next() };
    let Some(first) = first else { return false };
    let (mut of_old, mut of_new) = (*first, *first);
    for it in proof {
        if last == 0 {
            return false;
        }
        if at % 2 == 1 || at == last {
            (of_old, of_new) = (node(it, &of_old), node(it, &of_new));
            while at % 2 == 0 && at != 0 {
                (at, last) = (at / 2, last / 2);
            }
        } else {
            of_new = node(&of_new, it);
        }
        (at, last) = (at / 2, last / 2);
    }
    last == 0 && of_old == *old_root && of_new == *new_root
}

#[cfg(test)]
mod tests;
