//! Tools against the programs that they stand beside.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that panics has failed"
)]

mod git;
