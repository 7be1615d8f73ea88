//! Where Eclusa keeps its records: one SQLite file, and long outputs as files beside it, behind the traits of `eclusa`.
//!
//! A [`SqliteStore`] is an [`eclusa::store::Store`]. Several processes may have the same file open; all
//! of them append to one chain.
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
mod whole_store;
mod writer;

pub use approval_queue::SqliteQueue;
pub use eclusa::Durability;
pub use error::StoreError;
pub use options::Options;
pub use store::SqliteStore;
