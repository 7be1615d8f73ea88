//! What a machine makes of a seal: it follows the one that was checked last and holds this machine's heads, or it is kept
//! as evidence. So nobody takes back what machines have shipped and seen sealed.

use eclusa::Hash;

use crate::{
    FleetRoot, MachineState, RefusedSeal, ShippedStore,
    seal::{HeadLeaf, Seal, TreeHash, is_included},
    seal_proof::is_consistent,
    time_text,
    wire::{OfferedSeal, SealedHead, SeenSeal},
};

impl MachineState {
    /// The seal that was checked last, as the server is told.
    pub fn seen_seal(&self) -> SeenSeal {
        let seal = self.seal.as_ref().and_then(|it| Seal::read(it).ok());
        seal.map(|it| SeenSeal { size: it.size, root: Hash::from(it.root).to_string() })
            .unwrap_or_default()
    }

    /// The same in a line, and what of this machine it holds; none where no seal was seen.
    pub fn seal_line(&self) -> Option<String> {
        let (seal, sealed) = (self.seen_seal(), |it: &&ShippedStore| it.sealed < it.shipped.seq);
        let open = self.stores.values().filter(sealed).count();
        let own = match open {
            0 => "everything that was shipped".to_owned(),
            open => format!("all but the newest of {open} logs"),
        };
        (seal.size > 0).then(|| format!("last seal: {} heads, with {own}", seal.size))
    }

    /// Takes a seal, or keeps it as evidence. `own` gives the hash of a record of a store, by the store and the number,
    /// where it is still here.
    pub fn take_seal(
        &mut self,
        offered: &OfferedSeal,
        roots: &[FleetRoot],
        now: u64,
        own: impl Fn(&str, u64) -> Option<Hash>,
    ) {
        match self.check_seal(offered, roots, own) {
            Ok(()) => {
                (self.seal, self.refused_seal) = (Some(offered.note.clone()), None);
                for head in &offered.heads {
                    let store = self.stores.values_mut().find(|it| it.chain == Some(head.chain));
                    if let Some(store) = store {
                        store.sealed = store.sealed.max(head.head.seq);
                    }
                }
            }
            Err(why) => {
                let since = self.refused_seal.as_ref().map_or(now, |it| it.since);
                self.refused_seal = Some(RefusedSeal { since, why, note: offered.note.clone() });
            }
        }
    }

    fn check_seal(
        &self,
        offered: &OfferedSeal,
        roots: &[FleetRoot],
        own: impl Fn(&str, u64) -> Option<Hash>,
    ) -> Result<(), String> {
        let new = Seal::verify(&offered.note, roots).map_err(|err| err.to_string())?;
        if let Some(kept) = &self.seal {
            let old = Seal::read(kept).map_err(|err| err.to_string())?;
            let proof = hashes(&offered.consistency)?;
            let follows = is_consistent((old.size, &old.root), (new.size, &new.root), &proof);
            if !follows && !is_begun_anew(kept, &offered.note, roots) {
                let (old, new) = (old.size, new.size);
                return Err(match new < old {
                    true => format!(
                        "its newest seal covers {new} heads, and {old} were sealed before: sealed history is gone"
                    ),
                    false => format!(
                        "its seal of {new} heads does not hold the {old} that were sealed before, as they were"
                    ),
                });
            }
        }
        offered.heads.iter().try_for_each(|it| self.check_head(it, &new, &own))
    }

    /// An error unless this machine wrote what is sealed of it.
    fn check_head(
        &self,
        sealed: &SealedHead,
        seal: &Seal,
        own: &impl Fn(&str, u64) -> Option<Hash>,
    ) -> Result<(), String> {
        let found = self.stores.iter().find(|it| it.1.chain == Some(sealed.chain));
        let Some((store, _)) = found else { return Ok(()) };
        let (seq, hash) = (sealed.head.seq, sealed.head.hash.clone());
        if own(store, seq).is_some_and(|it| it.to_string() != hash) {
            return Err(format!("its seal holds another record {seq} than this machine wrote"));
        }
        let leaf = HeadLeaf { hash, machine: self.machine, seq, store: store.clone() };
        let proof = hashes(&sealed.proof)?;
        match is_included(leaf.tree_hash(), sealed.index, seal.size, &proof, &seal.root) {
            true => Ok(()),
            false => Err(format!("its seal does not hold record {seq} of this machine")),
        }
    }
}

impl RefusedSeal {
    /// In a sentence, for whoever can do something about it.
    pub fn describe(&self) -> String {
        let since = time_text(self.since);
        format!(
            "no seal of the server is taken since {since}: {}; `fleet/machine.json` keeps both as evidence, and where a \
             backup was set back, a new key of `seal` begins the log anew",
            self.why
        )
    }
}

/// Whether a root has taken the key away that signed the last seal, and the new one is signed by a key of that root: so
/// whoever signs roots begins the log anew, after a backup was set back that did not have all of it.
fn is_begun_anew(kept: &str, new: &str, roots: &[FleetRoot]) -> bool {
    let last = roots.split_last().map_or(roots, |it| std::slice::from_ref(it.0));
    Seal::verify(kept, last).is_err() && Seal::verify(new, last).is_ok()
}

fn hashes(texts: &[String]) -> Result<Vec<TreeHash>, String> {
    let read = |it: &String| Hash::from_hex(it).map(|it| *it.as_bytes());
    let all: Option<Vec<TreeHash>> = texts.iter().map(read).collect();
    all.ok_or_else(|| "the server proves its seal with something that is no hash".to_owned())
}

#[cfg(test)]
mod tests;
