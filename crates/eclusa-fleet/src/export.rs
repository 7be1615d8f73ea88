//! An export: chains of machines with their records, the newest seal and the way of each head to it, and the documents,
//! in one file that is checked without a network, trusting neither server nor database.

use std::collections::BTreeMap;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use eclusa::audit::Head;
use serde::{Deserialize, Serialize};

use crate::{
    Digest, DocumentBundle, FleetError,
    seal::{HeadLeaf, Seal, TreeHash, is_included},
    shipment,
    wire::ChainHead,
};

/// A line of an export. The first is `Fleet`; a chain comes before its records.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ExportLine {
    /// The fleet.
    Fleet(ExportedFleet),
    /// A chain.
    Chain(ExportedChain),
    /// Records of the chain before.
    Segment(ExportedSegment),
    /// The way of the head of the chain before to the seal.
    Leaf(ExportedLeaf),
}

/// The fleet of an export.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ExportedFleet {
    /// The documents, with every root.
    pub documents: DocumentBundle,
    /// The newest seal, if there is one.
    pub seal: Option<String>,
}

/// A chain of an export.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ExportedChain {
    /// Its number.
    pub chain: u32,
    /// The machine.
    pub machine: u32,
    /// What the machine is called.
    pub name: String,
    /// What the store calls itself.
    pub store: String,
    /// The workspace.
    pub workspace: String,
    /// The record behind which the export begins: where the chain begins, or was cut.
    pub begins: ChainHead,
    /// The last record.
    pub head: ChainHead,
    /// Why the chain goes no further, if it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
}

/// Records of an export, as they were shipped.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ExportedSegment {
    /// The bytes of the shipment, in base64.
    pub body: String,
}

impl ExportedSegment {
    /// A shipment as it came.
    pub fn new(packed: &[u8]) -> ExportedSegment {
        ExportedSegment { body: STANDARD.encode(packed) }
    }
}

/// A leaf of the seals, and its way to the newest.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ExportedLeaf {
    /// Its place.
    pub index: u64,
    /// The head that is sealed.
    pub head: ChainHead,
    /// The hashes on its way, in hexadecimal.
    pub proof: Vec<String>,
}

/// What an export proves of a chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedChain {
    /// The number of the chain, and its machine.
    pub chain: u32,
    /// The machine.
    pub machine: u32,
    /// The workspace.
    pub workspace: String,
    /// The first record and the last; none where there are no records.
    pub records: Option<(u64, u64)>,
    /// The last record that is sealed; 0 for none.
    pub sealed: u64,
    /// What is wrong, if something is.
    pub wrong: Option<String>,
}

/// Checks an export, line by line.
pub struct ExportCheck {
    pin: Digest,
    seal: Option<Seal>,
    known: bool,
    current: Option<OpenChain>,
    done: Vec<CheckedChain>,
}

struct OpenChain {
    about: ExportedChain,
    first: u64,
    at: Head,
    /// The hash of every record that was seen, while a leaf may ask for one.
    hashes: BTreeMap<u64, String>,
    sealed: u64,
    wrong: Option<String>,
}

impl ExportCheck {
    /// A check of an export of the fleet with this root.
    pub fn new(pin: Digest) -> ExportCheck {
        ExportCheck { pin, seal: None, known: false, current: None, done: Vec::new() }
    }

    /// Takes the next line. An error ends the check: nothing in the file counts.
    pub fn line(&mut self, text: &str) -> Result<(), FleetError> {
        let wrong = |why: &str| FleetError::malformed(format!("this is not an export: {why}"));
        let line: ExportLine = serde_json::from_str(text).map_err(|err| wrong(&err.to_string()))?;
        match line {
            ExportLine::Fleet(fleet) => {
                let roots = fleet.documents.verified_roots(Some(self.pin))?;
                self.seal = fleet.seal.map(|it| Seal::verify(&it, &roots)).transpose()?;
                self.known = true;
                Ok(())
            }
            _ if !self.known => Err(wrong("it does not begin with its fleet")),
            ExportLine::Chain(about) => {
                self.close();
                let at = about.begins.head().ok_or_else(|| wrong("a hash is not one"))?;
                let (first, hashes) = (at.seq + 1, BTreeMap::new());
                self.current = Some(OpenChain { about, first, at, hashes, sealed: 0, wrong: None });
                Ok(())
            }
            ExportLine::Segment(segment) => {
                let chain = self.current.as_mut().ok_or_else(|| wrong("records of no chain"))?;
                let packed =
                    STANDARD.decode(segment.body).map_err(|_| wrong("records are not base64"))?;
                match shipment::unpack(&packed, chain.at) {
                    Ok(records) => {
                        for it in records {
                            chain.at = Head { seq: it.seq, hash: it.hash };
                            chain.hashes.insert(it.seq, it.hash.to_string());
                        }
                    }
                    Err(err) => chain.wrong = chain.wrong.take().or(Some(err.to_string())),
                }
                Ok(())
            }
            ExportLine::Leaf(leaf) => {
                let chain = self.current.as_mut().ok_or_else(|| wrong("a leaf of no chain"))?;
                match check_leaf(chain, &leaf, self.seal.as_ref()) {
                    Ok(()) => chain.sealed = leaf.head.seq,
                    Err(why) => chain.wrong = chain.wrong.take().or(Some(why)),
                }
                Ok(())
            }
        }
    }

    fn close(&mut self) {
        let Some(OpenChain { about, first, at, sealed, wrong, .. }) = self.current.take() else {
            return;
        };
        let short = || {
            (ChainHead::from(at) != about.head).then(|| {
                format!(
                    "its records end at {} and do not lead to its head, record {}",
                    at.seq, about.head.seq
                )
            })
        };
        self.done.push(CheckedChain {
            chain: about.chain,
            machine: about.machine,
            records: (at.seq >= first).then_some((first, at.seq)),
            sealed,
            wrong: wrong.or_else(short),
            workspace: about.workspace,
        });
    }

    /// What it proves of each chain, and how many leaves the seal covers.
    pub fn finish(mut self) -> Result<(Vec<CheckedChain>, Option<Seal>), FleetError> {
        self.close();
        match self.known {
            true => Ok((self.done, self.seal)),
            false => Err(FleetError::malformed("this is not an export: it is empty")),
        }
    }
}

/// An error unless the sealed head is that of these records, and leads to the seal.
fn check_leaf(chain: &OpenChain, leaf: &ExportedLeaf, seal: Option<&Seal>) -> Result<(), String> {
    let seal = seal.ok_or("it has a leaf, and the export has no seal")?;
    let ExportedChain { machine, store, begins, .. } = &chain.about;
    let found = chain.hashes.get(&leaf.head.seq);
    // What was cut is known by its last hash alone.
    if leaf.head.seq > begins.seq && found != Some(&leaf.head.hash) {
        return Err(format!("record {} is not the one that was sealed", leaf.head.seq));
    }
    let (hash, seq) = (leaf.head.hash.clone(), leaf.head.seq);
    let sealed = HeadLeaf { hash, machine: *machine, seq, store: store.clone() };
    let proof: Option<Vec<TreeHash>> =
        leaf.proof.iter().map(|it| eclusa::Hash::from_hex(it).map(|it| *it.as_bytes())).collect();
    let included = proof.is_some_and(|proof| {
        is_included(sealed.tree_hash(), leaf.index, seal.size, &proof, &seal.root)
    });
    match included {
        true => Ok(()),
        false => Err(format!("the seal does not hold its record {seq}")),
    }
}
