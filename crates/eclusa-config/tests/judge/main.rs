//! The public cases of shell text, paths and effects, judged by the shipped rules through the front
//! door.

#![cfg(feature = "shell")]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a test that panics has failed, and cases are set up by a shell"
)]

mod context;
mod corpus;
mod effects;
mod fetches;
mod nests;
mod paths;
mod world;
mod wrapping;
