//! A command that ran on the real files leaves them as they were, and what it did is a value.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a test that panics has failed, and it disturbs files as anybody might"
)]

mod attacks;
mod bounds;
mod crash;
mod limits;
mod ordinary;
mod saves;
mod world;
