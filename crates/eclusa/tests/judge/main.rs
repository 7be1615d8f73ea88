//! The public cases of shell text, judged by the shipped rules through the front door.

#![cfg(feature = "shell")]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that panics has failed, which is the point"
)]

mod context;
mod corpus;
mod nests;
mod world;
mod wrapping;
