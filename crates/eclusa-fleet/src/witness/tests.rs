//! What a witness notices of a log that is shown to it.

use super::*;
use crate::seal::HeadLeaf;

fn leaf(at: u64) -> TreeHash {
    HeadLeaf { hash: format!("{at:064x}"), machine: 1, seq: at, store: "store".to_owned() }
        .tree_hash()
}

fn seal(leaves: &[TreeHash]) -> Seal {
    let mut frontier = Frontier::default();
    leaves.iter().for_each(|it| frontier.push(*it));
    Seal { fleet: "acme".to_owned(), size: frontier.size(), root: frontier.root() }
}

/// Shows all of these leaves, of which the witness asks for those that it has not seen.
fn show(witness: &mut SealWitness, leaves: &[TreeHash]) -> Witnessed {
    let new = leaves.get(usize::try_from(witness.size()).unwrap()..).unwrap_or_default();
    witness.take("note", &seal(leaves), new).unwrap()
}

#[test]
fn a_log_that_grows_is_followed_and_every_other_one_noticed() {
    let all: Vec<TreeHash> = (0..40).map(leaf).collect();
    let mut witness = SealWitness::new(Digest::compute(b"root"));
    assert_eq!(show(&mut witness, &all[..5]), Witnessed::Grown(5));
    assert_eq!(show(&mut witness, &all[..5]), Witnessed::Same);
    assert_eq!(show(&mut witness, &all[..23]), Witnessed::Grown(18));
    // It goes on from what it kept.
    let mut witness = SealWitness::parse(&witness.to_text()).unwrap();
    assert_eq!(show(&mut witness, &all), Witnessed::Grown(17));
    let told = |found: Witnessed| match found {
        Witnessed::Rewritten(why) => why,
        other => panic!("{other:?}"),
    };
    let before = witness.clone();
    let why = told(show(&mut witness, &all[..39]));
    assert!(why.contains("sealed history is gone"), "{why}");
    for at in [0, 7, 39] {
        let mut other = all.clone();
        other[at] = leaf(1_000);
        let why = told(show(&mut witness, &other));
        assert!(why.contains("two seals of 40 heads differ"), "{why}");
        other.push(leaf(41));
        let why = told(show(&mut witness, &other));
        assert!(why.contains("as they were"), "{why}");
    }
    assert_eq!(witness, before, "evidence changes nothing of what was seen");
    // A server that leaves leaves out is no proof of anything.
    assert!(witness.take("note", &seal(&all), &all).is_err());
}
