//! Signatures with a person's key: what is asked about, and a yes to it.

use std::path::PathBuf;

/// What is to be signed with a person's key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignatureRequest {
    /// The key, as its owner calls it.
    pub key: String,
    /// The repository.
    pub repository: PathBuf,
    /// What each commit and tag is, in whose name, and what its message begins with.
    pub what: Vec<String>,
}

/// A person's yes to exactly these signatures: their answer to that question, and to no other.
#[derive(Debug)]
pub struct SignatureYes {
    lasts: bool,
}

impl SignatureYes {
    /// A yes for this once, or for the rest of the session (`lasts`).
    pub(crate) fn new(lasts: bool) -> SignatureYes {
        SignatureYes { lasts }
    }

    /// Whether it is for every signature with this key in this repository until the session ends.
    pub fn lasts(&self) -> bool {
        self.lasts
    }
}
