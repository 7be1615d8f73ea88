//! The proxy at real sockets: what gets through, what does not, and what is reported.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that panics has failed")]

mod plain;
mod tunnel;
mod world;
