//! What the log says of a decision about a question.

use eclusa::{Question, approve::Proof, audit::RECORD_VERSION};

use crate::{
    StoreError,
    store_records::{Approval, StoreRecord},
    writer::Transaction,
};

/// What a record says of a decision.
#[derive(Default)]
pub(super) struct ApprovalRecord<'a> {
    pub(super) event: &'static str,
    pub(super) answer: &'static str,
    /// How sure it is who decided.
    pub(super) proof: Option<Proof>,
    /// Why not.
    pub(super) reason: Option<&'a str>,
    /// How long the question waited, in milliseconds.
    pub(super) ms: Option<u64>,
}

impl ApprovalRecord<'_> {
    /// Writes down who decided it.
    pub(super) fn write(
        &self,
        tx: &mut Transaction<'_>,
        question: &Question,
        id: u64,
        by: &str,
        now: u64,
    ) -> Result<(), StoreError> {
        let proof = self.proof.map(Proof::as_str);
        let (answer, binding) = (self.answer, question.binding.as_str());
        let record = StoreRecord {
            approval: Some(Approval { answer, binding, by, proof, question: Some(id) }),
            at: now,
            call: &question.call,
            conversation: &question.session,
            event: self.event,
            ms: self.ms,
            principal: &question.principal,
            reason: self.reason,
            tool: &question.tool,
            v: RECORD_VERSION,
            ..StoreRecord::default()
        };
        tx.append(None, record.body()).map(drop)
    }
}
