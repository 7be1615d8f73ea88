//! The way to a file of the workspace together with the shipped rules, over the corpus of paths.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a test that panics has failed, and the cases are set up by a shell"
)]

mod corpus;
mod disk;
