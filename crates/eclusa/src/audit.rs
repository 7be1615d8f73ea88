//! The record: what happened to every call, chained so that nothing can be changed unseen.
//!
//! The format is written down in `docs/audit-format.md`.

pub(crate) mod body;
mod clock;
pub(crate) mod ledger;
mod memory;
mod record;
mod reply;
pub(crate) mod trail;

pub use body::ArgsInLog;
pub use clock::{Clock, SystemClock};
pub use memory::MemoryLog;
pub use record::{AuditError, Broken, Hash, Head, Receipt, Record, Verifier};
pub use reply::Reply;

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use tokio::sync::oneshot;

/// Where records go: append only, in one chain.
pub trait AuditSink: Send + Sync {
    /// Chains the draft to the last record and makes it durable.
    ///
    /// Returns at once; the future resolves when the record is durable, or says why it is not.
    /// Dropping the future does not take the record back.
    fn append(&self, draft: Draft) -> Appending;
}

/// A record before it has its place in the chain.
#[derive(Debug, Clone)]
pub struct Draft {
    /// For the end of a call: the number of the record that holds its start.
    pub start: Option<u64>,
    /// The record, as one line of JSON.
    pub body: String,
}

/// A record on its way into the log.
#[derive(Debug)]
#[must_use = "nothing is on record until this resolves"]
pub enum Appending {
    /// It is there, or never will be.
    Done(Result<Receipt, AuditError>),
    /// The sink will tell.
    Waiting(oneshot::Receiver<Result<Receipt, AuditError>>),
}

impl Future for Appending {
    type Output = Result<Receipt, AuditError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut *self {
            Appending::Done(result) => Poll::Ready(result.clone()),
            Appending::Waiting(told) => Pin::new(told).poll(cx).map(|told| {
                told.unwrap_or_else(|_| Err(AuditError::new("the log's writer has gone away")))
            }),
        }
    }
}
