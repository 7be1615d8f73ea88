//! Where Eclusa keeps its records: one SQLite file behind the traits of `eclusa`.
//!
//! A [`Store`] is the log ([`eclusa::AuditSink`]), the spool ([`eclusa::Spool`]) and, through a
//! [`ApprovalQueue`], the place where questions wait for people ([`eclusa::Approver`]). Several processes
//! may have the same file open; all of them append to one chain.
//!
//! All writing is done by one thread per open store. Whatever queues up while it works is
//! written in one transaction (group commit), so that many callers share the cost of one sync.
//! Nobody is told that a record is there before the transaction that holds it is durable, in the
//! sense of [`Durability`].

mod approval_queue;
mod approval_tables;
mod directory;
mod error;
mod options;
mod read;
mod schema;
mod session_tables;
mod sessions;
mod spool;
mod store;
mod store_records;
mod transcript_tables;
mod transcripts;
mod verify;
mod writer;

pub use approval_queue::ApprovalQueue;
pub use eclusa::Durability;
pub use error::{StoreError, VerifyError};
pub use options::Options;
pub use store::Store;
pub use transcripts::{ConversationRow, ItemRow, ItemSize};
