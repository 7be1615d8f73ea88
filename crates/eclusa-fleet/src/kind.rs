//! What documents there are, and whose keys sign each.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What keys may sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SigningRole {
    /// Root documents.
    Root,
    /// Policies.
    Policy,
    /// Lists of people.
    People,
    /// Invites.
    Enroll,
    /// Seals: the one key that lies on a server.
    Seal,
}

impl SigningRole {
    /// All of them.
    pub const ALL: [SigningRole; 5] = [
        SigningRole::Root,
        SigningRole::Policy,
        SigningRole::People,
        SigningRole::Enroll,
        SigningRole::Seal,
    ];

    /// Its word.
    pub fn as_str(self) -> &'static str {
        match self {
            SigningRole::Root => "root",
            SigningRole::Policy => "policy",
            SigningRole::People => "people",
            SigningRole::Enroll => "enroll",
            SigningRole::Seal => "seal",
        }
    }
}

impl fmt::Display for SigningRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a document is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentKind {
    /// Names, addresses, keys, and what each key may sign.
    Root,
    /// Configuration files.
    Policy,
    /// Who may answer.
    People,
    /// Lets a machine in, and says what it is.
    Invite,
}

impl DocumentKind {
    pub(crate) const ALL: [DocumentKind; 4] =
        [DocumentKind::Root, DocumentKind::Policy, DocumentKind::People, DocumentKind::Invite];

    /// Its word.
    pub fn as_str(self) -> &'static str {
        match self {
            DocumentKind::Root => "root",
            DocumentKind::Policy => "policy",
            DocumentKind::People => "people",
            DocumentKind::Invite => "invite",
        }
    }

    /// Whose keys sign it.
    pub fn role(self) -> SigningRole {
        match self {
            DocumentKind::Root => SigningRole::Root,
            DocumentKind::Policy => SigningRole::Policy,
            DocumentKind::People => SigningRole::People,
            DocumentKind::Invite => SigningRole::Enroll,
        }
    }
}

impl fmt::Display for DocumentKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
