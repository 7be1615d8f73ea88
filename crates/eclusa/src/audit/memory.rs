//! A log in memory, for tests, demonstrations and programs that keep their own.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{Appending, AuditSink, Broken, Draft, Head, Record, Verifier};

/// A log in memory.
#[derive(Debug, Default)]
pub struct MemoryLog {
    chain: Mutex<(Head, Vec<Record>)>,
}

impl MemoryLog {
    /// All records so far.
    pub fn records(&self) -> Vec<Record> {
        self.chain().1.clone()
    }

    /// Checks the whole chain.
    pub fn verify(&self) -> Result<Head, Broken> {
        let chain = self.chain();
        let mut verifier = Verifier::default();
        for record in &chain.1 {
            verifier.next(record)?;
        }
        verifier.finish(chain.0)
    }

    fn chain(&self) -> MutexGuard<'_, (Head, Vec<Record>)> {
        self.chain.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AuditSink for MemoryLog {
    fn append(&self, draft: Draft) -> Appending {
        let mut chain = self.chain();
        let (head, records) = &mut *chain;
        let record = Record::chain(draft.into_body(), head);
        let receipt = record.receipt();
        records.push(record);
        Appending::Done(Ok(receipt))
    }
}
