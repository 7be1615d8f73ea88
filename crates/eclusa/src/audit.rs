//! The record: what happened to every call, chained so that nothing can be changed unseen.
//!
//! The format is written down in `crates/eclusa/audit-format.md`.

pub(crate) mod body;
pub mod calls;
mod clock;
mod form;
mod memory;
mod numbers;
mod record;
mod sent;
pub mod stats;
pub(crate) mod trail;
mod usual_body;

pub use body::ArgsInLog;
pub use clock::{Clock, SystemClock};
pub use form::RECORD_VERSION;
pub use memory::MemoryLog;
pub use numbers::call_number;
pub use record::{AuditError, Broken, Head, Record, Verifier, VerifyError};
pub use sent::SentRequest;

pub use crate::reply::{Receipt, Reply};

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use serde::Deserialize;
use tokio::sync::oneshot;

use crate::Hash;

/// Where records go: append only, in one chain.
pub trait AuditSink: Send + Sync {
    /// Chains the draft to the last record and makes it durable.
    ///
    /// Returns at once; the future resolves when the record is durable, or says why it is not.
    /// Dropping the future does not take the record back.
    fn append(&self, draft: Draft) -> Appending;
}

/// Reading records back, wherever they are.
pub trait Log: Send + Sync {
    /// Up to `limit` records from this number on, oldest first.
    fn records(&self, from_seq: u64, limit: usize) -> Result<Vec<Record>, AuditError>;

    /// The newest `limit` records, oldest first.
    fn last(&self, limit: usize) -> Result<Vec<Record>, AuditError>;

    /// The records that end the call whose start has this number.
    fn ends_of(&self, start: u64) -> Result<Vec<Record>, AuditError>;

    /// All records about the call that the model gave this id, oldest first.
    fn find(&self, call: &str) -> Result<Vec<Record>, AuditError>;

    /// The first record of the call with this number, or of the next that there is.
    fn first_from(&self, number: u64) -> Result<Option<Record>, AuditError> {
        numbers::first_from(self, number)
    }

    /// The first record of the call with this number.
    fn first_of(&self, number: u64) -> Result<Option<Record>, AuditError> {
        let record = self.first_from(number)?;
        Ok(record.filter(|it| call_number(it) == Some(number)))
    }

    /// Where the chain is known to end.
    fn head(&self) -> Result<Head, AuditError>;

    /// Checks every record from the first to the head.
    fn verify(&self) -> Result<Head, VerifyError> {
        self.verify_since(None, &mut |_, _| {}).map(|(_, head)| head)
    }

    /// Checks every record after the one with this hash, which somebody has noted when everything up
    /// to it was checked, and says which that is; `None` stands for the beginning. A hash that is
    /// not there is an error: the end of the log was cut off or replaced since. `progress` is told
    /// how many of how many are done.
    fn verify_since(
        &self,
        noted: Option<Hash>,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<(Head, Head), VerifyError>;
}

/// A record before it has its place in the chain: one line of JSON. The gate writes its own, and
/// whatever else is to be on record is looked at first, so that a log can take it as it is.
#[derive(Debug, Clone)]
pub struct Draft {
    start: Option<u64>,
    question: Option<u64>,
    /// Where the number of the call goes, in the first record of one.
    number_at: Option<usize>,
    body: String,
}

/// What stands for the number of a call until the log gives it one.
const UNNUMBERED: &str = "\"number\":null";

/// No record is longer than this.
const MAX_RECORD_BYTES: usize = 64 << 20;

impl Draft {
    /// A record that says something else than what became of a call.
    pub fn new(body: String) -> Result<Draft, AuditError> {
        if body.contains('\n') {
            return Err(unfit("it is longer than one line"));
        }
        let start = Draft::start_in(&body)
            .map_err(|_| unfit("it is not JSON, or its `start` is not a number"))?;
        let mut draft = Draft { start, question: None, number_at: None, body };
        draft.fits()?;
        let value = serde_json::from_str(&draft.body).ok();
        if let Some(canonical) = value.as_ref().and_then(form::canonical) {
            draft.body = canonical;
        }
        Ok(draft)
    }

    /// A record of a call. The first of a call has a place for the call's number, and no text in a
    /// record can look like it, because quotes in texts are escaped.
    pub(crate) fn of_call(start: Option<u64>, question: Option<u64>, body: String) -> Draft {
        let place = body.rfind(UNNUMBERED).filter(|_| start.is_none());
        let number_at = place.map(|it| it + UNNUMBERED.len() - "null".len());
        Draft { start, question, number_at, body }
    }

    /// The error says that it is longer than any log has to take.
    pub(crate) fn fits(&self) -> Result<(), AuditError> {
        if self.body.len() > MAX_RECORD_BYTES {
            Err(unfit("it is longer than 64 MiB"))
        } else {
            Ok(())
        }
    }

    /// The start that a record names. An index of starts has to say the same.
    pub fn start_in(body: &str) -> serde_json::Result<Option<u64>> {
        #[derive(Deserialize)]
        struct Named {
            #[serde(default)]
            start: Option<u64>,
        }
        serde_json::from_str(body).map(|named: Named| named.start)
    }

    /// For the end of a call: the number of the record that holds its start.
    pub fn start(&self) -> Option<u64> {
        self.start
    }

    /// For the first record of a call: the number of the question in the approval queue whose
    /// answer opened it. INVARIANT: a log takes a number once, and refuses any other record with it.
    pub fn question(&self) -> Option<u64> {
        self.question
    }

    /// Whether it is the first record of a call, which the log has to number.
    pub fn opens_call(&self) -> bool {
        self.number_at.is_some()
    }

    /// Writes in the number of the call that it opens. INVARIANT: calls of a log are numbered in the
    /// order of their first records, without gaps, and a number is never higher than that of the
    /// record.
    pub fn set_number(&mut self, number: u64) {
        if let Some(at) = self.number_at.take() {
            self.body.replace_range(at..at + "null".len(), &number.to_string());
        }
    }

    /// The record.
    pub fn body(&self) -> &str {
        &self.body
    }

    /// The record, to be kept.
    pub fn into_body(self) -> String {
        self.body
    }
}

fn unfit(why: &str) -> AuditError {
    AuditError::new(format!("this is not a record: {why}"))
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
