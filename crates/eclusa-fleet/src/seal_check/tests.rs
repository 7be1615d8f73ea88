//! Seals that follow what was seen are taken, and every other one is kept as evidence.

use crate::{
    MachineState, Rotation, ShippedStore, SigningKey, SigningRole,
    seal::{Frontier, HeadLeaf, Seal, TreeHash, joined},
    seal_proof::{consistency_ranges, inclusion_ranges, subtrees},
    tests::world::{DAY, Fleet, NOW},
    wire::{ChainHead, OfferedSeal, SealedHead},
};
use eclusa::Hash;

/// A server's log of seals, of which every leaf is a head of machine 1.
struct Log {
    leaves: Vec<HeadLeaf>,
    key: SigningKey,
}

fn record(seq: u64) -> Hash {
    Hash::sha256(&seq.to_le_bytes())
}

fn root(leaves: &[HeadLeaf]) -> TreeHash {
    let mut frontier = Frontier::default();
    leaves.iter().for_each(|it| frontier.push(it.tree_hash()));
    frontier.root()
}

impl Log {
    fn new(fleet: &Fleet) -> Log {
        Log { leaves: Vec::new(), key: fleet.only(&["acme-seal-0"]).remove(0) }
    }

    fn grow(&mut self, to: u64) {
        for seq in self.leaves.len() as u64..to {
            let hash = record(seq).to_string();
            self.leaves.push(HeadLeaf { hash, machine: 1, seq, store: "store".to_owned() });
        }
    }

    fn offer(&self, seen: u64) -> OfferedSeal {
        let size = self.leaves.len() as u64;
        let seal = Seal { fleet: "acme".to_owned(), size, root: root(&self.leaves) };
        let hashes = |ranges: Vec<std::ops::Range<u64>>| {
            let part = |(height, at): &(u32, u64)| {
                let (from, to) = (at << height, (at + 1) << height);
                root(&self.leaves[usize::try_from(from).unwrap()..usize::try_from(to).unwrap()])
            };
            let whole = |it: &std::ops::Range<u64>| {
                let parts: Vec<TreeHash> = subtrees(it).iter().map(part).collect();
                Hash::from(joined(&parts).unwrap()).to_string()
            };
            ranges.iter().map(whole).collect()
        };
        let last = self.leaves.last().unwrap();
        let head = SealedHead {
            chain: 7,
            index: size - 1,
            head: ChainHead { seq: last.seq, hash: last.hash.clone() },
            proof: hashes(inclusion_ranges(size - 1, size)),
        };
        let consistency = hashes(consistency_ranges(seen, size));
        OfferedSeal { note: seal.sign(&self.key), consistency, heads: vec![head] }
    }
}

fn machine() -> MachineState {
    let mut state = MachineState::enrolled(1, String::new());
    let mut store = ShippedStore::begin(Default::default());
    store.chain = Some(7);
    state.stores.insert("store".to_owned(), store);
    state
}

fn take(machine: &mut MachineState, offered: &OfferedSeal, fleet: &Fleet) -> Result<(), String> {
    let held = fleet.machine();
    machine.take_seal(offered, held.roots(), NOW, |_, seq| Some(record(seq)));
    machine.refused_seal.as_ref().map_or(Ok(()), |it| Err(it.why.clone()))
}

fn fleet() -> Fleet {
    let mut fleet = Fleet::new("acme", 1);
    fleet.push("# one\n");
    fleet
}

