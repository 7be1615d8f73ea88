//! Changes are made all or none, survive a crash at any step, and can be undone.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a test that panics has failed, and it disturbs files as anybody might"
)]

mod compact;
mod conflict;
mod fault;
mod kill;
mod model;
mod moves;
mod ordinary;
mod shut;
mod tree;
mod undo;
