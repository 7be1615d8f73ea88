//! Why a document is not taken, in one sentence each.

use crate::{DocumentKind, time_text};

/// Why a document, a bundle, a key or a code is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FleetError {
    /// It is not what it should be.
    #[error("{0}")]
    Malformed(String),
    /// The token of a job does not let it in.
    #[error("{0}")]
    Job(String),
    /// The payload is not the one that was signed.
    #[error(
        "the payload of the {0} document is not the one that was signed; fetch it again from whoever publishes it"
    )]
    OtherPayload(DocumentKind),
    /// It is of another fleet.
    #[error("the {kind} document is of the fleet `{found}`, not of `{expected}`")]
    OtherFleet {
        /// What it is.
        kind: DocumentKind,
        /// The fleet that it names.
        found: String,
        /// The fleet of the machine.
        expected: String,
    },
    /// It is a document of another kind.
    #[error("this is a {found} document where a {expected} document belongs")]
    OtherKind {
        /// What it is.
        found: DocumentKind,
        /// What it should be.
        expected: DocumentKind,
    },
    /// Too few keys of the role signed it.
    #[error(
        "the {kind} document {version} has {found} of {need} signatures by keys of its role in root {root}; sign it \
         with `eclusa fleet sign`"
    )]
    TooFewSignatures {
        /// What it is.
        kind: DocumentKind,
        /// Its version.
        version: u64,
        /// How many keys of the role signed it.
        found: usize,
        /// How many must.
        need: usize,
        /// The version of the root that says so.
        root: u64,
    },
    /// It is no longer good.
    #[error("the {kind} document {version} expired at {}; sign it again with `eclusa fleet push --renew`", time_text(*at))]
    Expired {
        /// What it is.
        kind: DocumentKind,
        /// Its version.
        version: u64,
        /// When it expired, in milliseconds since 1970.
        at: u64,
    },
    /// An older version than the one in force, or another text of the same version.
    #[error(
        "version {found} of the {kind} document is offered and {held} is in force here; a machine never goes back: push \
         the old content as a new version"
    )]
    Rollback {
        /// What it is.
        kind: DocumentKind,
        /// The version that was offered.
        found: u64,
        /// The version in force.
        held: u64,
    },
    /// No root has the digest that is pinned.
    #[error(
        "none of its roots has the digest sha256:{0}, which is pinned here; compare `root` of `[fleet]` with what \
         `eclusa fleet init` printed"
    )]
    OtherRoot(String),
    /// A root that does not follow the one before it.
    #[error("root {found} does not follow root {held}: {why}")]
    BrokenRoots {
        /// The version that was offered.
        found: u64,
        /// The version before it.
        held: u64,
        /// What is wrong.
        why: String,
    },
    /// The program is too old.
    #[error(
        "policy {version} needs eclusa {needs} or newer, and this is {program}; update the program"
    )]
    NewerProgram {
        /// The version of the policy.
        version: u64,
        /// The program that it needs.
        needs: String,
        /// This program.
        program: String,
    },
    /// The people that it counts on are not there.
    #[error(
        "policy {version} needs the people document {needs} or newer, and it is not in the bundle"
    )]
    OlderPeople {
        /// The version of the policy.
        version: u64,
        /// The version of the people document that it needs.
        needs: u64,
    },
    /// Its rules cannot be used here.
    #[error("policy {version} cannot be loaded: {why}")]
    Unusable {
        /// The version of the policy.
        version: u64,
        /// What is wrong.
        why: String,
    },
    /// Something that must be there is not.
    #[error("there is no {0} document in it")]
    Missing(DocumentKind),
    /// No key of the role was given.
    #[error("{0}")]
    WrongKey(String),
}

impl FleetError {
    /// A malformed text.
    pub(crate) fn malformed(what: impl Into<String>) -> FleetError {
        FleetError::Malformed(what.into())
    }
}
