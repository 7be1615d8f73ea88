//! What machines and servers of a fleet say to each other, as JSON. Unknown fields are ignored both ways, so that two
//! releases understand each other.

use std::collections::BTreeMap;

use eclusa::{Hash, audit::Head};
use serde::{Deserialize, Serialize};

use crate::{
    DocumentBundle, SignedDocument,
    mirror::{Ack, Message},
};

/// `POST /v1/enroll`, signed by the key that it brings, as machine 0.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct EnrolRequest {
    /// The invite.
    pub invite: SignedDocument,
    /// Its secret.
    pub secret: String,
    /// The public key of the machine, in base64.
    pub key: String,
    /// What the machine is called.
    pub name: String,
}

/// `POST /v1/enroll-job`, signed by the key that it brings, as machine 0: a job enrols by its identity token.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct JobEnrolRequest {
    /// The token of the platform.
    pub token: String,
    /// The public key of the machine, in base64.
    pub key: String,
    /// What the machine is called.
    pub name: String,
}

/// The answer: the number of the machine.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Enrolled {
    /// By this number it signs requests.
    pub machine: u32,
    /// The documents in force.
    pub documents: DocumentBundle,
    /// The server's clock, in milliseconds since 1970.
    pub now: u64,
}

/// `POST /v1/chains`: begins the chain of a store, or says how far it is.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ChainRequest {
    /// What the store calls itself.
    pub store: String,
    /// The workspace whose calls are recorded there.
    pub workspace: String,
    /// The record behind which the chain begins.
    pub begins: ChainHead,
}

/// A chain at the server.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ChainState {
    /// Its number.
    pub chain: u32,
    /// How far it is.
    pub head: ChainHead,
    /// Why it goes no further, if it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
}

/// A head as JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChainHead {
    /// The number of the last record.
    pub seq: u64,
    /// Its hash, in hexadecimal.
    pub hash: String,
}

impl From<Head> for ChainHead {
    fn from(head: Head) -> ChainHead {
        ChainHead { seq: head.seq, hash: head.hash.to_string() }
    }
}

impl ChainHead {
    /// The head, if its hash is one.
    pub fn head(&self) -> Option<Head> {
        Some(Head { seq: self.seq, hash: Hash::from_hex(&self.hash)? })
    }
}

/// `POST /v1/sync`: what holds on the machine. The answer comes at once where there is news, and otherwise after `wait`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct SyncRequest {
    /// The version of the program.
    pub program: String,
    /// Which documents are in force.
    pub in_force: InForce,
    /// Why newer documents could not be put in force, if they could not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
    /// Chains of which the server has records that are not on the machine.
    #[serde(default)]
    pub forked: Vec<ForkedChain>,
    /// The number of the documents that the machine has seen.
    #[serde(default)]
    pub documents: u64,
    /// For how many seconds to wait for news.
    #[serde(default)]
    pub wait: u64,
    /// The version of a policy that was offered and could not be put in force; 0: there is none.
    #[serde(default)]
    pub not_loaded: u64,
    /// Why the machine is stale, if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stale: Option<String>,
    /// How many records are not at the server.
    #[serde(default)]
    pub unshipped: u64,
    /// When the oldest of them was written, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unshipped_since: Option<u64>,
    /// What became of the messages of the last answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub acks: Vec<Ack>,
    /// The last seal that was checked here; `None`: this program checks none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sealed: Option<SeenSeal>,
    /// Why a seal of the server is not taken, if one is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seal_refused: Option<String>,
}

/// A seal that was seen; of size 0 where none was.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenSeal {
    /// How many heads it covers.
    pub size: u64,
    /// Their root, in hexadecimal.
    pub root: String,
}

/// Versions of the documents in force.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InForce {
    /// Of the root.
    pub root: u64,
    /// Of the policy.
    pub policy: u64,
    /// Of the people, 0 without any.
    pub people: u64,
}

/// A chain of which two copies were written: a cloned machine, a restored snapshot.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ForkedChain {
    /// Its number at the server.
    pub chain: u32,
    /// How far it is on the machine.
    pub head: ChainHead,
}

/// The answer to `POST /v1/sync`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SyncAnswer {
    /// The server's clock, in milliseconds since 1970.
    pub now: u64,
    /// The number of the documents that the server has; `GET /v1/documents` gives them.
    pub documents: u64,
    /// All chains of the machine.
    pub chains: Vec<ChainState>,
    /// Up to which change of its queue the questions of a chain are mirrored.
    #[serde(default)]
    pub mirrored: BTreeMap<u32, u64>,
    /// What people answered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<Message>,
    /// The newest seal, where it is another one than the machine has seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seal: Option<OfferedSeal>,
}

/// A seal, and what shows that it follows the one that was seen. Hashes are in hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfferedSeal {
    /// As it was signed.
    pub note: String,
    /// That it holds the heads of the one that was seen.
    #[serde(default)]
    pub consistency: Vec<String>,
    /// The newest heads in it of the machine's chains.
    #[serde(default)]
    pub heads: Vec<SealedHead>,
}

/// A head in a seal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SealedHead {
    /// The chain.
    pub chain: u32,
    /// Its place among all heads.
    pub index: u64,
    /// The head.
    pub head: ChainHead,
    /// That it is in the seal.
    pub proof: Vec<String>,
}

/// The answer to `GET /v1/documents` and `POST /v1/documents`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NumberedDocuments {
    /// Counted by the server.
    pub number: u64,
    /// The documents.
    pub documents: DocumentBundle,
}

/// The answer to `GET /log/leaves`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct SealedLeaves {
    /// Their hashes in the tree, in hexadecimal.
    pub leaves: Vec<String>,
}

/// Why a request was refused, in one sentence.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct RefusedRequest {
    /// The sentence.
    pub error: String,
    /// The server's clock, in milliseconds since 1970, where the machine's is off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now: Option<u64>,
    /// What the server has of the chain, where that is another head than the machine thinks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<ChainHead>,
}
