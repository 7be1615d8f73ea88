//! A log in memory, for tests, demonstrations and programs that keep their own.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{Appending, AuditSink, Broken, Draft, Head, Receipt, Record, Verifier};

/// A log in memory.
///
/// ```
/// use std::sync::Arc;
/// use eclusa::prelude::*;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let log = Arc::new(MemoryLog::default());
/// let gate = Gate::builder().log(log.clone()).build()?;
/// gate.pass_blocking(ToolCall::new("1", "no_such_tool", serde_json::json!({})))?;
/// assert_eq!(log.records().len(), 1);
/// assert!(log.verify().is_ok());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Default)]
pub struct MemoryLog {
    chain: Mutex<Chain>,
}

#[derive(Debug, Default)]
struct Chain {
    head: Head,
    /// How many calls were numbered.
    calls: u64,
    records: Vec<Record>,
}

impl MemoryLog {
    /// All records so far.
    pub fn records(&self) -> Vec<Record> {
        self.chain().records.clone()
    }

    /// The end of the chain.
    pub fn head(&self) -> Head {
        self.chain().head
    }

    /// Checks the whole chain.
    pub fn verify(&self) -> Result<Head, Broken> {
        let chain = self.chain();
        let mut verifier = Verifier::default();
        for record in &chain.records {
            verifier.next(record)?;
        }
        verifier.finish(chain.head)
    }

    fn chain(&self) -> MutexGuard<'_, Chain> {
        self.chain.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AuditSink for MemoryLog {
    fn append(&self, mut draft: Draft) -> Appending {
        let mut chain = self.chain();
        let call = draft.opens_call().then(|| chain.calls + 1);
        if let Some(number) = call {
            draft.set_number(number);
            chain.calls = number;
        }
        let record = Record::chain(draft.into_body(), &mut chain.head);
        let receipt = Receipt { call, ..record.receipt() };
        chain.records.push(record);
        Appending::Done(Ok(receipt))
    }
}
