//! One line of the log, its place in the chain, and how a chain is checked.

use eclusa_workspace::{Hash, HashBuilder};

use super::form::is_well_formed;
use crate::Receipt;

/// The record could not be made durable.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct AuditError(String);

impl AuditError {
    /// Says why, in one sentence.
    pub fn new(why: impl Into<String>) -> AuditError {
        AuditError(why.into())
    }
}

/// Why a chain is not known to be whole.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VerifyError {
    /// It is not whole.
    #[error(transparent)]
    Broken(#[from] Broken),
    /// The record that it was to be checked from is not there.
    #[error("no record has the hash {0}")]
    NotNoted(Hash),
    /// It could not be read.
    #[error(transparent)]
    Unread(#[from] AuditError),
}

/// The end of a chain: how many records there are, and the hash of the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Head {
    /// Number of the last record; 0 before the first.
    pub seq: u64,
    /// Its hash; zeros before the first.
    pub hash: Hash,
}

/// One line of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Its number, counted from 1.
    pub seq: u64,
    /// Hash of the record before it.
    pub previous: Hash,
    /// Hash of this one: over `previous`, `seq` and `body`.
    pub hash: Hash,
    /// What happened, as one line of JSON.
    pub body: String,
}

impl Record {
    /// Puts a body behind `head`, and moves `head` on.
    pub fn chain(body: String, head: &mut Head) -> Record {
        let (seq, previous) = (head.seq + 1, head.hash);
        let hash = Record::hash(seq, previous, &body);
        *head = Head { seq, hash };
        Record { seq, previous, hash, body }
    }

    /// `SHA-256(previous "\n" seq "\n" body "\n")`, which `sha256sum` can check.
    fn hash(seq: u64, previous: Hash, body: &str) -> Hash {
        let mut digits = [0u8; 20];
        let mut at = digits.len();
        let mut rest = seq;
        loop {
            at -= 1;
            if let Some(digit) = digits.get_mut(at) {
                *digit = b'0' + u8::try_from(rest % 10).unwrap_or_default();
            }
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        let mut hasher = HashBuilder::default();
        hasher.add(&previous.hex());
        hasher.add(b"\n");
        hasher.add(digits.get(at..).unwrap_or_default());
        hasher.add(b"\n");
        hasher.add(body.as_bytes());
        hasher.add(b"\n");
        hasher.finish()
    }

    /// Where this record is; the number of a call is not in it.
    pub fn receipt(&self) -> Receipt {
        Receipt { seq: self.seq, hash: self.hash, call: None }
    }
}

/// Where and how a chain is broken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Broken {
    /// A number is missing or out of order.
    #[error("expected record {expected}, found {found}: records were dropped, added or swapped")]
    Order {
        /// The number that should come next.
        expected: u64,
        /// The number that came.
        found: u64,
    },
    /// A record does not name the one before it.
    #[error("record {seq} does not follow from the record before it: one of them was replaced")]
    Link {
        /// The record.
        seq: u64,
    },
    /// A record was changed after it was written.
    #[error("record {seq} was changed after it was written")]
    Altered {
        /// The record.
        seq: u64,
    },
    /// A record is not written as its version says, so that two readers could take it for two things.
    #[error("record {seq} is not written in the form of its version: nothing of ours writes that")]
    Form {
        /// The record.
        seq: u64,
    },
    /// The log ends before the place it is known to reach.
    #[error(
        "the log ends at record {last}, and it is known to reach record {known}: the end was cut off or replaced"
    )]
    Short {
        /// The last record that is there.
        last: u64,
        /// The last record that was written.
        known: u64,
    },
}

/// Checks a chain one record at a time.
#[derive(Debug, Clone, Copy, Default)]
pub struct Verifier {
    head: Head,
}

impl Verifier {
    /// Goes on after a record that was checked before.
    pub fn after(head: Head) -> Verifier {
        Verifier { head }
    }

    /// Takes the next record, or says what is wrong with it.
    pub fn next(&mut self, record: &Record) -> Result<(), Broken> {
        let expected = self.head.seq + 1;
        if record.seq != expected {
            return Err(Broken::Order { expected, found: record.seq });
        }
        if record.previous != self.head.hash {
            return Err(Broken::Link { seq: record.seq });
        }
        if record.hash != Record::hash(record.seq, record.previous, &record.body) {
            return Err(Broken::Altered { seq: record.seq });
        }
        if !is_well_formed(&record.body) {
            return Err(Broken::Form { seq: record.seq });
        }
        self.head = Head { seq: record.seq, hash: record.hash };
        Ok(())
    }

    /// After the last record: does the chain end where it is known to end?
    pub fn finish(self, known: Head) -> Result<Head, Broken> {
        match self.head == known {
            true => Ok(self.head),
            false => Err(Broken::Short { last: self.head.seq, known: known.seq }),
        }
    }

    /// How far the chain has been checked.
    pub fn head(&self) -> Head {
        self.head
    }
}