#[test]
fn a_machine_follows_a_log_that_grows_and_notices_every_other() {
    let fleet = fleet();
    let (mut log, mut own) = (Log::new(&fleet), machine());
    for size in [1, 2, 3, 7, 8, 21] {
        let seen = own.seen_seal().size;
        log.grow(size);
        take(&mut own, &log.offer(seen), &fleet).unwrap();
        assert_eq!((own.seen_seal().size, own.stores["store"].sealed), (size, size - 1));
    }
    assert!(own.seal_line().unwrap().starts_with("last seal: 21 heads, with"));
    let kept = own.seal.clone();
    // What was sealed is changed, the log is shorter, or there is another one of the same length.
    let mut others: Vec<(Log, &str)> = Vec::new();
    for (size, changed, why) in [
        (30, 3, "does not hold the 21 that were sealed before"),
        (21, 3, "does not hold the 21 that were sealed before"),
        (20, 0, "sealed history is gone"),
    ] {
        let mut other = Log::new(&fleet);
        other.grow(size);
        other.leaves[changed].machine = 2;
        others.push((other, why));
    }
    for (other, why) in &others {
        let refused = take(&mut own, &other.offer(21), &fleet).unwrap_err();
        assert!(refused.contains(why), "{refused}");
        assert_eq!(own.seal, kept, "the last one that was checked stays");
        assert!(own.refused_seal.as_ref().is_some_and(|it| it.note.contains("acme seals")));
    }
    // The true one is taken again, and there is nothing to be told any more.
    log.grow(33);
    take(&mut own, &log.offer(21), &fleet).unwrap();
    assert_eq!(own.refused_seal, None);
}

#[test]
fn a_seal_holds_what_this_machine_wrote_and_somebody_signed_it() {
    let fleet = fleet();
    let mut log = Log::new(&fleet);
    log.grow(5);
    let refused = |change: &dyn Fn(&mut OfferedSeal)| {
        let (mut own, mut offered) = (machine(), log.offer(0));
        change(&mut offered);
        take(&mut own, &offered, &fleet).unwrap_err()
    };
    let why = refused(&|it| it.heads[0].head.hash = record(9).to_string());
    assert!(why.contains("another record 4 than this machine wrote"), "{why}");
    let why = refused(&|it| it.heads[0].index = 3);
    assert!(why.contains("does not hold record 4 of this machine"), "{why}");
    let why = refused(&|it| it.heads[0].proof.clear());
    assert!(why.contains("does not hold record 4 of this machine"), "{why}");
    let why = refused(&|it| it.heads[0].proof = vec!["no hash".to_owned()]);
    assert!(why.contains("no hash"), "{why}");
    let why = refused(&|it| it.note = it.note.replace("acme-seal-0", "acme-seal-1"));
    assert!(why.contains("no key that may seal"), "{why}");
    // A chain that this machine does not know is nobody's business here.
    let (mut own, mut offered) = (machine(), log.offer(0));
    (offered.heads[0].chain, offered.heads[0].index) = (8, 3);
    take(&mut own, &offered, &fleet).unwrap();
}

#[test]
fn a_new_key_of_seals_begins_the_log_anew() {
    let mut fleet = fleet();
    let (mut log, mut own) = (Log::new(&fleet), machine());
    log.grow(9);
    take(&mut own, &log.offer(0), &fleet).unwrap();
    // A backup is set back, and another log goes on from there.
    let mut restored = Log::new(&fleet);
    restored.grow(6);
    restored.leaves[5].machine = 2;
    restored.grow(7);
    assert!(take(&mut own, &restored.offer(9), &fleet).is_err());
    let new = SigningKey::generate("acme-seal-new").unwrap();
    let (add, until) = (Some(new.public().clone()), NOW + 100 * DAY);
    let change = Rotation { add, remove: Some("acme-seal-0".to_owned()), need: None };
    fleet.author.rotate(SigningRole::Seal, change, (until, until), &fleet.keys).unwrap();
    assert!(take(&mut own, &restored.offer(9), &fleet).is_err(), "by the old key it is not");
    restored.key = new;
    take(&mut own, &restored.offer(9), &fleet).unwrap();
    assert_eq!((own.seen_seal().size, own.refused_seal.as_ref()), (7, None));
    // From there on it counts again.
    log.key = restored.key;
    assert!(take(&mut own, &log.offer(7), &fleet).is_err());
}
