//! A witness of the seals, on any machine that is not the server: it keeps the last seal and the right edge of the tree
//! under it, and a new seal counts only if the same tree, with leaves appended, leads to it.

use serde::{Deserialize, Serialize};

use crate::{
    Digest, DocumentBundle, FleetError,
    seal::{Frontier, Seal, TreeHash},
};

/// What a witness has seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SealWitness {
    /// The root of the fleet that counts, which every later one follows.
    root: String,
    /// The last seal, as it was signed; none before the first.
    note: Option<String>,
    size: u64,
    /// The right edge of the tree, in hexadecimal.
    frontier: String,
}

/// What a witness says of a seal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Witnessed {
    /// It is the one that was seen last.
    Same,
    /// So many heads were sealed since.
    Grown(u64),
    /// What was sealed is not what is there now: the seal is evidence, and is not taken.
    Rewritten(String),
}

impl SealWitness {
    /// One that has seen nothing, of the fleet with this root.
    pub fn new(root: Digest) -> SealWitness {
        SealWitness { root: root.to_string(), note: None, size: 0, frontier: String::new() }
    }

    /// Reads what was kept.
    pub fn parse(text: &str) -> Result<SealWitness, FleetError> {
        serde_json::from_str(text).map_err(|err| {
            FleetError::malformed(format!("what the witness has seen cannot be read: {err}"))
        })
    }

    /// How it is kept.
    pub fn to_text(&self) -> String {
        // Texts and numbers can always be written.
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// The root that it was begun with.
    pub fn root(&self) -> Result<Digest, FleetError> {
        self.root.parse()
    }

    /// How many heads the last seal covers.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The last seal, as it was signed.
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// Reads a seal: its signature is that of a key which one of the fleet's roots lets seal.
    pub fn read(&self, note: &str, roots: &DocumentBundle) -> Result<Seal, FleetError> {
        Seal::verify(note, &roots.verified_roots(Some(self.root()?))?)
    }

    /// Takes a seal that was read, and the leaves that were appended since the last one.
    pub fn take(
        &mut self,
        note: &str,
        seal: &Seal,
        leaves: &[TreeHash],
    ) -> Result<Witnessed, FleetError> {
        let size = self.size;
        if seal.size < size {
            return Ok(Witnessed::Rewritten(format!(
                "the seal covers {} heads, and {size} were sealed before: sealed history is gone",
                seal.size
            )));
        }
        let damaged = || FleetError::malformed("what the witness has seen is damaged".to_owned());
        let kept: Option<Vec<TreeHash>> = self
            .frontier
            .split_whitespace()
            .map(|it| eclusa::Hash::from_hex(it).map(|it| *it.as_bytes()))
            .collect();
        let kept = kept.ok_or_else(damaged)?.concat();
        let mut frontier = Frontier::from_bytes(size, &kept).ok_or_else(damaged)?;
        leaves.iter().for_each(|it| frontier.push(*it));
        if frontier.size() != seal.size {
            return Err(FleetError::malformed(format!(
                "the server gives {} leaves, and the seal covers {} more than before",
                leaves.len(),
                seal.size - size
            )));
        }
        if frontier.root() != seal.root {
            return Ok(Witnessed::Rewritten(match seal.size == size {
                true => {
                    format!("two seals of {size} heads differ: not everybody is shown the same")
                }
                false => format!(
                    "the seal does not hold the {size} heads that were sealed before, as they were"
                ),
            }));
        }
        if seal.size == size {
            return Ok(Witnessed::Same);
        }
        let (bytes, hex) = (frontier.to_bytes(), |it: &u8| format!("{it:02x}"));
        let nodes = bytes.chunks(32).map(|it| it.iter().map(hex).collect::<String>());
        self.frontier = nodes.collect::<Vec<_>>().join(" ");
        (self.size, self.note) = (seal.size, Some(note.to_owned()));
        Ok(Witnessed::Grown(seal.size - size))
    }
}

#[cfg(test)]
mod tests;
