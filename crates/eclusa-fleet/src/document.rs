//! A document: what it says of itself, its payload, and the one way from a text that somebody sent to one that counts.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{
    Digest, DocumentKind, FleetError, FleetRoot, SignedNote, SigningKey,
    key::check_name,
    time::{parse_time, time_text},
};

/// The longest payload that is read, in bytes.
const MAX_PAYLOAD: usize = 4 << 20;

/// What is signed: four lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    /// The name of the fleet.
    pub fleet: String,
    /// What the document is about.
    pub kind: DocumentKind,
    /// Counted per kind, from 1.
    pub version: u64,
    /// Until when it is good, in milliseconds since 1970.
    pub expires: u64,
    /// The digest of the payload.
    pub digest: Digest,
}

impl fmt::Display for Heading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Heading { fleet, kind, version, expires, digest } = self;
        writeln!(f, "{fleet} {kind}\nversion {version}\nexpires {}", time_text(*expires))?;
        writeln!(f, "sha256 {digest}")
    }
}

impl FromStr for Heading {
    type Err = FleetError;

    fn from_str(text: &str) -> Result<Heading, FleetError> {
        let wrong = || FleetError::malformed("the signed text is not that of a document");
        let mut lines = text.lines();
        let (fleet, word) = lines.next().and_then(|it| it.split_once(' ')).ok_or_else(wrong)?;
        check_name(fleet)?;
        let kind = DocumentKind::ALL.into_iter().find(|it| it.as_str() == word);
        let mut value = |name: &str| {
            lines.next().and_then(|it| it.strip_prefix(name)?.strip_prefix(' ')).ok_or_else(wrong)
        };
        let version: u64 = value("version")?.parse().map_err(|_| wrong())?;
        let expires = parse_time(value("expires")?).ok_or_else(wrong)?;
        let digest = value("sha256")?.parse()?;
        let kind = kind.ok_or_else(wrong)?;
        let heading = Heading { fleet: fleet.to_owned(), kind, version, expires, digest };
        // One meaning, one text.
        if version > 0 && heading.to_string() == text { Ok(heading) } else { Err(wrong()) }
    }
}

/// A document as it is sent and kept. Nothing in it is checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignedDocument {
    note: String,
    payload: String,
}

impl SignedDocument {
    /// Signs a payload with these keys.
    pub(crate) fn sign(
        fleet: &str,
        kind: DocumentKind,
        (version, expires): (u64, u64),
        payload: String,
        keys: &[&SigningKey],
    ) -> SignedDocument {
        let digest = Digest::compute(payload.as_bytes());
        let heading = Heading { fleet: fleet.to_owned(), kind, version, expires, digest };
        let mut note = SignedNote::new(heading.to_string());
        keys.iter().for_each(|it| note.sign(it));
        SignedDocument { note: note.to_string(), payload }
    }

    /// The same with one signature more.
    pub(crate) fn signed_also(&self, key: &SigningKey) -> Result<SignedDocument, FleetError> {
        let mut note: SignedNote = self.note.parse()?;
        note.sign(key);
        Ok(SignedDocument { note: note.to_string(), payload: self.payload.clone() })
    }

    /// The note.
    pub(crate) fn note(&self) -> Result<SignedNote, FleetError> {
        self.note.parse()
    }

    /// What it says of itself, which nobody has checked.
    pub fn heading(&self) -> Result<Heading, FleetError> {
        self.note()?.text().parse()
    }

    /// The payload, which nobody has checked.
    pub(crate) fn payload(&self) -> &str {
        &self.payload
    }

    /// The document, if enough keys of its role in this root signed it. INVARIANT: nothing else makes a [`Verified`].
    pub fn verify(&self, kind: DocumentKind, root: &FleetRoot) -> Result<Verified, FleetError> {
        let note = self.note()?;
        let heading: Heading = note.text().parse()?;
        if heading.kind != kind {
            return Err(FleetError::OtherKind { found: heading.kind, expected: kind });
        }
        if heading.fleet != root.name {
            let (found, expected) = (heading.fleet, root.name.clone());
            return Err(FleetError::OtherFleet { kind, found, expected });
        }
        if self.payload.len() > MAX_PAYLOAD {
            return Err(FleetError::malformed(format!("the {kind} document is too large")));
        }
        if Digest::compute(self.payload.as_bytes()) != heading.digest {
            return Err(FleetError::OtherPayload(kind));
        }
        let role = root.role(kind.role());
        let signers: Vec<String> = role
            .keys
            .iter()
            .filter(|it| note.is_signed_by(it))
            .map(|it| it.name().to_owned())
            .collect();
        if signers.len() < role.need || role.need == 0 {
            let (version, found, need) = (heading.version, signers.len(), role.need);
            let root = root.version;
            return Err(FleetError::TooFewSignatures { kind, version, found, need, root });
        }
        Ok(Verified { heading, payload: self.payload.clone(), signers })
    }
}

/// A document that enough keys of its role signed.
#[derive(Debug, Clone)]
pub struct Verified {
    heading: Heading,
    payload: String,
    signers: Vec<String>,
}

impl Verified {
    /// What was signed.
    pub fn heading(&self) -> &Heading {
        &self.heading
    }

    /// The payload.
    pub fn payload(&self) -> &str {
        &self.payload
    }

    /// The names of the keys of its role that signed it.
    pub fn signers(&self) -> &[String] {
        &self.signers
    }

    /// An error once it has expired.
    pub(crate) fn check_time(&self, now: u64) -> Result<(), FleetError> {
        let Heading { kind, version, expires: at, .. } = self.heading;
        if now < at { Ok(()) } else { Err(FleetError::Expired { kind, version, at }) }
    }
}
