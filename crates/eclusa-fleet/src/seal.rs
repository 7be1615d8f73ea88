//! Seals: a signed root over the heads of all chains, in a log to which one can only append (a Merkle tree with the
//! hashes of RFC 6962), so that nobody takes back what was shipped.

use std::{fmt, str::FromStr};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use ring::digest::{Context, SHA256};
use serde::Serialize;

use crate::{FleetError, FleetRoot, SignedNote, SigningKey, SigningRole};

/// A hash in the tree.
pub type TreeHash = [u8; 32];

/// The head of a chain, as a leaf of the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HeadLeaf {
    /// The hash of the record, in hexadecimal.
    pub hash: String,
    /// The machine.
    pub machine: u32,
    /// The number of the record.
    pub seq: u64,
    /// The store of the machine.
    pub store: String,
}

impl HeadLeaf {
    /// Its hash in the tree.
    pub fn tree_hash(&self) -> TreeHash {
        // Texts and numbers can always be written.
        let text = serde_json::to_string(self).unwrap_or_default();
        hash(&[&[0], format!("eclusa head v1\n{text}\n").as_bytes()])
    }
}

fn hash(parts: &[&[u8]]) -> TreeHash {
    let mut context = Context::new(&SHA256);
    parts.iter().for_each(|it| context.update(it));
    let mut whole = [0; 32];
    whole.copy_from_slice(context.finish().as_ref());
    whole
}

/// The hash of two subtrees side by side.
pub(crate) fn node(left: &TreeHash, right: &TreeHash) -> TreeHash {
    hash(&[&[1], left, right])
}

/// The root over whole subtrees, the largest first. `None`: there are none.
pub fn joined(subtrees: &[TreeHash]) -> Option<TreeHash> {
    let (last, larger) = subtrees.split_last()?;
    Some(larger.iter().rev().fold(*last, |right, left| node(left, &right)))
}

/// The right edge of the tree: the roots of its whole subtrees, the largest first. Enough to append and to compute the root.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Frontier {
    size: u64,
    nodes: Vec<TreeHash>,
}

impl Frontier {
    /// How many leaves there are.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Appends a leaf.
    pub fn push(&mut self, leaf: TreeHash) {
        let mut new = leaf;
        // Two subtrees of one size become one.
        for _ in 0..self.size.trailing_ones() {
            if let Some(left) = self.nodes.pop() {
                new = node(&left, &new);
            }
        }
        self.nodes.push(new);
        self.size += 1;
    }

    /// The root of all leaves.
    pub fn root(&self) -> TreeHash {
        joined(&self.nodes).unwrap_or_else(|| hash(&[]))
    }

    /// As it is kept.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.nodes.concat()
    }

    /// Reads what was kept.
    pub fn from_bytes(size: u64, bytes: &[u8]) -> Option<Frontier> {
        let (nodes, []) = bytes.as_chunks::<32>() else { return None };
        let whole = usize::try_from(size.count_ones()).ok()? == nodes.len();
        whole.then(|| Frontier { size, nodes: nodes.to_vec() })
    }
}

/// Whether these hashes lead from a leaf at this place to the root of so many leaves.
pub fn is_included(
    leaf: TreeHash,
    index: u64,
    size: u64,
    proof: &[TreeHash],
    root: &TreeHash,
) -> bool {
    if index >= size {
        return false;
    }
    let (mut at, mut last, mut here) = (index, size - 1, leaf);
    let mut proof = proof.iter();
    while last > 0 {
        // The odd one at the end has no neighbour.
        if at % 2 == 1 || at < last {
            let Some(other) = proof.next() else { return false };
            here = if at % 2 == 1 { node(other, &here) } else { node(&here, other) };
        }
        (at, last) = (at / 2, last / 2);
    }
    proof.next().is_none() && here == *root
}

/// What a seal says: how many leaves there are, and their root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seal {
    /// The fleet.
    pub fleet: String,
    /// How many leaves there are.
    pub size: u64,
    /// Their root.
    pub root: TreeHash,
}

impl Seal {
    /// Signs it: the note is a checkpoint of C2SP's transparency logs.
    pub fn sign(&self, key: &SigningKey) -> String {
        let mut note = SignedNote::new(self.to_string());
        note.sign(key);
        note.to_string()
    }

    /// Reads a note, whoever signed it.
    pub fn read(note: &str) -> Result<Seal, FleetError> {
        note.parse::<SignedNote>()?.text().parse()
    }

    /// Reads a note that a key signed which one of these roots lets seal.
    pub fn verify(note: &str, roots: &[FleetRoot]) -> Result<Seal, FleetError> {
        let note: SignedNote = note.parse()?;
        let seal: Seal = note.text().parse()?;
        let signed = |root: &FleetRoot| {
            let role = root.role(SigningRole::Seal);
            root.name == seal.fleet && role.keys.iter().any(|it| note.is_signed_by(it))
        };
        match roots.iter().any(signed) {
            true => Ok(seal),
            false => Err(FleetError::WrongKey(
                "no key that may seal in this fleet signed the seal".to_owned(),
            )),
        }
    }
}

impl fmt::Display for Seal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} seals\n{}\n{}", self.fleet, self.size, STANDARD.encode(self.root))
    }
}

impl FromStr for Seal {
    type Err = FleetError;

    fn from_str(text: &str) -> Result<Seal, FleetError> {
        let read = || {
            let mut lines = text.lines();
            let fleet = lines.next()?.strip_suffix(" seals")?.to_owned();
            let size = lines.next()?.parse().ok()?;
            let root = STANDARD.decode(lines.next()?).ok()?.try_into().ok()?;
            Some(Seal { fleet, size, root })
        };
        // One meaning, one text.
        read()
            .filter(|it| it.to_string() == text)
            .ok_or_else(|| FleetError::malformed("the signed text is not that of a seal"))
    }
}

#[cfg(test)]
mod tests;
