//! Tools through the gate, and against the programs that they stand beside.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that panics has failed"
)]

mod changes;
mod edit;
mod faults;
mod git;
mod links;
mod paths;
mod register;
mod world;
mod write;
